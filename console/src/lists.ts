/** What is said of the lists behind an answer: how many domains they have, and how old they are. */

import { fromNow, plural } from './time.ts';

export interface Lists {
  readonly snapshot: string;
  readonly domains: number;
  /** Null where only the installed ones are in use. */
  readonly checkedAt: string | null;
}

/** Out of what readiness tells of those in use now. */
export function listsOf(told: unknown): Lists | undefined {
  const { catalog, feeds } = (told ?? {}) as {
    readonly catalog?: { readonly snapshot?: unknown; readonly domains?: unknown };
    readonly feeds?: { readonly checked_at?: unknown };
  };
  const { snapshot, domains } = catalog ?? {};
  if (typeof snapshot !== 'string' || typeof domains !== 'number') return undefined;
  const at = feeds?.checked_at;
  return { snapshot, domains, checkedAt: typeof at === 'string' ? at : null };
}

/** Of an older version nothing else is known. */
export function listsWords(snapshot: string, lists: Lists | undefined): string {
  if (lists?.snapshot !== snapshot) return `Lists: snapshot ${snapshot}`;
  const { domains, checkedAt } = lists;
  const age = checkedAt === null ? 'as installed' : `checked ${fromNow(checkedAt)}`;
  return `Lists: ${plural(domains, 'domain')}, ${age} (snapshot ${snapshot})`;
}
