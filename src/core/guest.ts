/**
 * Whose mail a host receives, and how much that tells about the host. Needs no public suffix list, so that the store's
 * threads load none.
 */

import type { Family } from './feed.ts';

export const LEARNING = Object.freeze({
  /** A host, a domain of hosts or an address with this sum or more serves disposable domains. */
  learnedAt: 2.5,
  /**
   * The same for a domain's own hosts, which are judged by their address. Customers of shared hosting have hosts of
   * their own too, at one address, so it takes a guest more.
   */
  ownLearnedAt: 3,
  /**
   * What sweeps find and no independent key asks for weighs so much at most, which is not enough: the names may have been
   * registered and pointed there for whoever sweeps next.
   */
  unwitnessedMost: 2,
  /** What has fewer listed guests cannot come to any such sum, and is not read. */
  fewestFlagged: 2,
  /** Listed names below one registrable domain that speak against it. */
  fewestSiblings: 2,
  /** A guest that was not seen for so long is forgotten, and with it what was learned from it. */
  keptDays: 90,
  /** Of each kind and host: more tell nothing new. */
  mostGuests: 1_000,
  /** Exchanges of one domain and addresses of one host that are looked at: nobody may fill the store with one name. */
  mostExchanges: 4,
  mostAddresses: 4,
  /**
   * Guests of all hosts together that a store keeps, about one for each listed name; the first to go are the longest
   * unseen of hosts that have no listed guest, which tell nothing.
   */
  mostGuestsInAll: 200_000,
  /**
   * Hosts that are only remembered because they must not be learned: those of protected names, of providers and of
   * the panel, which are all tables and lists of ours. One forgotten is seen again with its next guest.
   */
  mostShared: 150_000,
  /** How many listed neighbours of a host are kept at hand, and shown in one answer. */
  neighbours: 50,
});

const MONTH_DAYS = 30;
/** What the first sweep finds counts as so old: it was there before anybody could know of this service. */
export const WEEK_DAYS = 7;
/** An unlisted guest seen on so many days or more, over a month, is established. */
export const ESTABLISHED_DAYS = 3;
/** So many keys may be one party's: it takes little to sign up at three services that ask us. */
const COLLUDING = 3;
/** Keys are counted by a mark each, of so many: enough to tell a few apart, too few to tell who asked. */
const MARKS = 16;

/**
 * Every rule by which a guest is weighed, with its weight and reason. One is a listed guest that two families of feeds
 * name, that a sweep has found, and that is there to stay. The other factors multiply with it; what is below nought
 * speaks for the host.
 *
 * The scale. On the hosts of an operator whose names are as fresh as they come 26 % are listed (74 % of the newest are
 * not, November 2026); of established names about one in a thousand is. Each listed guest thus speaks
 * ln(0.26 / 0.001) = 5.6 for disposable and each unlisted one ln(0.999 / 0.74) = 0.3 against it: 1 to 0.054.
 *
 * What one party can do: register listed names that have lapsed (42 % of all) and point them at a victim's host, or move
 * names that it has. Found by sweeps, or asked for by three keys, they are never enough; those that received no mail at
 * an earlier sweep are no guests at all. What is left: whoever has names listed anew by two families of feeds and leaves
 * them at the host for weeks, or asks by four keys. It ends by itself as the innocent guests are seen, and for good with
 * `infra forget`.
 */
export const WEIGHTS = {
  corroborated: { weight: 1, why: 'two families of feeds or a verified one name it' },
  one_family: {
    weight: 0.4,
    why: 'one stranger can write one feed; together never more than the corroborated ones',
  },
  earned: {
    weight: 2,
    why: 'listed after it was seen here: no lapsed name that somebody registered and pointed here',
  },
  month: {
    weight: 1,
    why: `there for ${MONTH_DAYS} days: whoever points names elsewhere to do harm goes without them`,
  },
  week: { weight: 0.5, why: `there for ${WEEK_DAYS} days, or from before the first sweep` },
  fresh: { weight: 0.05, why: 'pointed here since days: that costs nothing and is soon undone' },
  newly_listed: {
    weight: 1,
    why: 'listed since the last whole sweep: no lapsed name, its owner is who got it listed',
  },
  swept: { weight: 1, why: `found by a sweep; all such together ${LEARNING.unwitnessedMost} at most` },
  many_keys: {
    weight: 1,
    why: `asked for by a key other than the ${COLLUDING} that ask for most guests here`,
  },
  few_keys: {
    weight: 0,
    why: 'whoever holds a key, or fills in a form of one who does, can ask for anything',
  },
  innocent: { weight: -0.06, why: 'unlisted: 0.054 by the shares above' },
  established: {
    weight: -0.12,
    why: `unlisted, and asked for on ${ESTABLISHED_DAYS} days or more over a month: most disposable names are used once`,
  },
} as const satisfies Record<string, { readonly weight: number; readonly why: string }>;

