/** One line of text that people read: names of keys, notes, versions of lists. */

import { bad, type Checked, good } from './checked.ts';

export const MOST_LABEL = 200;

/** Signs that show as nothing or turn the text around (bidirectional controls) would let one name look like another. */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}\ufffd]/u;

/** Names and notes are shown in tables and on pages: one line of text, bounded. */
export function parseLabel(text: string, most = MOST_LABEL): Checked<string> {
  const clean = text.trim();
  return clean === '' || clean.length > most || UNSEEN.test(clean)
    ? bad(`must be one line of 1 to ${most} printable characters`)
    : good(clean);
}

/** Names that people take for the same are the same here. */
export const alike = (name: string): string => name.normalize('NFKC').toLowerCase();
