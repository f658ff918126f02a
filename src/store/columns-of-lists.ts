/** The table of columns, of what belongs to the lists beside their versions: as in columns.ts. */

import type { AddedFeed, Format } from '../core/added-feed.ts';
import type { AskedNames } from '../core/asked.ts';
import type { FeedCheck, Trouble } from '../core/freshness.ts';
import type { ChangesMark, NumberedChange } from '../core/listing-change.ts';
import type { KeptTag } from '../core/tag.ts';
import { later, orNull, record, text, texts, whole, word, yesNo } from './codecs.ts';
import { table, without } from './table.ts';

export const FEED_CHECK = table<FeedCheck>('feed_check', ['feed'], {
  feed: text,
  triedAt: whole,
  checkedAt: orNull(whole),
  added: whole,
  removed: whole,
  problem: orNull(text),
  trouble: later(orNull(word<Trouble>())),
  waiting: later(orNull(texts)),
  approved: later(orNull(texts)),
  rejected: later(orNull(texts)),
  tag: later(orNull(record<KeptTag>())),
  fallback: later(orNull(text)),
});

export const ASKED = table<AskedNames>('asked', ['day', 'server'], {
  day: text,
  server: text,
  names: text,
});

export const ADDED_FEED = table<AddedFeed>('added_feed', ['name'], {
  name: text,
  place: text,
  kind: word<AddedFeed['kind']>(),
  format: word<Format>(),
  verified: yesNo,
  addedAt: whole,
});

export const LISTING_CHANGE = table<NumberedChange>('listing_change', ['id'], {
  id: whole,
  domain: text,
  change: word<NumberedChange['change']>(),
  at: whole,
  feeds: texts,
});

export const CHANGES_MARK = table<ChangesMark & { readonly id: number }>('changes_mark', ['id'], {
  id: whole,
  generation: text,
  floor: whole,
  last: whole,
});
export const MARK = without(CHANGES_MARK, 'id');
