/** A question or a detail in front of the page: Escape closes it, and the focus goes back to where it was. */

import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { Icon } from './icon.tsx';

interface DialogProps {
  readonly title: string;
  /** After it was closed, in whatever way. */
  onClosed(): void;
  readonly isWide?: boolean;
  children(close: () => void): ComponentChildren;
}

export function Dialog({ title, onClosed, isWide, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => dialog.current?.showModal(), []);
  const close = () => dialog.current?.close();
  return (
    <dialog ref={dialog} class={isWide ? 'wide' : ''} aria-labelledby={titleId} onClose={onClosed}>
      <header>
        <h2 id={titleId}>{title}</h2>
        <button type="button" class="button plain" aria-label="Close" onClick={close}>
          <Icon name="close" />
        </button>
      </header>
      {children(close)}
    </dialog>
  );
}
