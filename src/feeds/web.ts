/** The feeds that come by https: one row each, with the reader for its shape. */

import { type Feed, FeedError } from '../core/feed.ts';
import { linesOf, MOST_CELLS } from './bounds.ts';
import { packageFeeds } from './packages.ts';
import { type Names, readFakefilter } from './readers.ts';

/** How a list is read. */
export interface Shape {
  readonly read: (text: string) => Names;
  /** Ranked, so that its beginning is enough: the rest is not read. */
  readonly firstBytes?: number;
  /** Half of it reads as well as the whole. */
  readonly byLines?: true;
}

export interface WebFeed extends Shape {
  /** `origin` is its address. */
  readonly feed: Feed;
}

/** A line of the million has about 80 bytes, so that these hold more than are wanted. */
export const RANKED_BYTES = 12 * 2 ** 20;

const GITHUB = 'https://raw.githubusercontent.com';
/** What such lists have in common; `atLeast` is about half of what each held in November 2026. */
const BROAD = { kind: 'disposable', family: 'broad', licence: 'MIT' } as const;

/** One name per line. */
export const LINES: Shape = { read: readLines, byLines: true };

export const WEB_FEEDS: readonly WebFeed[] = [
  {
    feed: {
      ...installed('disposable-email-domains'),
      origin: `${GITHUB}/disposable-email-domains/disposable-email-domains/main/disposable_email_blocklist.conf`,
    },
    ...LINES,
  },
  {
    feed: {
      ...installed('fakefilter'),
      origin: `${GITHUB}/7c/fakefilter/main/json/data_version2.json`,
    },
    read: readFakefilter,
  },
  {
    // The 1,000 that were abused most, anew every day.
    feed: {
      ...BROAD,
      family: 'telemetry',
      id: 'castle',
      atLeast: 500,
      rotates: 1_000,
      origin: `${GITHUB}/castle/disposable-email-domains/master/disposable-email-domains.txt`,
    },
    ...LINES,
  },
  {
    feed: {
      ...BROAD,
      id: 'domains-mx',
      atLeast: 10_000,
      origin: 'https://disposable.github.io/disposable-email-domains/domains_mx.txt',
    },
    ...LINES,
  },
  {
    // The million sites that most other networks link to. Chosen for its licence: Tranco and Cloudflare Radar are for
    // non-commercial use in part or whole, Umbrella has none. CC BY asks to name its makers: docs/lists.md does.
    feed: {
      id: 'majestic-million',
      kind: 'popular',
      family: 'broad',
      licence: 'CC-BY-3.0',
      atLeast: 50_000,
      origin: 'https://downloads.majestic.com/majestic_million.csv',
    },
    read: readRanked,
    byLines: true,
    firstBytes: RANKED_BYTES,
  },
];

/** Where a package brings the same feed, its row tells what it is. */
function installed(id: string): Feed {
  return packageFeeds().find(({ feed }) => feed.id === id)!.feed;
}

const COMMENT = /(?:^|\s)(?:#|\/\/)/;

/** One name per line; `#` and `//` begin comments, also behind a name. */
export function readLines(text: string): Names {
  const names = linesOf(text, line => {
    const at = line.search(COMMENT);
    return at === -1 ? line : line.slice(0, at).trim();
  });
  return { names };
}

/** No more of a ranked list are used: those further down are used by few. */
export const MOST_RANKED = 100_000;

/** The most used first: a table whose header names the column `Domain`, or lines of a rank and a name, or of a name. */
function readRanked(text: string): Names {
  const [header = '', ...rows] = text.split('\n', MOST_RANKED + 2).map(line => line.trim());
  const column = cellsOf(header).indexOf('Domain');
  const nameOf = (line: string) => cellsOf(line).at(column) ?? '';
  const lines = column === -1 ? [header, ...rows] : rows;
  return {
    names: lines
      .filter(line => line !== '')
      .slice(0, MOST_RANKED)
      .map(nameOf),
  };
}

function cellsOf(line: string): string[] {
  const cells = line.split(',', MOST_CELLS + 1);
  if (cells.length > MOST_CELLS) throw new FeedError(`more than ${MOST_CELLS} cells in a row`);
  return cells;
}
