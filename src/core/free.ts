/** Who is a consumer webmail provider: what lists and tables say, and whom of these a list is not believed about. */

import type { Folded } from './catalog.ts';
import { registrableDomain } from './domain.ts';
import type { Family } from './feed.ts';
import type { Kept } from './kept.ts';
import type { Names } from './names.ts';
import { PUBLIC_SUFFIX } from './owned.ts';
import { STEP, type Steps } from './steps.ts';
import type { ProviderClass, Tables } from './tables.ts';

const MAILBOXES: ReadonlySet<ProviderClass> = new Set<ProviderClass>([
  'consumer_webmail',
  'mailbox_provider',
]);

/**
 * Consumer webmail by feed and table, surely where feeds of two families name it: 4,764 of the 4,767 names of one stand
 * in another, 606 of them disposable, and both have one origin (2026-11-17). A feed is not believed about what is
 * disposable, a relay, a university or another protected name: the lists of November 2026 hold stanford.edu, twitter.com
 * and 58 universities between them.
 */
export function* freeOf(
  snapshots: readonly Kept[],
  tables: Tables,
  disposable: Names,
  guarded: ReadonlySet<string>,
): Steps<Pick<Folded, 'free' | 'surelyFree'>> {
  const free = new Set<string>();
  const surelyFree = new Set<string>();
  const families = new Map<string, Family>();
  for (const { feed, names } of snapshots) {
    if (feed.kind !== 'free') continue;
    let at = 0;
    for (const name of names) {
      if (++at % STEP === 0) yield;
      if (disposable.get(name) !== 0 || guarded.has(name) || PUBLIC_SUFFIX.test(name)) continue;
      if (tables.mailboxes.get(name)?.class === 'disposable' || registrableDomain(name) !== name) continue;
      if ((families.get(name) ?? feed.family) !== feed.family) surelyFree.add(name);
      families.set(name, feed.family);
      free.add(name);
    }
  }
  for (const name of freeByTables(tables)) {
    free.add(name);
    surelyFree.add(name);
  }
  for (const name of tables.free.remove) {
    free.delete(name);
    surelyFree.delete(name);
  }
  return { free, surelyFree };
}

/** What our own tables say of it. */
export function freeByTables(tables: Tables): Set<string> {
  const free = new Set(tables.free.add);
  for (const [name, row] of tables.mailboxes) if (row.class === 'consumer_webmail') free.add(name);
  // Whoever runs mailboxes for consumers has customers with addresses under the name of its hosts.
  for (const { suffix, class: kind } of tables.providers)
    if (MAILBOXES.has(kind) && registrableDomain(suffix) === suffix) free.add(suffix);
  return free;
}
