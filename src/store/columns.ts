/**
 * The one table of columns: what both stores keep, member by member of the core's nouns. Both make their statements of
 * it, and so do `restore`, `migrate` and its check; `test/store/columns.test.ts` holds it against both schemas.
 */

import type { Act, Action } from '../core/audit.ts';
import type { NumberedDecision } from '../core/decision.ts';
import type { RaisedEvent } from '../core/event.ts';
import type { AcceptedSnapshot } from '../core/feed.ts';
import type { Guest, GuestGroup, HostRecord, Swept } from '../core/guest.ts';
import type { KeyRecord } from '../core/key.ts';
import type { Lease } from '../core/lease.ts';
import { type DayVerdicts, type KeyVerdicts, VERDICT_COUNTS, type VerdictCounts } from '../core/mix.ts';
import type { OperatorRecord } from '../core/operator.ts';
import type { Override, OverrideAction } from '../core/override.ts';
import type { DayUsage, SweepMark } from '../core/ports.ts';
import type { ServerSign } from '../core/server.ts';
import type { SigningRow } from '../core/signing-key.ts';
import { COUNTS, LATENCIES, type Traffic, type TrafficSlot } from '../core/traffic.ts';
import { type Codec, json, later, orNull, text, texts, whole, word, yesNo } from './codecs.ts';
import { FLAG } from './columns-of-flags.ts';
import { WHEREABOUT } from './columns-of-hosts.ts';
import { ADDED_FEED, ASKED, CHANGES_MARK, FEED_CHECK, LISTING_CHANGE } from './columns-of-lists.ts';
import { type Codecs, shape, type Table, table, without } from './table.ts';

export const KEY = table<KeyRecord>('key', ['id'], {
  id: text,
  name: text,
  digest: text,
  prefix: text,
  last4: text,
  previousDigest: orNull(text),
  previousUntil: orNull(whole),
  quota: orNull(whole),
  rate: orNull(whole),
  origins: texts,
  networks: texts,
  createdAt: whole,
  expiresAt: orNull(whole),
  revokedAt: orNull(whole),
  note: later(orNull(text)),
  former: later(orNull(texts)),
});

/** The row that a quota is held against. */
interface MonthUsage extends Omit<DayUsage, 'day'> {
  readonly month: string;
  /** Of the last count. Written with it, into a row that is written anyway. */
  readonly lastAt: number | null;
}

export const USAGE = table<MonthUsage>('usage', ['keyId', 'month'], {
  keyId: text,
  month: text,
  used: whole,
  lastAt: later(orNull(whole)),
});

export const USAGE_DAY = table<DayUsage>('usage_day', ['keyId', 'day'], {
  keyId: text,
  day: text,
  used: whole,
});

export const OVERRIDE = table<Override>('override', ['domain'], {
  domain: text,
  action: word<OverrideAction>(),
  below: yesNo,
  note: orNull(text),
  author: orNull(text),
  createdAt: whole,
  expiresAt: orNull(whole),
});

export const GUEST = table<Guest>('guest', ['host', 'domain'], {
  host: text,
  domain: text,
  entry: orNull(text),
  day: text,
  sinceDay: later(orNull(text)),
  days: later(orNull(whole)),
  swept: later(orNull(whole as Codec<Swept>)),
  keys: later(orNull(whole)),
  corroborated: later(orNull(yesNo)),
  earnedBy: later(orNull(text)),
  earned: later(orNull(yesNo)),
  via: later(orNull(text)),
  elsewhereDay: later(orNull(text)),
  beforeListed: later(orNull(text)),
  registered: later(orNull(text)),
});

/** The counts follow the guests by triggers. */
interface KeptHost extends Pick<HostRecord, 'name' | 'flagged' | 'innocent' | 'lastDay'> {
  readonly sharedDay: string | null;
  readonly forgottenAt: number | null;
}

export const HOST = table<KeptHost>('host', ['name'], {
  name: text,
  flagged: whole,
  innocent: whole,
  lastDay: orNull(text),
  sharedDay: orNull(text),
  forgottenAt: orNull(whole),
});

/** SQLite has 0 and 1 for no and yes, and both stores have null in rows from before. */
const readGroup = (group: GuestGroup): GuestGroup => ({
  ...group,
  listed: Boolean(group.listed),
  corroborated: Boolean(group.corroborated),
  earned: Boolean(group.earned),
  swept: group.swept ?? 0,
});

