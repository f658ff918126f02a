/** `DATABASE_URL`, and what commands take in its form. */

import { resolve } from 'node:path';
import { bad, type Checked, good } from './core/checked.ts';

/** Where the store is: a file of ours, or a database that several machines share. */
export type Database =
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'postgres'; readonly url: string };

export function parseDatabase(text: string): Checked<Database> {
  if (text.startsWith('sqlite:') && text.length > 7)
    return good({ kind: 'sqlite', path: resolve(text.slice(7)) });
  if (/^postgres(ql)?:\/\/./.test(text) && URL.canParse(text)) return good({ kind: 'postgres', url: text });
  return bad('must be sqlite:<path of a file> or postgres://user:password@host:port/database');
}
