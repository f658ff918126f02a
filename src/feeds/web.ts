/** The feeds that come by https: one row each, with the reader for its shape. */

import type { Feed, RawFeed } from '../core/feed.ts';
import { packageFeeds, readFakefilter } from './packages.ts';

type Names = Omit<RawFeed, 'version'>;

export interface WebFeed {
  /** `origin` is its address. */
  readonly feed: Feed;
  readonly read: (text: string) => Names;
}

const GITHUB = 'https://raw.githubusercontent.com';
/** What such lists have in common; `atLeast` is about half of what each held in November 2026. */
const BROAD = { kind: 'disposable', family: 'broad', licence: 'MIT' } as const;

export const WEB_FEEDS: readonly WebFeed[] = [
  {
    feed: {
      ...installed('disposable-email-domains'),
      origin: `${GITHUB}/disposable-email-domains/disposable-email-domains/main/disposable_email_blocklist.conf`,
    },
    read: readLines,
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
    read: readLines,
  },
  {
    feed: {
      ...BROAD,
      id: 'domains-mx',
      atLeast: 10_000,
      origin: 'https://disposable.github.io/disposable-email-domains/domains_mx.txt',
    },
    read: readLines,
  },
  {
    feed: {
      ...BROAD,
      id: 'burner-email-providers',
      atLeast: 10_000,
      origin: `${GITHUB}/wesbos/burner-email-providers/master/emails.txt`,
    },
    read: readLines,
  },
  {
    feed: {
      ...BROAD,
      id: 'mailchecker',
      atLeast: 28_000,
      origin: `${GITHUB}/FGRibreau/mailchecker/master/list.txt`,
    },
    read: readLines,
  },
];

/** Where a package brings the same feed, its row tells what it is. */
function installed(id: string): Feed {
  return packageFeeds().find(({ feed }) => feed.id === id)!.feed;
}

/** One name per line; `#` and `//` begin comments. */
export function readLines(text: string): Names {
  const lines = text.split('\n').map(line => line.trim());
  return { names: lines.filter(line => line !== '' && !line.startsWith('#') && !line.startsWith('//')) };
}
