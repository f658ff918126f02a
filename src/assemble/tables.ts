/** What a catalog is made of besides the lists: which feeds there are, and the tables that people edit. */

import { createHash } from 'node:crypto';
import { type AddedFeed, feedOf } from '../core/added-feed.ts';
import type { Feed, Sources } from '../core/feed.ts';
import { parseTables, type TableFile, type Tables, type TableTexts } from '../core/tables.ts';

/** In the order of the table, as updates bring them; what an operator added comes last. */
export function feedsOf({ feeds, updated = [] }: Sources, added: readonly AddedFeed[] = []): Feed[] {
  const byId = new Map(feeds.map(({ feed }) => [feed.id, feed]));
  for (const feed of updated) byId.set(feed.id, feed);
  for (const one of added) if (!byId.has(one.name)) byId.set(one.name, feedOf(one));
  return [...byId.values()];
}

/** The tables, and the sum of their texts. */
export interface Read {
  readonly tables: Tables;
  readonly digest: string;
}

/**
 * Checking 3,500 rows takes about 15 ms (2026-11-16), and summing them 2 (2026-11-18), which a running server spends only
 * when a table was edited.
 */
let last: { readonly texts: TableTexts; readonly read: Read } | undefined;

export async function readTables(sources: Sources): Promise<Read> {
  const texts = await sources.tables();
  if (!last || !isSame(last.texts, texts))
    last = { texts, read: { tables: parseTables(texts), digest: sumOf(texts) } };
  return last.read;
}

function isSame(one: TableTexts, other: TableTexts): boolean {
  return (Object.keys(one) as TableFile[]).every(file => one[file] === other[file]);
}

function sumOf(texts: TableTexts): string {
  const sum = createHash('sha256');
  for (const [file, text] of Object.entries(texts)) sum.update(`${file} ${text}\n`);
  return sum.digest('hex');
}
