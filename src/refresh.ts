/** Verb 3: from feeds to a catalog. Whole or not at all: any feed or table that is not what it was ends it. */

import { createHash } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { Catalog } from './core/catalog.ts';
import { FeedError, type Snapshot, type Sources, takeSnapshot } from './core/feed.ts';
import { parseTables, type TableTexts } from './core/tables.ts';

/** Told before each feed is read, and once at the end with `done` equal to `total`. */
export type Progress = (feed: string, done: number, total: number) => void;

export async function buildCatalog(sources: Sources, progress: Progress): Promise<Catalog> {
  const texts = await sources.tables();
  const tables = parseTables(texts);
  const snapshots: Snapshot[] = [];
  for (const { feed, read } of sources.feeds) {
    progress(feed.id, snapshots.length, sources.feeds.length);
    // Reading a feed keeps the event loop busy for up to a quarter of a second: let the others have a turn.
    await turn();
    snapshots.push(takeSnapshot(feed, await read()));
  }
  const catalog = new Catalog(snapshots, tables, generationOf(snapshots, texts));
  for (const snapshot of snapshots) refuseCanaries(snapshot, catalog);
  progress('catalog', snapshots.length, sources.feeds.length);
  return catalog;
}

/** A feed that calls one of the largest mailbox providers disposable is broken as a whole. */
function refuseCanaries({ feed, names }: Snapshot, { canaries }: Catalog): void {
  const named = feed.kind === 'disposable' && names.find(name => canaries.has(name));
  if (named)
    throw new FeedError(
      `${feed.origin} names ${named}, which is no disposable domain: install another version`,
    );
}

/** The same feeds and tables give the same text on every machine. */
function generationOf(snapshots: readonly Snapshot[], texts: TableTexts): string {
  const hash = createHash('sha256');
  for (const { feed, version, names } of snapshots) hash.update(`${feed.id}@${version} ${names.join(' ')}\n`);
  for (const [file, text] of Object.entries(texts)) hash.update(`${file} ${text}\n`);
  return hash.digest('hex').slice(0, 12);
}
