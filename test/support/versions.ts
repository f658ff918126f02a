/** A feed whose every name tells which version of it it belongs to. */

import type { Feed, RawFeed } from '../../src/core/feed.ts';
import type { Store } from '../../src/core/ports.ts';
import type { TableTexts } from '../../src/core/tables.ts';
import { ACT } from './act.ts';

export const IMPORTED: Feed = {
  id: 'castle',
  kind: 'disposable',
  family: 'broad',
  licence: 'MIT',
  origin: 'here',
  atLeast: 1,
};

const NAMES = 20_000;

export function versionOf(version: number): RawFeed {
  return { version: `${version}`, names: Array.from({ length: NAMES }, (_, at) => `n${at}-v${version}.com`) };
}

/** Tables that are read in no time. */
export const FEW_TABLES: TableTexts = {
  'providers.csv': 'suffix,label,class\na.com,A,hosting',
  'mailboxes.csv': 'domain,label,class,canary\ngmail.com,Gmail,consumer_webmail,yes',
  'protected.csv': 'domain,kind,label\nb.com,name,',
  'free.csv': 'domain,change,note\nc.com,add,',
  'roles.txt': 'noreply',
};

/** As of a list of the operator's own: of ours nobody can have them forgotten. */
export async function forgetVersions(store: Store, feed: string): Promise<void> {
  const own = { name: feed, place: '/none', kind: 'free', format: 'lines', verified: false } as const;
  await store.addFeed({ ...own, addedAt: 1 }, 99, ACT);
  await store.removeFeed(feed, ACT);
}
