/** Operators by name, each with a token: the audit tells who it really was. `ADMIN_TOKEN` is the first of them. */

import { bad, type Checked } from './checked.ts';
import { alike, parseLabel } from './label.ts';

export interface OperatorRecord {
  readonly name: string;
  /** SHA-256 of the token, in hex. The token itself is never stored. */
  readonly digest: string;
  readonly createdAt: number;
  readonly revokedAt: number | null;
}

/** Every token begins with it, so that nothing else is looked up as one. */
export const TOKEN_PREFIX = 'dro_';

/** Whoever has the ADMIN_TOKEN and gives no name. */
export const UNNAMED = 'operator';

/** Of one with a token of their own. */
export function parseOperatorName(text: string): Checked<string> {
  const name = parseLabel(text);
  if (!name.ok) return name;
  // In a path browsers take them for steps: nobody could revoke such an operator there.
  if (name.value === '.' || name.value === '..') return bad('must be more than dots');
  // Nobody else acts under an operator's name: the ADMIN_TOKEN alone did nothing any more (2026-11-19).
  return alike(name.value) === UNNAMED
    ? bad(`must be another one: ${JSON.stringify(UNNAMED)} is who has the ADMIN_TOKEN and gives no name`)
    : name;
}
