/** What operators see of keys, overrides, mail hosts, feeds and the audit, over HTTP and with `--json` alike. */

import type { AddedFeed } from '../core/added-feed.ts';
import type { Act } from '../core/audit.ts';
import type { Catalog } from '../core/catalog.ts';
import type { Decision } from '../core/decision.ts';
import type { Dropped, FeedKind, SnapshotHead } from '../core/feed.ts';
import { type FeedCheck, type Freshness, freshnessOf } from '../core/freshness.ts';
import type { HostRecord, JudgedHost } from '../core/guest.ts';
import { type History, historyOf, type InUse, isHeld, versionBefore } from '../core/history.ts';
import type { KeyRecord } from '../core/key.ts';
import { isEnough, learnableSum } from '../core/learnable.ts';
import type { Override } from '../core/override.ts';
import { dayOf, toSecond } from '../core/quota.ts';
import { relisting } from '../core/relist.ts';
import type { Steps } from '../core/steps.ts';
import { sumOf } from '../core/weights.ts';
import { rejectedInUse } from '../core/what-if.ts';
import type { KeyUse } from '../operate.ts';

/** To the second, in UTC. */
export function shownDate(ms: number): string;
export function shownDate(ms: number | null): string | null;
export function shownDate(ms: number | null): string | null {
  return ms === null ? null : toSecond(ms);
}

/** No digest, and the secret only when it was just made. */
export function shownKey(key: KeyRecord, used: number | undefined, secret?: string) {
  return {
    id: key.id,
    ...(secret === undefined ? {} : { key: secret }),
    name: key.name,
    note: key.note,
    shown_as: `${key.prefix}…${key.last4}`,
    quota: key.quota,
    ...(used === undefined ? {} : { used }),
    rate: key.rate,
    origins: key.origins,
    networks: key.networks,
    created_at: shownDate(key.createdAt),
    expires_at: shownDate(key.expiresAt),
    revoked_at: shownDate(key.revokedAt),
    ...(key.previousUntil === null ? {} : { previous_until: shownDate(key.previousUntil) }),
  };
}

export function shownUse({ key, used, lastUsedAt }: Omit<KeyUse, 'days'>) {
  return { ...shownKey(key, used), last_used_at: shownDate(lastUsedAt) };
}

export function shownOverride({ createdAt, expiresAt, ...override }: Override) {
  const { domain, action, below, note, author } = override;
  const times = { created_at: shownDate(createdAt), expires_at: shownDate(expiresAt) };
  return { domain, action, below, note, author, ...times };
}

/** A listing of hosts shows those that are on their way too: with so many listed guests or more. */
export const FEWEST_SHOWN = 2;
export const MOST_SHOWN = 1_000;

/** Enough to look up by hand. */
const NEIGHBOURS_SHOWN = 3;

type ShownHost = ReturnType<typeof shownHost>;

/** In steps: judging a thousand hosts of a thousand guests each takes most of a second (2026-11-16). */
export function* showingHosts(
  hosts: readonly HostRecord[],
  catalog: Catalog,
  today: string,
  mostNames = NEIGHBOURS_SHOWN,
): Steps<ShownHost[]> {
  const shown: ShownHost[] = [];
  for (const host of hosts) {
    shown.push(shownHost(yield* relisting(host, catalog), catalog, today, mostNames));
    yield;
  }
  return shown;
}

/** As today's lists know its guests. */
function shownHost(host: JudgedHost, catalog: Catalog, today: string, mostNames: number) {
  return {
    host: host.name,
    state: stateOf(host, catalog, today),
    flagged: host.flagged,
    innocent: host.innocent,
    sum: Math.round(100 * sumOf(host, today)) / 100,
    last_seen: host.lastDay,
    neighbours: host.neighbours.slice(0, mostNames),
  };
}

/** In one word, what a lookup makes of it. */
function stateOf(
  host: JudgedHost,
  catalog: Catalog,
  today: string,
): 'disposable' | 'undecided' | 'shared' | 'forgotten' {
  if (host.forgotten) return 'forgotten';
  if (host.shared) return 'shared';
  return isEnough(learnableSum(host, catalog, today), host.name) ? 'disposable' : 'undecided';
}

export function shownAct({ at, who, via, action, subject, detail }: Act) {
  return { at: shownDate(at), who, via, action, subject, detail };
}

/** With the name that the key has now; null where there is no such key any more. */
export function shownDecision(
  { at, keyId, domain, score, reason, snapshot, degraded }: Decision,
  names: ReadonlyMap<string, string>,
) {
  const key = { key: keyId, key_name: names.get(keyId) ?? null };
  return { at: shownDate(at), ...key, domain, risk_score: score, reason, snapshot, degraded };
}

export function shownDropped<T extends Dropped>({ specialUse, ...others }: T) {
  return { ...others, special_use: specialUse };
}

