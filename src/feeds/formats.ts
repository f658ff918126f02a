/** How the operator's own lists may be written: one name per line, JSON, or a table. */

import type { AddedFeed, Format } from '../core/added-feed.ts';
import { parseDomain } from '../core/domain.ts';
import { FeedError } from '../core/feed.ts';
import { parseJson, take } from './bounds.ts';
import { rowsOf } from './csv.ts';
import { type Names, strings } from './readers.ts';
import { MOST_RANKED, RANKED_BYTES, readLines, type Shape } from './web.ts';

/** `[name, …]`, `[{"domain": name}, …]`, or either of them as `domains` of an object. */
function readJson(text: string): Names {
  const document = parseJson(text);
  const list = hasDomains(document) ? document.domains : document;
  if (!Array.isArray(list)) throw new FeedError('neither a list nor an object with a list "domains"');
  const nameOf = (one: unknown) =>
    typeof one === 'object' && one !== null && 'domain' in one ? one.domain : one;
  return { names: strings(list.map(nameOf), 'the list') };
}

function hasDomains(value: unknown): value is { domains: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && 'domains' in value;
}

/** What a column of names may be called. Where there is one of the first two, the others tell of something else. */
const SURE = new Set(['domain', 'domains']);
const LIKELY = new Set(['name', 'host']);

/** A rank may stand before it, and a note with other names in it. */
function readCsv(text: string): Names {
  const names: string[] = [];
  let column: number | undefined;
  let width = 0;
  for (const cells of rowsOf(text)) {
    if (column === undefined) {
      const header = headerOf(cells);
      column = header ?? firstName(cells);
      width = cells.length;
      if (header !== undefined) continue;
    }
    // A separator that nobody quoted has moved the cells behind it: the one here is a stranger's.
    const isMoved = column > 0 && cells.length > width;
    take(names, isMoved ? '' : (cells[column] ?? ''));
  }
  if (column === undefined) throw new FeedError(NO_COLUMN);
  return { names };
}

const NO_COLUMN = 'no column "domain" in its first line, and no name either';

function headerOf(cells: readonly string[]): number | undefined {
  const called = (words: ReadonlySet<string>) =>
    [...cells.keys()].filter(at => words.has(cells[at]!.toLowerCase()));
  const [first, ...others] = called(SURE).length > 0 ? called(SURE) : called(LIKELY);
  if (others.length > 0) throw new FeedError('several columns may hold its names: call the one "domain"');
  return first;
}

function firstName(cells: readonly string[]): number {
  const [first, ...others] = [...cells.keys()].filter(at => parseDomain(cells[at]!).ok);
  if (first === undefined) throw new FeedError(NO_COLUMN);
  if (others.length > 0)
    throw new FeedError('its first line has several names: let a line before it call their column "domain"');
  return first;
}

const READERS: Readonly<Record<Format, (text: string) => Names>> = {
  lines: readLines,
  json: readJson,
  csv: readCsv,
};

/** Of a popularity list only the first count, and JSON cannot be cut. */
export function shapeOf({ kind, format }: Pick<AddedFeed, 'kind' | 'format'>): Shape {
  const read = READERS[format];
  const byLines = format === 'json' ? {} : ({ byLines: true } as const);
  if (kind !== 'popular') return { read, ...byLines };
  const readFirst = (text: string) => ({ names: read(text).names.slice(0, MOST_RANKED) });
  return format === 'json' ? { read: readFirst } : { read: readFirst, ...byLines, firstBytes: RANKED_BYTES };
}
