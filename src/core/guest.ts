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

/** A guest that was there for so long, or that the first sweep found, is there to stay. */
export const SETTLED_DAYS = 90;
const MONTH_DAYS = 30;
const WEEK_DAYS = 7;
/** An unlisted guest seen on so many days or more, over a month, is established. */
export const ESTABLISHED_DAYS = 3;
/** What fewer keys have asked for may be one party's work: it takes little to sign up at three services. */
export const MANY_KEYS = 4;
/** Keys are counted by a mark each, of so many: enough to tell `MANY_KEYS` apart, too few to tell who asked. */
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
 * What one party can do: register listed names that have lapsed (42 % of all) and point them at a victim's host. Before
 * the first sweep such names weigh nothing unless four keys ask for them; after it they are known to have been dead, and
 * are no guests at all. What is left: names registered and pointed there before the very first sweep, at a host that no
 * name of the panel uses and with few innocent guests asked for. It ends by itself as these are seen, and for good with
 * `infra forget`.
 */
export const WEIGHTS = {
  corroborated: { weight: 1, why: 'two families of feeds or a verified one name it' },
  one_family: { weight: 0.4, why: 'one stranger can write one feed; together never more than the corroborated ones' },
  earned: { weight: 2, why: 'listed after it was seen here: no lapsed name that somebody registered and pointed here' },
  settled: { weight: 1, why: `there for ${SETTLED_DAYS} days, or from before the first sweep` },
  month: { weight: 0.5, why: `there for ${MONTH_DAYS} days` },
  week: { weight: 0.2, why: `there for ${WEEK_DAYS} days` },
  fresh: { weight: 0.05, why: 'pointed here since days: that costs nothing and is soon undone' },
  swept: { weight: 1, why: 'a sweep found it, or found before that the name existed' },
  many_keys: { weight: 1, why: `${MANY_KEYS} keys or more have asked for it` },
  few_keys: { weight: 0, why: 'whoever holds a key, or fills in a form of one who does, can ask for anything' },
  innocent: { weight: -0.06, why: 'unlisted: 0.054 by the shares above' },
  established: {
    weight: -0.25,
    why: `unlisted, and asked for on ${ESTABLISHED_DAYS} days or more over a month: few disposable names live so long`,
  },
} as const satisfies Record<string, { readonly weight: number; readonly why: string }>;

/** A domain whose mail a host receives. */
export interface Guest {
  /** A host name, an address, or `*.` and a registrable domain for all hosts below it. */
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
  /** A sweep stands behind it: it found the name here first, or knew before that the name existed. Stays. */
  readonly swept: boolean | null;
  /** Marks of the keys that asked for it, as bits; of listed guests only, so that no lookup of another name is kept. */
  readonly keys: number | null;
  readonly corroborated: boolean | null;
  /** It was here before it was listed. The store finds that. */
  readonly earned: boolean | null;
}

/** Guests of one host that weigh the same, and how many they are. */
export interface GuestGroup {
  readonly listed: boolean;
  readonly corroborated: boolean;
  readonly earned: boolean;
  readonly swept: boolean;
  /** Nought where a sweep stands behind them. */
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
  let corroborated = 0;
  let oneFamily = 0;
  let others = 0;
  for (const group of groups) {
    const weight = group.count * weightOf(group, today);
    if (!group.listed) others += weight;
    else if (group.corroborated) corroborated += weight;
    else oneFamily += weight;
  }
  return stillListed * (corroborated + Math.min(oneFamily, corroborated)) + others;
}

function weightOf(group: GuestGroup, today: string): number {
  const age = (Date.parse(today) - Date.parse(group.sinceDay)) / DAY_MS;
  if (!group.listed) {
    const isEstablished = age >= MONTH_DAYS && group.days >= ESTABLISHED_DAYS;
    return WEIGHTS[isEstablished ? 'established' : 'innocent'].weight;
  }
  const seen = group.swept ? 'swept' : bitsIn(group.keys) >= MANY_KEYS ? 'many_keys' : 'few_keys';
  const family = group.corroborated ? 'corroborated' : 'one_family';
  const earned = group.earned ? WEIGHTS.earned.weight : 1;
  return WEIGHTS[family].weight * WEIGHTS[ageOf(age)].weight * WEIGHTS[seen].weight * earned;
}

function ageOf(days: number): 'settled' | 'month' | 'week' | 'fresh' {
  if (days >= SETTLED_DAYS) return 'settled';
  if (days >= MONTH_DAYS) return 'month';
  return days >= WEEK_DAYS ? 'week' : 'fresh';
}

function bitsIn(marks: number): number {
  let bits = 0;
  for (let rest = marks; rest !== 0; rest &= rest - 1) bits++;
  return bits;
}