/** What the store knows of feeds. */
export interface StoredFeeds {
  readonly checks: readonly FeedCheck[];
  readonly inUse: readonly SnapshotHead[];
  readonly past: readonly SnapshotHead[];
  readonly added: readonly Pick<AddedFeed, 'name' | 'kind'>[];
}

/** `missing`: feeds of which no version is in use: they could not be fetched, or an operator went back to none. */
export function shownFeeds(catalog: Catalog, { checks, inUse, past, added }: StoredFeeds, now: number) {
  const { generation, size, panelSize, status } = catalog;
  const versionsOf = (feed: string, updatedAt: number | null) =>
    shownVersions(historyOf(feed, inUse, past), updatedAt);
  const checkOf = new Map(checks.map(check => [check.feed, check]));
  const feeds = status.map(({ feed, version, names, updatedAt, ...rest }) => {
    const { id, kind, family, licence, origin } = feed;
    const verified = family === 'verified';
    const dropped = shownDropped(rest.dropped);
    const updated_at = shownDate(updatedAt);
    const own = feed.isOwn === true;
    const list = { feed: id, kind, family, verified, licence, origin, own };
    const check = checkOf.get(id);
    const content = { version, names, dropped, updated_at };
    const rejected_in_use = rejectedOf(catalog, check, kind, now);
    return { ...list, ...content, ...shownCheck(check, now), rejected_in_use, ...versionsOf(id, updatedAt) };
  });
  const isListed = (id: string) => status.some(({ feed }) => feed.id === id);
  const names = [...checks, ...past].map(({ feed }) => feed).concat(added.map(({ name }) => name));
  const ids = new Set(names.filter(id => !isListed(id)));
  const missing = [...ids].map(feed => {
    const check = checkOf.get(feed);
    const { triedAt = null, problem = null, waiting } = check ?? {};
    const kind = added.find(({ name }) => name === feed)?.kind;
    const rejected_in_use = rejectedOf(catalog, check, kind, now);
    const tried = { tried_at: shownDate(triedAt), problem, waiting: waiting ?? [] };
    return { feed, ...tried, rejected_in_use, ...versionsOf(feed, null) };
  });
  const freshness = shownFreshness(freshnessOf(checks, now));
  return { snapshot: generation, domains: size, panel: panelSize, freshness, feeds, missing };
}

/** Of a feed, the newest ones. */
const MOST_REJECTED = 500;
/** Of one catalog: to look through a list of 100,000 names takes 10 ms. */
const rejectedBy = new WeakMap<Catalog, Map<string, readonly string[]>>();

/** What an operator rejected and the version in use has all the same, which only commands told (2026-11-18). */
function rejectedOf(
  catalog: Catalog,
  check: FeedCheck | undefined,
  kind: FeedKind | undefined,
  now: number,
): readonly string[] {
  if (!check?.rejected) return [];
  const rejected = check.rejected.slice(-MOST_REJECTED);
  const kept = rejectedBy.get(catalog) ?? new Map<string, readonly string[]>();
  rejectedBy.set(catalog, kept);
  const key = [check.feed, kind, dayOf(now), ...rejected].join(' ');
  const found = kept.get(key) ?? rejectedInUse(catalog, { ...check, rejected }, kind, now);
  // What was decided before is not asked for again.
  if (kept.size > MOST_KEPT) kept.clear();
  kept.set(key, found);
  return found;
}
const MOST_KEPT = 100;

/** Whether there is a way back, and one forth, and from what: this server may still have the version of `updatedAt`. */
function shownVersions(history: History, updatedAt: number | null) {
  const { inUse } = history;
  const isFollowed = (inUse?.acceptedAt ?? null) === updatedAt;
  return {
    can_roll_back: versionBefore(history) !== undefined,
    held: isHeld(history),
    digest: inUse?.digest ?? null,
    next: isFollowed ? null : shownVersion(inUse ?? null),
  };
}

function shownVersion(head: SnapshotHead | null) {
  const { version = null, names = null, acceptedAt = null } = head ?? {};
  return { version, names, updated_at: shownDate(acceptedAt) };
}

export function shownInUse({ feed, version, isHeld: held }: InUse) {
  return { feed, ...shownVersion(version), held };
}

/** Nobody has looked at what was installed. */
function shownCheck(check: FeedCheck | undefined, now: number) {
  const { triedAt = null, checkedAt = null, added = 0, removed = 0, problem = null } = check ?? {};
  return {
    tried_at: shownDate(triedAt),
    checked_at: shownDate(checkedAt),
    age_seconds: checkedAt === null ? null : Math.max(0, Math.round((now - checkedAt) / 1000)),
    added,
    removed,
    problem,
    fallback: check?.fallback ?? null,
    waiting: check?.waiting ?? [],
  };
}

export function shownFreshness({ status, checkedAt, failing }: Freshness) {
  return { status, checked_at: shownDate(checkedAt), failing };
}
