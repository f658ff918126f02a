/** For forms whose every sending is counted: a key held down or a double click sends them once. */

export const SENT_ONCE = {
  onKeyDown(event: KeyboardEvent): void {
    // A field of several lines knows itself which Enter sends.
    const isLines = event.target instanceof HTMLTextAreaElement;
    if (event.key === 'Enter' && event.repeat && !isLines) event.preventDefault();
  },
  onClick(event: MouseEvent): void {
    const isButton = (event.target as Element).closest('[type="submit"]') !== null;
    if (isButton && event.detail > 1) event.preventDefault();
  },
};
