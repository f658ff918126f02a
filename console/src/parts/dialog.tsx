/** A question or a detail in front of the page: Escape closes it, and the focus goes back to where it was. */

import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { Icon } from './icon.tsx';

interface DialogProps {
  readonly title: string;
  /** After it was closed, in whatever way. */
  onClosed(): void;
  readonly isWide?: boolean;
  /** What it asked for is under way: it stays until the answer is there. */
  readonly isBusy?: boolean;
  /** Only what is inside closes it. */
  readonly isInsistent?: boolean;
  children(close: () => void): ComponentChildren;
}

export function Dialog({ title, onClosed, isWide, isBusy, isInsistent, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const opener = useRef<Element>(null);
  const isClosed = useRef(false);
  const titleId = useId();
  useEffect(() => {
    opener.current = document.activeElement;
    dialog.current?.showModal();
    // The browser would take the X: a second Enter would close what the first one brought.
    const field = dialog.current?.querySelector<HTMLElement>('form :is(input, select, textarea)');
    (field ?? heading.current)?.focus();
  }, []);
  const isHeld = isBusy || isInsistent;

  /** The browser tells of it in a later task: until then what the dialog shows, a secret too, would stay in the page. */
  function close(): void {
    dialog.current?.close();
    closed();
  }

  function closed(): void {
    if (isClosed.current) return;
    isClosed.current = true;
    onClosed();
    if (!opener.current?.isConnected) focusHeading();
  }

  return (
    <dialog
      ref={dialog}
      class={isWide ? 'wide' : ''}
      aria-labelledby={titleId}
      // Chromium lets the second Escape in a row through, whatever became of `cancel`; others know only that event.
      closedby={isHeld ? 'none' : 'closerequest'}
      onCancel={event => isHeld && event.preventDefault()}
      onClose={closed}
    >
      <header>
        <h2 id={titleId} ref={heading} tabIndex={-1}>
          {title}
        </h2>
        {!isInsistent && (
          <button type="button" class="button plain" aria-label="Close" onClick={close} disabled={isBusy}>
            <Icon name="close" />
          </button>
        )}
      </header>
      {children(close)}
    </dialog>
  );
}

/** Where the focus goes when what had it is gone. */
export function focusHeading(): void {
  const ofPanel = document.querySelector<HTMLElement>('[role="tabpanel"] h2[tabindex]');
  (ofPanel ?? document.querySelector('h1'))?.focus();
}
