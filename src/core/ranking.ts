/** Which verdicts other than safe were given, and how often: the list of top domains. */

import { dayOf } from './quota.ts';
import type { Reason } from './signals.ts';
import type { Steps } from './steps.ts';
import type { Evidence, Verdict } from './verdict.ts';

export type FlagReason = Exclude<Reason, 'safe'>;

/** A verdict other than safe that was given to a key on a day (UTC, `YYYY-MM-DD`). */
export interface Flag {
  readonly day: string;
  /** The listed name where a list decided, else the name asked for. */
  readonly domain: string;
  readonly keyId: string;
  readonly listed: boolean;
  readonly reason: FlagReason;
  readonly score: number;
}

/** One domain's place: how often it was flagged, and the last verdict that was given. */
export interface Ranked {
  readonly domain: string;
  readonly times: number;
  /** Whether a list decided it, for one key at least. */
  readonly listed: boolean;
  readonly reason: FlagReason;
  readonly score: number;
  /** When that was (UTC, `YYYY-MM-DD`). */
  readonly lastDay: string;
}

export interface TopDomain {
  readonly domain: string;
  readonly riskScore: number;
  readonly reason: FlagReason;
  /** How often it was flagged here in the last 30 days; 0 where only lists name it. */
  readonly flags: number;
}

/**
 * How many rows of flags a store keeps: a hundred times the longest list. Beyond it those of one name and a past day
 * become one, so that what many keys meet every day is counted however many they are; then the least counted names go,
 * since those are the ones that a flood of made-up names brings.
 */
export const MOST_FLAGS = 100_000;

/** The longest list that anybody can ask for. */
export const MOST_TOP = 1_000;

/** Put in their order in one go: 0.1 ms. */
const PORTION = 100;
/** So many are judged at once: right behind an update, of which nothing was read yet, 20 took 1.7 ms (2026-11-18). */
const JUDGED = 5;

export interface ListParts {
  /** The most often flagged; of two rows of one name the last one counts. */
  readonly rows: Iterable<Ranked>;
  /** What we would say of it today; undefined when it is not to be shown. */
  readonly today: (row: Ranked) => TopDomain | undefined;
  /** Names for places that traffic has not filled, the best first: as many as asked for, or fewer. */
  readonly fillers: (count: number) => readonly string[];
  readonly filler: (name: string) => TopDomain | undefined;
}

interface Placed {
  /** Its rank: times flagged, or for a filler how many better ones there are, in whose order it stays. */
  readonly place: number;
  readonly shown: TopDomain;
}

/** One list in full length, of which every caller gets the first rows. */
export class TopList {
  /** What was flagged here, then what lists name. */
  readonly rows: readonly TopDomain[];
  readonly #observed: number;

  constructor(observed: readonly Placed[], filled: readonly Placed[]) {
    this.#observed = observed.length;
    this.rows = Object.freeze([...observed, ...filled].map(({ shown }) => shown));
  }

  /** How many rows whoever asks for so many gets; `isObserved` leaves out what only lists name. */
  length(limit: number, isObserved = false): number {
    return Math.min(limit, isObserved ? this.#observed : this.rows.length);
  }

  first(limit: number, isObserved = false): readonly TopDomain[] {
    return this.rows.slice(0, this.length(limit, isObserved));
  }
}

export function* makingList(parts: ListParts): Steps<TopList> {
  const rows = new Map<string, Ranked>();
  let read = 0;
  for (const row of parts.rows) {
    rows.set(row.domain, row);
    if (++read % PORTION === 0) yield;
  }
  const observed = yield* sorting(judging(rows.values(), parts.today), byTimes);
  const present = new Set(observed.map(({ shown }) => shown.domain));
  const wanted = MOST_TOP - present.size;
  yield;
  const names = wanted > 0 ? parts.fillers(present.size + 2 * wanted) : [];
  yield;
  const filled = yield* sorting(filling(names, present, wanted, parts.filler), byPlace);
  return new TopList(observed, filled);
}

/** What DNS said counts for so long when it cannot be asked (RFC 8767): an older verdict may have been right then only. */
const STANDS_MS = 72 * 3_600_000;

/** A verdict without a question to DNS. */
interface Judged {
  readonly verdict: Verdict;
  readonly evidence: Evidence;
}

/** What we would say today; the verdict that was given lately stands in where DNS has not been asked since. */
export function todayOf(
  row: Ranked,
  { verdict, evidence }: Judged,
  isProtected: boolean,
  now: number,
): TopDomain | undefined {
  const { domain } = row;
  if (isProtected && evidence.override === undefined) return undefined;
  const flags = row.times;
  if (verdict.reason !== 'safe')
    return { domain, riskScore: verdict.riskScore, reason: verdict.reason, flags };
  const asked = evidence.mail.state !== 'unknown' && evidence.mail.state !== 'not_asked';
  const cleared = asked || row.listed || evidence.wellKnown || evidence.override !== undefined;
  if (cleared || row.lastDay < dayOf(now - STANDS_MS)) return undefined;
  return { domain, riskScore: row.score, reason: row.reason, flags };
}

/** From the lists alone; DNS was asked for none of these. */
export function fillerOf(domain: string, { verdict }: Judged): TopDomain | undefined {
  if (verdict.reason !== 'disposable') return undefined;
  return { domain, riskScore: verdict.riskScore, reason: verdict.reason, flags: 0 };
}

/** Something for the list, or undefined where a name is not to be shown. */
type Found = Placed | undefined;

function* judging(rows: Iterable<Ranked>, today: ListParts['today']): Generator<Found> {
  for (const row of rows) {
    const shown = today(row);
    yield shown && { place: row.times, shown };
  }
}

function* filling(
  names: readonly string[],
  present: ReadonlySet<string>,
  wanted: number,
  filler: ListParts['filler'],
): Generator<Found> {
  let place = 0;
  for (const name of names) {
    if (place === wanted) return;
    const shown = present.has(name) ? undefined : filler(name);
    yield shown && { place: place++, shown };
  }
}

/** The first of them in order, portion by portion: 5,000 at once would hold the event loop for 3 to 5 ms (2026-11-15). */
function* sorting(all: Iterable<Found>, order: (a: Placed, b: Placed) => number): Steps<Placed[]> {
  let first: Placed[] = [];
  let portion: Placed[] = [];
  let seen = 0;
  for (const one of all) {
    if (one) portion.push(one);
    if (++seen % JUDGED === 0) yield;
    if (portion.length < PORTION) continue;
    first = first.concat(portion).sort(order).slice(0, MOST_TOP);
    portion = [];
  }
  return first.concat(portion).sort(order).slice(0, MOST_TOP);
}

function byTimes(a: Placed, b: Placed): number {
  return b.place - a.place || byScore(a, b);
}

const byPlace = (a: Placed, b: Placed) => a.place - b.place;

function byScore({ shown: a }: Placed, { shown: b }: Placed): number {
  return b.riskScore - a.riskScore || (a.domain < b.domain ? -1 : 1);
}
