/** Events: what an operator should know of before callers do. Each is raised once, by one server of all. */

import type { AddedFeed } from './added-feed.ts';
import { type FeedCheck, freshnessOf, isAnswered } from './freshness.ts';
import { isLive, type KeyRecord } from './key.ts';
import { monthOf, toSecond } from './quota.ts';

export const EVENT_KINDS = [
  'quota.warning',
  'quota.exhausted',
  'key.expiring',
  'feed.failing',
  'feed.stale',
  'backup.failed',
  'resolver.distrusted',
] as const;
export type EventKind = (typeof EVENT_KINDS)[number];

export interface Event {
  /** The same for everybody who sees the same thing: it is raised once. */
  readonly id: string;
  readonly kind: EventKind;
  /** A key's id, a feed, a folder, an address. */
  readonly subject: string;
  /** For people. */
  readonly text: string;
}

export interface RaisedEvent extends Pick<Event, 'id' | 'kind' | 'subject'> {
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** A key that is not revoked, and of whose quota or time not much is left. */
export interface EndingKey {
  readonly key: KeyRecord;
  /** In the month that was asked for. */
  readonly used: number;
}

export interface EndingQuery {
  readonly month: string;
  /** So much of the quota is used, … */
  readonly share: number;
  /** … or it expires by this moment. */
  readonly expiresBy: number;
  /** The id of the last one that was read; empty at first. */
  readonly after: string;
}

/** So many keys are read at once: of all of them at a time the loop would be held. */
export const ENDING_AT_ONCE = 200;

export interface EventStore {
  /** In the order of their ids, at most `ENDING_AT_ONCE`. */
  endingKeys(query: EndingQuery): Promise<EndingKey[]>;
  /** False where it was raised before, by whomever. Forgets those from before a moment. */
  raiseEvent(event: RaisedEvent, since: number): Promise<boolean>;
}

export interface Seen {
  readonly now: number;
  readonly keys: readonly EndingKey[];
  readonly checks: readonly FeedCheck[];
  /** Lists of the operator's own. */
  readonly added: readonly Pick<AddedFeed, 'name' | 'addedAt'>[];
  /** Where the last try failed: why, and when the last good one was made. */
  readonly backup:
    | { readonly folder: string; readonly problem: string; readonly lastGood: number }
    | undefined;
  /** Of DNS: why one is not believed, null where it is. */
  readonly servers: readonly { readonly address: string; readonly problem: string | null }[];
  /** By the address of a server, the day on which it was first not believed. */
  readonly distrustedSince: ReadonlyMap<string, string>;
}

const WARNING = 0.8;
const EXPIRING_MS = 7 * 86_400_000;

/** Of which keys there may be something to tell. */
export const endingAt = (now: number, after: string): EndingQuery => ({
  ...{ month: monthOf(now).name, share: WARNING, expiresBy: now + EXPIRING_MS, after },
});
const MOST_TEXT = 300;

function eventOf(kind: EventKind, subject: string, occasion: string | number, text: string): Event {
  return {
    id: `${kind} ${subject} ${occasion}`,
    kind,
    subject,
    text: text.slice(0, MOST_TEXT).toWellFormed(),
  };
}

export function eventsIn(seen: Seen): Event[] {
  const live = seen.keys.filter(({ key }) => isLive(key, key.digest, seen.now));
  return [
    ...live.flatMap(one => [...quotaEvents(one, seen.now), ...expiryEvents(one.key, seen.now)]),
    ...feedEvents(seen),
    ...backupEvents(seen),
    ...resolverEvents(seen),
  ];
}

/** The higher of the two, and anew where an operator changes the quota. */
function quotaEvents({ key: { id, name, quota }, used }: EndingKey, now: number): Event[] {
  if (quota === null || quota === 0 || used < WARNING * quota) return [];
  const kind = used < quota ? 'quota.warning' : 'quota.exhausted';
  const share = Math.floor((100 * used) / quota);
  const text = `the key ${JSON.stringify(name)} has used ${share} % of its quota of ${quota} calls this month`;
  return [eventOf(kind, id, `${monthOf(now).name} ${quota}`, text)];
}

function expiryEvents({ id, name, expiresAt }: KeyRecord, now: number): Event[] {
  if (expiresAt === null || expiresAt - now > EXPIRING_MS) return [];
  const text = `the key ${JSON.stringify(name)} expires at ${toSecond(expiresAt)}`;
  return [eventOf('key.expiring', id, expiresAt, text)];
}

/**
 * Where all of them fail it is the way to them: that becomes an event once the lists are stale, or where it never went
 * well. One that was read and not taken is no trouble of the way.
 */
function feedEvents({ checks, added, now }: Seen): Event[] {
  const { status, checkedAt, failing } = freshnessOf(checks, now);
  const isAll = failing.length === checks.length;
  const some = checks.filter(
    ({ problem, trouble }) => problem !== null && (!isAll || (trouble ?? 'failed') !== 'failed'),
  );
  const since = checkedAt === null ? 'ever be fetched' : `be checked since ${toSecond(checkedAt)}`;
  const stale = `no list could ${since}: see "domain-risk feeds status"`;
  const isNone = status === 'never' && checks.length > 0 && isAll;
  return [
    ...some
      .filter(check => !isAnswered(check))
      .map(check =>
        eventOf(
          'feed.failing',
          check.feed,
          occasionOf(check, added),
          `the list ${check.feed} was not updated: ${check.problem}`,
        ),
      ),
    ...(status === 'stale' || isNone ? [eventOf('feed.stale', 'feeds', checkedAt ?? 0, stale)] : []),
  ];
}

/**
 * A server that was away must not hide a version that waits behind it, nor one that was rejected or approved the next
 * that waits or is refused: whoever approved eight names was not told that eight others wait (2026-11-18). Nor was who
 * removed a list of which none was ever taken, and added another by its name.
 */
function occasionOf(
  { feed, checkedAt, trouble, approved, rejected }: FeedCheck,
  added: Seen['added'],
): string {
  const begun = checkedAt ?? added.find(({ name }) => name === feed)?.addedAt ?? 0;
  const since = approved ? [approved.length] : [];
  const more = {
    ...{ failed: [], refused: ['refused', ...since] },
    waiting: ['waiting', rejected?.length ?? 0, ...since],
  };
  return [begun, ...more[trouble ?? 'failed']].join(' ');
}

function backupEvents({ backup }: Seen): Event[] {
  if (!backup) return [];
  const { folder, problem, lastGood } = backup;
  return [eventOf('backup.failed', folder, lastGood, `the backup into ${folder} failed: ${problem}`)];
}

function resolverEvents({ servers, distrustedSince, now }: Seen): Event[] {
  return servers.flatMap(({ address, problem }) =>
    problem === null
      ? []
      : [
          eventOf(
            'resolver.distrusted',
            address,
            distrustedSince.get(address) ?? toSecond(now).slice(0, 10),
            `the DNS server ${address} is not believed: it ${problem}`,
          ),
        ],
  );
}