/** A domain whose mail a host receives. */
export interface Guest {
  /**
   * A host name, an address, `*.` and a registrable domain for all hosts below it, or `own@` and an address for hosts
   * that receive for their own domain only.
   */
  readonly host: string;
  /** The ICANN-registrable domain: names below it cost nothing, so they count once together. */
  readonly domain: string;
  /** The name that stands in a disposable feed; null for an innocent guest. */
  readonly entry: string | null;
  /** Last seen (UTC, `YYYY-MM-DD`). */
  readonly day: string;
  /** Since when it counts as a guest: first seen, or earlier for what the first sweep finds. Stays as it was first. */
  readonly sinceDay: string | null;
  /** On how many days it was seen. */
  readonly days: number | null;
  /** What sweeps knew of it when it was first seen; only 0 becomes 1. */
  readonly swept: Swept | null;
  /** Marks of the keys that asked for it, as bits; of listed guests only, so that no lookup of another name is kept. */
  readonly keys: number | null;
  readonly corroborated: boolean | null;
  /** It was here before it was listed. The store finds that. */
  readonly earned: boolean | null;
}

/** 0: callers have seen it. 1: a sweep has. 2: it was listed, or seen here unlisted, after a whole sweep was done. */
export type Swept = 0 | 1 | 2;

/** Guests of one host that weigh the same, and how many they are. */
export interface GuestGroup {
  readonly listed: boolean;
  readonly corroborated: boolean;
  readonly earned: boolean;
  readonly swept: Swept;
  readonly keys: number;
  readonly sinceDay: string;
  /** Up to `ESTABLISHED_DAYS`. */
  readonly days: number;
  readonly count: number;
}

/** What is remembered of a host name, a domain of hosts or an address. */
export interface HostRecord {
  readonly name: string;
  readonly flagged: number;
  readonly innocent: number;
  /** It belongs to, or also answers for, somebody who is known not to be disposable. */
  readonly shared: boolean;
  /** An operator took it out: it is not learned again. */
  readonly forgotten: boolean;
  /** Some guests that are listed. Never unlisted ones: nobody's lookups may show to others. */
  readonly neighbours: readonly string[];
  readonly lastDay: string | null;
  readonly groups: readonly GuestGroup[];
}

/** One guest that was seen twice. As the stores do it with what they have. */
export function seenAgain(before: Guest, guest: Guest): Guest {
  return {
    ...guest,
    sinceDay: before.sinceDay! < guest.sinceDay! ? before.sinceDay : guest.sinceDay,
    swept: before.swept === 0 && guest.swept! > 0 ? 1 : before.swept,
    keys: guest.keys === null ? null : guest.keys | (before.keys ?? 0),
  };
}

export function isCorroborated(families: ReadonlySet<Family>): boolean {
  return families.has('verified') || families.size > 1;
}

/** The bit by which a key counts. */
export function markOf(keyId: string): number {
  return 1 << (hashOf(keyId) % MARKS);
}

/** FNV-1a, 32 bits: short, and good enough to spread names. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

const DAY_MS = 86_400_000;

/** The sum of a host on a day. `stillListed` is the share of its listed guests that today's lists still name. */
export function sumOf({ groups }: Pick<HostRecord, 'groups'>, today: string, stillListed = 1): number {
  const colluding = mostDiligent(groups);
  const all = { corroborated: 0, oneFamily: 0 };
  const witnessed = { corroborated: 0, oneFamily: 0 };
  let others = 0;
  for (const group of groups) {
    if (!group.listed) {
      others += group.count * unlistedWeight(group, today);
      continue;
    }
    const seen = seenBy(group, colluding);
    const weight = group.count * WEIGHTS[seen].weight * listedWeight(group, today);
    const family = group.corroborated ? 'corroborated' : 'oneFamily';
    all[family] += weight;
    if (seen !== 'swept') witnessed[family] += weight;
  }
  const listed = Math.min(together(all), together(witnessed) + LEARNING.unwitnessedMost);
  return stillListed * listed + others;
}

/** What one family lists never counts alone. */
function together({ corroborated, oneFamily }: { corroborated: number; oneFamily: number }): number {
  return corroborated + Math.min(oneFamily, corroborated);
}

function unlistedWeight({ sinceDay, days }: GuestGroup, today: string): number {
  const isEstablished = daysBetween(sinceDay, today) >= MONTH_DAYS && days >= ESTABLISHED_DAYS;
  return WEIGHTS[isEstablished ? 'established' : 'innocent'].weight;
}

function listedWeight({ corroborated, earned, sinceDay }: GuestGroup, today: string): number {
  const family = WEIGHTS[corroborated ? 'corroborated' : 'one_family'].weight;
  return family * WEIGHTS[ageOf(daysBetween(sinceDay, today))].weight * (earned ? WEIGHTS.earned.weight : 1);
}

function seenBy({ swept, keys }: GuestGroup, colluding: number) {
  if ((keys & ~colluding) !== 0) return 'many_keys';
  return swept === 2 ? 'newly_listed' : swept === 1 ? 'swept' : 'few_keys';
}

function daysBetween(since: string, today: string): number {
  return (Date.parse(today) - Date.parse(since)) / DAY_MS;
}

function ageOf(days: number): 'month' | 'week' | 'fresh' {
  if (days >= MONTH_DAYS) return 'month';
  return days >= WEEK_DAYS ? 'week' : 'fresh';
}

/** The marks of the keys that have asked for most listed guests of a host. */
function mostDiligent(groups: readonly GuestGroup[]): number {
  const asked = Array.from({ length: MARKS }, (_, bit) => {
    const mark = 1 << bit;
    return { mark, guests: groups.reduce((sum, { keys, count }) => sum + (keys & mark ? count : 0), 0) };
  });
  asked.sort((a, b) => b.guests - a.guests);
  return asked.slice(0, COLLUDING).reduce((marks, { mark }) => marks | mark, 0);
}
