/** Real examples for the OpenAPI document: what is told of the lists. */

import type { Type } from 'typebox';
import type {
  ChangesSchema,
  FeedDecisionSchema,
  FeedsSchema,
  FeedVersionSchema,
} from './schemas-of-feeds.ts';

export const FEEDS: Type.Static<typeof FeedsSchema> = {
  snapshot: 'aa6756337948',
  domains: 172_015,
  panel: 0,
  freshness: { status: 'fresh', checked_at: '2026-11-15T04:20:00Z', failing: [] },
  feeds: [
    {
      feed: 'disposable-email-domains',
      kind: 'disposable',
      family: 'verified',
      verified: true,
      licence: 'CC0-1.0',
      origin: 'npm package disposable-email-domains-js',
      own: false,
      version: '1.26.0',
      names: 8_881,
      dropped: { malformed: 0, suffix: 0, duplicate: 0, protected: 2, special_use: 0 },
      updated_at: '2026-11-14T04:17:00Z',
      tried_at: '2026-11-15T04:20:00Z',
      checked_at: '2026-11-15T04:20:00Z',
      age_seconds: 18_600,
      added: 12,
      removed: 3,
      problem: null,
      fallback: null,
      waiting: [],
      rejected_in_use: [],
      can_roll_back: true,
      held: false,
      digest: '5d1c54a1d0c1f1b4f0f4c8f1f3c0f6a1f8a3f2b6f5e4d3c2b1a09f8e7d6c5b4a',
      next: null,
    },
  ],
  missing: [],
};

export const FEED_VERSION: Type.Static<typeof FeedVersionSchema> = {
  feed: 'castle',
  version: '2026-11-14T04:17Z',
  names: 1_480,
  updated_at: '2026-11-14T04:17:00Z',
  held: true,
};

export const FEED_DECISION: Type.Static<typeof FeedDecisionSchema> = {
  feed: 'domains-mx',
  approved: true,
  domains: ['one.example.org'],
};

/** What is sent for either decision, and either way. */
const SEEN = { domains: FEED_DECISION.domains };
const FROM = { digest: FEEDS.feeds[0]!.digest };
export const DECIDED = { approveFeed: SEEN, rejectFeed: SEEN, rollBackFeed: FROM, returnFeed: FROM };

export const CHANGES: Type.Static<typeof ChangesSchema> = {
  changes: [
    {
      domain: 'fresh-inbox.example.com',
      change: 'flagged',
      at: '2026-11-15T04:20:00Z',
      feeds: ['castle', 'domains-mx'],
    },
    { domain: 'innocent.example.org', change: 'cleared', at: '2026-11-15T04:20:00Z', feeds: ['castle'] },
  ],
  cursor: 'c179471640000034.1794716400000',
  more: false,
};
