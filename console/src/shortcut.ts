/** `/` leads to the search from anywhere. It can be switched off: who speaks to the machine types it by chance (WCAG 2.1.4). */

import { isBoolean, kept } from './kept.ts';

export const usesShortcut = kept('domain-risk.shortcut', true, isBoolean);

/** In the address of the console where the reference, a page of its own, led to it. */
const WANTED = '?search';
let isWanted = location.search === WANTED;
if (isWanted) history.replaceState(null, '', `${location.pathname}${location.hash}`);

/**
 * Whether the search is to have the focus of the view that has just come, instead of its heading. It stays wanted until a
 * view with a search is there: the one before it may be told late that it has come.
 */
export function takesFocus(): boolean {
  if (!isWanted || !focusSearch()) return false;
  isWanted = false;
  return true;
}

function focusSearch(): boolean {
  const field = document.querySelector<HTMLTextAreaElement>('.ask textarea');
  field?.focus();
  field?.select();
  return field !== null;
}

/** Keys that belong to what is being typed, or to a dialog in front of the page, are left alone. */
function isTaken({ target, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  const isTyping =
    target instanceof Element && target.matches('input:not([type="checkbox"]), textarea, select');
  return isTyping || ctrlKey || metaKey || altKey || document.querySelector('dialog[open]') !== null;
}

addEventListener('keydown', event => {
  if (event.key !== '/' || !usesShortcut.get() || isTaken(event)) return;
  event.preventDefault();
  if (focusSearch()) return;
  if (location.pathname !== '/') return location.assign(`/${WANTED}#/`);
  isWanted = true;
  location.hash = '#/';
});