/** Not kept but made of hosts and their guests. */
export const LISTED_HOST = shape<HostRecord>({
  name: text,
  flagged: whole,
  innocent: whole,
  shared: yesNo,
  forgotten: yesNo,
  neighbours: texts,
  lastDay: orNull(text),
  groups: json<readonly GuestGroup[], readonly GuestGroup[]>(groups => groups.map(readGroup)),
});

export const SWEEP = table<SweepMark & { readonly id: number }>('sweep', ['id'], {
  id: whole,
  generation: text,
  last: text,
  endedAt: orNull(whole),
  firstEndedAt: later(orNull(whole)),
  dead: later(orNull(text)),
});
export const SWEEP_MARK = without(SWEEP, 'id');

export const SNAPSHOT = table<AcceptedSnapshot>('snapshot', ['feed'], {
  feed: text,
  version: text,
  digest: text,
  names: whole,
  acceptedAt: whole,
  body: text,
});
export const SNAPSHOT_HEAD = without(SNAPSHOT, 'body');
export const PAST_SNAPSHOT = table<AcceptedSnapshot>(
  'past_snapshot',
  ['feed', 'acceptedAt'],
  SNAPSHOT.codecs,
);

export const AUDIT = table<Act & { readonly id: number }>('audit', ['id'], {
  id: whole,
  at: whole,
  who: text,
  via: text,
  action: word<Action>(),
  subject: text,
  detail: orNull(text),
});
export const ACT = without(AUDIT, 'id');

/** One row: the secret half of the key that filters are signed with. */
export const SIGNING = table<SigningRow>('signing', ['id'], {
  id: whole,
  secret: text,
});

export const OPERATOR = table<OperatorRecord>('operator', ['name'], {
  name: text,
  digest: text,
  createdAt: whole,
  revokedAt: orNull(whole),
});

/** Of this very store: neither moved nor restored. */
export const SERVER = table<ServerSign>('server', ['id'], {
  id: text,
  version: text,
  host: text,
  startedAt: whole,
  seenAt: whole,
});

export const LEASE = table<Lease>('lease', ['name'], {
  name: text,
  holder: orNull(text),
  until: whole,
  dueAt: whole,
});

export const TRAFFIC = table<TrafficSlot>('traffic', ['span', 'at'], {
  span: whole,
  at: whole,
  ...(Object.fromEntries([...COUNTS, ...LATENCIES].map(name => [name, whole])) as Codecs<Traffic>),
});
export const DECISION = table<NumberedDecision>('decision', ['id'], {
  id: whole,
  at: whole,
  keyId: text,
  domain: text,
  score: whole,
  reason: word<NumberedDecision['reason']>(),
  snapshot: text,
  degraded: yesNo,
});
export const NEW_DECISION = without(DECISION, 'id');

const EVENT_CODECS = { id: text, kind: word<RaisedEvent['kind']>(), subject: text, at: whole };
export const EVENT = table<RaisedEvent>('event', ['id'], EVENT_CODECS);

const VERDICT_CODECS = Object.fromEntries(VERDICT_COUNTS.map(name => [name, whole])) as Codecs<VerdictCounts>;
export const VERDICT_DAY = table<DayVerdicts>('verdict_day', ['keyId', 'day'], {
  keyId: text,
  day: text,
  ...VERDICT_CODECS,
});
/** Not kept but summed up. */
export const KEY_VERDICTS = shape<KeyVerdicts>({ keyId: text, ...VERDICT_CODECS });

/** In an order in which every row finds what it refers to; a host's counts follow its guests. */
export const TABLES: readonly Table<object>[] = [
  ...[KEY, USAGE, USAGE_DAY, OVERRIDE, FLAG, GUEST, HOST, SWEEP, SNAPSHOT, AUDIT, OPERATOR],
  ...[LEASE, FEED_CHECK, PAST_SNAPSHOT, LISTING_CHANGE, CHANGES_MARK, SIGNING, TRAFFIC],
  ...[DECISION, EVENT, ADDED_FEED, ASKED],
  VERDICT_DAY,
  WHEREABOUT,
];
