/** A catalog of a few listed names, with the real tables as far as they matter to mail hosts. */

import { buildCatalog, type Stored } from '../../src/assemble.ts';
import type { Catalog } from '../../src/core/catalog.ts';
import { dayAt, dayText } from '../../src/core/days.ts';
import { registrableDomain } from '../../src/core/domain.ts';
import type { Family, FeedKind, FeedSource } from '../../src/core/feed.ts';
import { takeSnapshot, textOf } from '../../src/core/snapshot.ts';
import { parseTables, type Tables, type TableTexts } from '../../src/core/tables.ts';
import { readTables } from '../../src/feeds/tables.ts';

interface Also {
  /** What a second family names. */
  readonly telemetry?: readonly string[];
  readonly verified?: readonly string[];
  readonly popular?: readonly string[];
  /** Consumer webmail, as lists of families have it. */
  readonly free?: readonly (readonly [Family, readonly string[]])[];
  /** When updates brought the lists, and each name that is not as old as they are. */
  readonly updated?: { readonly at: number; readonly since: ReadonlyMap<string, number> };
}

/** By one broad feed, and as `also` says. */
export async function catalogOf(
  listed: readonly string[],
  also: Also = {},
  tables = fewInnocentNames,
): Promise<Catalog> {
  const since = new Map([...(also.updated?.since ?? [])].map(([name, at]) => [name, dayText(dayAt(at))!]));
  const source = (id: string, kind: FeedKind, family: Family, names: readonly string[]): FeedSource => ({
    feed: { id, kind, family, licence: 'none', origin: 'here', atLeast: 0 },
    read: async () => ({ version: '1', names, since }),
  });
  const feeds = [source('simulated', 'disposable', 'broad', listed)];
  if (also.telemetry) feeds.push(source('seen', 'disposable', 'telemetry', also.telemetry));
  if (also.verified) feeds.push(source('looked-at', 'disposable', 'verified', also.verified));
  if (also.popular) feeds.push(source('popular', 'popular', 'broad', also.popular));
  for (const [at, [family, names]] of (also.free ?? []).entries())
    feeds.push(source(`free${at}`, 'free', family, names));
  const stored = also.updated && (await storedAt(also.updated.at, feeds));
  return buildCatalog({ feeds, tables }, () => {}, stored);
}

async function storedAt(acceptedAt: number, sources: readonly FeedSource[]): Promise<Stored> {
  const accepted = await Promise.all(
    sources.map(async ({ feed, read }) => {
      const snapshot = takeSnapshot(feed, await read());
      const { version, digest, names } = snapshot;
      return { feed: feed.id, version, digest, names: names.length, acceptedAt, body: textOf(snapshot) };
    }),
  );
  return {
    store: {
      addedFeeds: async () => [],
      snapshots: async () => accepted,
      snapshot: async id => accepted.find(({ feed }) => feed === id),
    },
    unpack: async body => body,
    onError(error) {
      throw error;
    },
  };
}

/** Nothing that people wrote by hand. */
export const NO_TABLES: Tables = {
  providers: [],
  mailboxes: new Map(),
  protected: new Set(),
  suffixes: new Set(),
  relays: new Map(),
  free: { add: new Set(), remove: new Set() },
  roles: new Set(),
};

/** Innocent names that tests speak of. */
const SPOKEN_OF = new Set(['gmail.com', 'web.de', 'riseup.net', 'sdf.org', 'eu.org', 'duck.com']);

let few: Promise<TableTexts> | undefined;

/**
 * A sweep asks for every innocent name first, which takes longer than all that is tested behind it. Names that are free
 * because hosts of mailboxes are below them are taken away one by one: their hosts are known all the same.
 */
function fewInnocentNames(): Promise<TableTexts> {
  few ??= readFewInnocentNames();
  return few;
}

async function readFewInnocentNames(): Promise<TableTexts> {
  const texts = await readTables();
  const linesOf = (file: keyof TableTexts) => texts[file].split('\n').filter(line => !line.startsWith('#'));
  const fewOf = (file: keyof TableTexts) =>
    linesOf(file).filter((line, at) => at === 0 || SPOKEN_OF.has(line.split(',')[0]!));
  const mailboxes = parseTables(texts)
    .providers.filter(row => row.class === 'consumer_webmail' || row.class === 'mailbox_provider')
    .filter(({ suffix }) => registrableDomain(suffix) === suffix && !SPOKEN_OF.has(suffix))
    .map(({ suffix }) => `${suffix},remove,`);
  return {
    ...texts,
    'mailboxes.csv': fewOf('mailboxes.csv').join('\n'),
    'protected.csv': fewOf('protected.csv').join('\n'),
    'free.csv': [...fewOf('free.csv'), ...new Set(mailboxes)].join('\n'),
  };
}
