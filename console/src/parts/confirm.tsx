/** A change behind a question: the dialog says what will happen, does it, and shows what went wrong. */

import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Failure, Result } from '../api.ts';
import { Dialog } from './dialog.tsx';
import { FailureNotice } from './notice.tsx';

interface ConfirmProps<T> {
  readonly title: string;
  /** The verb on the button. */
  readonly verb: string;
  readonly isDangerous?: boolean;
  act(): Promise<Result<T>>;
  /** Whatever the answer is: a refusal too says that the list behind may be out of date. */
  onAnswered(): void;
  onDone?(data: T): void;
  onClosed(): void;
  readonly children: ComponentChildren;
}

export function Confirm<T>(props: ConfirmProps<T>) {
  const { title, verb, isDangerous, act, onAnswered, onDone, onClosed, children } = props;
  const [failure, setFailure] = useState<Failure>();
  const [isBusy, setIsBusy] = useState(false);
  const notice = useRef<HTMLDivElement>(null);
  const done = useRef<{ readonly data: T }>(undefined);

  // On a small screen it lies below what can be seen.
  useEffect(() => {
    if (failure) notice.current?.scrollIntoView({ block: 'nearest' });
  }, [failure]);

  async function submit(event: SubmitEvent, close: () => void): Promise<void> {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    setIsBusy(true);
    const result = await act();
    setIsBusy(false);
    onAnswered();
    if (!result.ok) return setFailure(result);
    // The browser's Back may have taken the dialog away; what was done is done all the same.
    if (!form.isConnected) return onDone?.(result.data);
    done.current = result;
    close();
  }

  /** What comes next may be a dialog too: it must not be closed together with this one. */
  function closed(): void {
    onClosed();
    if (done.current) onDone?.(done.current.data);
  }

  return (
    <Dialog title={title} onClosed={closed} isBusy={isBusy}>
      {close => (
        <form onSubmit={event => void submit(event, close)}>
          {children}
          <div ref={notice}>{failure && <FailureNotice failure={failure} />}</div>
          <div class="dialog-buttons">
            <button type="button" class="button" onClick={close} disabled={isBusy}>
              Cancel
            </button>
            <button type="submit" class={`button ${isDangerous ? 'danger' : 'primary'}`} disabled={isBusy}>
              {verb}
            </button>
          </div>
        </form>
      )}
    </Dialog>
  );
}
