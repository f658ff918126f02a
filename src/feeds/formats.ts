/** How the operator's own lists may be written: one name per line, JSON, or a table. */

import type { AddedFeed, Format } from '../core/added-feed.ts';
import { FeedError } from '../core/feed.ts';
import { type Names, strings } from './readers.ts';
import { MOST_RANKED, RANKED_BYTES, readLines, type Shape } from './web.ts';

/** `[name, …]`, `[{"domain": name}, …]`, or either of them as `domains` of an object. */
function readJson(text: string): Names {
  const document: unknown = JSON.parse(text);
  const list = hasDomains(document) ? document.domains : document;
  if (!Array.isArray(list)) throw new FeedError('neither a list nor an object with a list "domains"');
  const nameOf = (one: unknown) =>
    typeof one === 'object' && one !== null && 'domain' in one ? one.domain : one;
  return { names: strings(list.map(nameOf), 'the list') };
}

function hasDomains(value: unknown): value is { domains: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && 'domains' in value;
}

/** Names of a column that holds names. */
const HEADERS = new Set(['domain', 'domains', 'name', 'host']);

/**
 * The column that its header names, else the first in which the first line has a dot: a rank may stand before it. Names
 * hold neither commas nor quotes, so that quotes are taken away and nothing else is made of them.
 */
function readCsv(text: string): Names {
  const rows = text
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '' && !line.startsWith('#'))
    .map(line => line.split(/[,;\t]/).map(cell => cell.trim().replaceAll('"', '')));
  const [first = [], ...rest] = rows;
  const named = first.findIndex(cell => HEADERS.has(cell.toLowerCase()));
  const column = named === -1 ? first.findIndex(cell => cell.includes('.')) : named;
  if (column === -1) throw new FeedError('no column "domain" in its first line, and no name either');
  return { names: (named === -1 ? rows : rest).map(cells => cells[column] ?? '') };
}

const READERS: Readonly<Record<Format, (text: string) => Names>> = {
  lines: readLines,
  json: readJson,
  csv: readCsv,
};

/** Of a popularity list only the first count, and JSON cannot be cut. */
export function shapeOf({ kind, format }: Pick<AddedFeed, 'kind' | 'format'>): Shape {
  const read = READERS[format];
  if (kind !== 'popular') return { read };
  const readFirst = (text: string) => ({ names: read(text).names.slice(0, MOST_RANKED) });
  return format === 'json' ? { read: readFirst } : { read: readFirst, firstBytes: RANKED_BYTES };
}
