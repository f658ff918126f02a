/** For forms whose every sending is counted: a key held down or a double click sends them once. */

export const SENT_ONCE = {
  onKeyDown(event: KeyboardEvent): void {
    if (event.key === 'Enter' && event.repeat && !event.shiftKey) event.preventDefault();
  },
  onClick(event: MouseEvent): void {
    const isButton = (event.target as Element).closest('[type="submit"]') !== null;
    if (isButton && event.detail > 1) event.preventDefault();
  },
};
