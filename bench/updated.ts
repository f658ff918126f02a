/**
 * What lists alone find as installed and after an update, of all names and of fresh ones apart. UPDATED=folder of lists as
 * they are today, each file called like its feed, or UPDATED=fetch for the internet; FRESH=file of names that were first
 * seen in abuse lately, one per line, gzipped or not.
 */

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { loadCatalog } from '../src/compose.ts';
import type { Catalog } from '../src/core/catalog.ts';
import { freshFeeds } from '../src/feeds/fresh.ts';
import { PACKING } from '../src/feeds/pack.ts';
import { SOURCES } from '../src/feeds/sources.ts';
import { openSqliteStore } from '../src/store/sqlite/store.ts';
import { type Updated, updateFeeds } from '../src/update.ts';

export interface AfterUpdate {
  readonly catalog: Catalog;
  readonly feeds: readonly Updated[];
}

/** The way of `feeds update`, gate included, into a store that is thrown away. */
export async function updatedCatalog(from: string): Promise<AfterUpdate> {
  const files = from === 'fetch' ? [] : readdirSync(from);
  const known = files.filter(id => SOURCES.updated.some(feed => feed.id === id));
  const wanted = new Map(known.map(id => [id, join(from, id)]));
  if (from !== 'fetch' && wanted.size === 0) throw new Error(`no file in ${from} is called like a feed`);
  const sources = freshFeeds(wanted).filter(({ feed }) => wanted.size === 0 || wanted.has(feed.id));
  const folder = mkdtempSync(join(tmpdir(), 'domain-risk-'));
  const store = await openSqliteStore(join(folder, 'store.db'), error => {
    throw error;
  });
  try {
    const feeds = await updateFeeds(
      {
        ...{ store, sources, installed: SOURCES.feeds, tables: SOURCES.tables, packing: PACKING },
        ...{
          catalog: () => loadCatalog({ feedsOff: [] }, () => {}),
          clock: Date.now,
          actor: { who: 'bench', via: 'bench' },
        },
      },
      { force: false, dryRun: false, progress: () => {} },
    );
    return { catalog: await loadCatalog({ feedsOff: [] }, () => {}, store), feeds };
  } finally {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The last column of each line, so that "rank,name" does too. */
export function namesIn(path: string): string[] {
  const bytes = readFileSync(path);
  const text = (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString();
  return text.split('\n').map(line => line.split(',').at(-1)!);
}
