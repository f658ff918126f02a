/**
 * Whose mail a host receives, and how much that tells about the host. Needs no public suffix list, so that the store's
 * threads load none.
 */

import type { Family } from './feed.ts';

export const LEARNING = Object.freeze({
  /**
   * A host, a domain of hosts or an address with this sum or more serves disposable domains: three listed guests, and
   * fifteen others at most. Where 26 % of the names are listed, nine in ten hosts have no more when the third is.
   */
  learnedAt: 2.1,
  /**
   * The same for a domain's own hosts, which are judged by their address. Customers of shared hosting have hosts of
   * their own too, at one address, so there may be eight others, which is the mean.
   */
  ownLearnedAt: 2.5,
  /**
   * Where fewer than one in so many that were seen are listed, a host that was learned is a warning: a hoster may have a
   * disposable service among customers who are looked up once in months. Where 74 % of an operator's names are unlisted
   * one in four is; of real disposable names hidden so, one in a thousand is missed by it (2026-11-17).
   */
  listedToOne: 5,
  /**
   * What sweeps find and nothing else speaks for weighs so much at most, which is not enough, and no more than what does:
   * the names may have been registered and pointed there for whoever sweeps next.
   */
  unwitnessedMost: 2,
  /** So many hosts below one domain, all at learned addresses, tell where one is that nobody has asked for yet. */
  fewestBeside: 3,
  /** What has fewer listed guests cannot come to any such sum, and is not read. */
  fewestFlagged: 2,
  /** Listed names below one registrable domain that speak against it. */
  fewestSiblings: 2,
  /**
   * A guest that was not seen for so long is forgotten, and with it what was learned from it; so is that a host must not be
   * learned, where nobody was seen there for so long who says so: one look at one popular name must not spare it for good.
   */
  keptDays: 90,
  /**
   * Of each kind and host: more tell nothing new, save innocent ones beside many that are listed. Of listed ones no more are
   * taken. Innocent ones beyond that go first from a full store: while none was taken, of a hoster with more customers the
   * others were never established (2026-11-18).
   */
  mostGuests: 1_000,
  /**
   * So many innocent guests are kept for each listed one: seventeen weigh as much as one that weighs most. With a thousand
   * at most, a hoster of which more than sixty listed ones were seen was learned, whoever else it serves.
   */
  innocentsToOne: 20,
  /** Exchanges of one domain and addresses of one host that are looked at: nobody may fill the store with one name. */
  mostExchanges: 4,
  /** The same where more exchanges decide, since one that was not learned spares all. */
  mostDeciding: 20,
  mostAddresses: 4,
  /**
   * Guests of all hosts together that a store keeps, about one for each listed name. Which go first: store/guests.ts.
   */
  mostGuestsInAll: 200_000,
  /** So many of them are who is established, and stay. With all, one key had what was learned forgotten after a month. */
  mostEstablished: 50_000,
  /**
   * Host names, domains of hosts and addresses at which one domain is a guest: four exchanges have 28. To fill a store, or
   * what is read of it, thousands of domains would have to be paid for.
   */
  mostHostsOfOne: 40,
  /**
   * The same of all registered names below a suffix that many share, each of which has as many as one. With one's worth for
   * all, twenty names below one of them kept everybody else there from being established (2026-11-18).
   */
  mostHostsOfSuffix: 1_000,
  /**
   * Hosts that are only remembered because they must not be learned: those of protected names, of providers and of
   * the panel, which are all tables and lists of ours. One forgotten is seen again with its next guest.
   */
  mostShared: 150_000,
  /** How many listed neighbours of a host are shown in one answer. */
  neighbours: 50,
});

export const MONTH_DAYS = 30;
/** What the first sweep finds counts as so old: it was there before anybody could know of this service. */
export const WEEK_DAYS = 7;
/** A listed name that received no mail at a sweep counts so much later: somebody may have registered it since. */
export const REVIVED_DAYS = 60;
/** An unlisted guest seen on so many days or more, over a month, is established. */
export const ESTABLISHED_DAYS = 3;
/**
 * A listed one is there to stay that was seen on so many, over a month. With its first and last day alone, whoever has
 * listed names in use framed another hoster every day, and lost two days' mail for each (2026-11-17).
 */
export const STAYING_DAYS = 4;
/**
 * A name may stand in a public list for so long before an update brings it here. Whoever registers a dead one in that
 * time has it seen here as unlisted: only what was seen earlier was here before anybody listed it.
 */
export const UPDATE_LAG_DAYS = 7;
/** Keys are counted by a mark each, of so many: enough to tell a few apart, too few to tell who asked. */
export const MARKS = 16;

/** A domain whose mail a host receives. */
export interface Guest {
  /**
   * A host name, an address, `*.` and a registrable domain for all hosts below it, or `own@` and an address for hosts
   * that receive for their own domain only.
   */
  readonly host: string;
  /**
   * The domain as registered (core/zone.ts): names below it cost nothing, so they count once together. With `*.` before it
   * for those below it that lists name one by one, or that are anybody's: they count once too, apart from the others.
   */
  readonly domain: string;
  /** The name that stands in a disposable feed; null for an innocent guest. */
  readonly entry: string | null;
  /** Last seen (UTC, `YYYY-MM-DD`). */
  readonly day: string;
  /**
   * Since when it counts as a guest: first seen, or earlier for what the first sweep finds, or later for what came back to
   * life. Stays as it was first.
   */
  readonly sinceDay: string | null;
  /** On how many days it was seen. */
  readonly days: number | null;
  /** How it was seen first; only 0 becomes 1. */
  readonly swept: Swept | null;
  /** Marks of the keys that asked for it, as bits; of listed guests only, so that no lookup of another name is kept. */
  readonly keys: number | null;
  readonly corroborated: boolean | null;
  /** Seen here unlisted by this day, it was here before any list could name it; null for an innocent guest. */
  readonly earnedBy: string | null;
  /** It was. The store finds that. */
  readonly earned: boolean | null;
  /**
   * At an address: the registrable domain of the host by which it came there; empty where that is its own. Stays as it was
   * first.
   */
  readonly via: string | null;
  /**
   * A listed one was seen on this day where this host is not, after it was here or on the day itself: what was no month here
   * by then, or not listed for one, begins anew. The store finds that.
   */
  readonly elsewhereDay: string | null;
  /**
   * Of a listed one that was here unlisted before: since which day and on how many, parted by a space. It has that again when
   * lists withdraw it. The store finds that.
   */
  readonly beforeListed: string | null;
  /**
   * Where `domain` is a suffix that many share: the registered name below it by which it came. Stays as it was first, of
   * listed ones until another takes its place (store/guests.ts). Else `*.` and the domain where an unlisted one came by names
   * below it alone: these have rows of their own, so that they cannot fill its own.
   */
  readonly registered: string | null;
}

/** A listed domain that was seen on a day, on hosts that may be learned or not. */
export interface SeenListed extends Pick<Guest, 'domain' | 'registered' | 'day'> {
  /** Names and addresses under which its hosts are learned: of those that it had each time that it was looked at. */
  readonly at: readonly string[];
}

/** 0: callers have seen it. 1: a sweep has. 2: callers have, and lists that were fresh did not name it. */
export type Swept = 0 | 1 | 2;

/** Guests of one host that weigh the same, and how many they are. */
export interface GuestGroup {
  readonly listed: boolean;
  readonly corroborated: boolean;
  /** Two families name it, but not yet for a month of its stay: before that it was there as an innocent. By today's lists. */
  readonly lately?: true;
  readonly earned: boolean;
  readonly swept: Swept;
  readonly keys: number;
  readonly sinceDay: string;
  /** When listed ones were last seen; empty for others. */
  readonly lastDay: string;
  /** Up to `STAYING_DAYS` of listed ones, and `ESTABLISHED_DAYS` of others. */
  readonly days: number;
  /** Empty too where nobody knows, and for hosts that are no addresses. */
  readonly via: string;
  readonly count: number;
  /**
   * The names in the lists of those that are listed, with spaces between: one text, since a store gives thousands. Of
   * unlisted ones that were seen on `ESTABLISHED_DAYS` their own, by which each is spared itself, and which nobody else is
   * shown.
   */
  readonly entries: string;
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

/** By today's lists and tables. */
export interface JudgedHost extends HostRecord {
  /** Its name goes to the next tenant as its address does. */
  readonly isRented?: boolean;
}

/** How hosts that receive for their own domain only are called, which say nothing by their names. */
export const ownAt = (address: string) => `own@${address}`;
export const isOwnHosts = (name: string) => name.startsWith(ownAt(''));

/** One guest that was seen twice. As the stores do it with what they have. */
export function seenAgain(before: Guest, guest: Guest): Guest {
  return {
    ...guest,
    day: before.day > guest.day ? before.day : guest.day,
    sinceDay: before.sinceDay! < guest.sinceDay! ? before.sinceDay : guest.sinceDay,
    swept: before.swept === 0 && guest.swept === 1 ? 1 : before.swept,
    keys: guest.keys === null ? null : guest.keys | (before.keys ?? 0),
    via: before.via ?? guest.via,
    registered: cameBy(before.registered, guest.registered),
  };
}

/** Names below a domain give way to the domain itself. */
function cameBy(before: string | null, now: string | null): string | null {
  if (before?.startsWith('*.')) return now;
  return now?.startsWith('*.') ? before : (before ?? now);
}

/** Enough to speak against others. */
export function isByTwoFamilies(families: ReadonlySet<Family>): boolean {
  return families.size > 1;
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
