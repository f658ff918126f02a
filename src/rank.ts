/** Flags → ranking → top domains. Remembers verdicts off the hot path and lists the most often flagged. */

import { setTimeout as pause } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Domain } from './core/domain.ts';
import type { Clock, Store } from './core/ports.ts';
import { dayOf, lastDays, WINDOW_DAYS } from './core/quota.ts';
import {
  type Flag,
  type FlagReason,
  makingList,
  type Ranked,
  type TopDomain,
  type TopList,
} from './core/ranking.ts';
import { allAtOnce, type Steps } from './core/steps.ts';
import type { Answer } from './lookup.ts';

export type { TopDomain };

export interface Rank {
  /** Costs a map entry; the store hears of it within a second. */
  note(answer: Answer, keyId: string): void;
  /** At most `limit` rows, up to a thousand. While a list stands, everybody gets the same array for the same limit. */
  top(limit: number, reason: FlagReason | undefined): Promise<readonly TopDomain[]>;
  /** Writes what is still pending. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

const FLUSH_MS = 1_000;
/** Beyond this many new flags within a second the rest is dropped: the store must stay free to count. */
const MOST_PENDING = 5_000;
/** More than the longest list, because some candidates will have been cleared since. */
const CANDIDATES = 5_000;
/** A list costs tens of milliseconds of processor time: it is made at most once a second, or when its ground changed. */
const KEPT_MS = 1_000;
/** No catalog is folded as fast as a list is made; should it ever be, the last try is made in one go. */
const MOST_TRIES = 3;
const FRESH_MS = 300;

/** What DNS said counts for so long when it cannot be asked (RFC 8767): an older verdict may have been right then only. */
const STANDS_MS = 72 * 3_600_000;

/** One list, ready or still being made. */
interface Made {
  /** Catalog and overrides that stood when it was begun. */
  readonly state: string;
  readonly begun: number;
  isReady: boolean;
  readonly list: Promise<TopList>;
}

export function createRank(parts: {
  store: Store;
  clock: Clock;
  /** Today's verdict without a question to DNS. */
  last: (domain: Domain) => Answer;
  /** Names that most feeds agree on, for places that traffic has not filled. */
  mostAgreed: (count: number) => readonly string[];
  isProtected: (name: string) => boolean;
  /** Of the overrides that verdicts are judged under. */
  revision: () => number;
  /** Of the catalog that verdicts come from. */
  generation: () => string;
  inTurns: <T>(steps: Steps<T>) => Promise<T>;
  onError: (error: unknown) => void;
}): Rank {
  const { store, clock, last, mostAgreed, isProtected, revision, generation, inTurns, onError } = parts;
  /** Key and domain to the day on which they were noted. */
  const noted = new LRUCache<string, string>({ max: 50_000 });
  const lists = new Map<FlagReason | undefined, Made>();
  /** Lists that begin when the one under way has ended. */
  const nextLists = new Map<FlagReason | undefined, Promise<TopList>>();
  let pending: Flag[] = [];
  let writing: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;
  let flushedOn = dayOf(clock());

  const sinceDay = () => lastDays(clock(), WINDOW_DAYS)[0]!;

  async function write(): Promise<void> {
    const day = dayOf(clock());
    // Once a day without a flag too: what is out of the window is to be forgotten.
    if (pending.length === 0 && flushedOn === day) return;
    const flags = pending;
    pending = [];
    try {
      await store.flag(flags, sinceDay());
      flushedOn = day;
    } catch (error) {
      pending = [...flags, ...pending].slice(0, MOST_PENDING);
      onError(error);
    }
  }

  /** All that come while one is under way share the next (request coalescing). */
  function flush(): Promise<void> {
    next ??= writing.then(() => {
      next = undefined;
      writing = write();
      return writing;
    });
    return next;
  }
  const timer = setInterval(() => {
    void flush();
    forgetLists();
  }, FLUSH_MS);
  timer.unref();

  /** A name that was flagged for another reason than today's is found among the most flagged of all reasons. */
  async function candidatesFor(reason: FlagReason | undefined): Promise<Iterable<Ranked>[]> {
    const all = await ranked(undefined);
    return reason === undefined ? [all] : [await ranked(reason), all];
  }

  async function ranked(reason: FlagReason | undefined): Promise<Iterable<Ranked>> {
    // A caller does not wait for a store that is slow to write; the flags of the last second may be missing then.
    await Promise.race([flush(), pause(FRESH_MS, undefined, { ref: false })]);
    return store.ranking(sinceDay(), CANDIDATES, reason);
  }

  /** What we would say today; the verdict that was given lately stands in where DNS has not been asked since. */
  function today(row: Ranked): TopDomain | undefined {
    const { verdict, evidence } = last(row.domain as Domain);
    if (isProtected(row.domain) && evidence.override === undefined) return undefined;
    if (verdict.reason !== 'safe') {
      return { domain: row.domain, riskScore: verdict.riskScore, reason: verdict.reason };
    }
    const asked = evidence.mail.state !== 'unknown' && evidence.mail.state !== 'not_asked';
    const cleared = asked || row.listed || evidence.wellKnown || evidence.override !== undefined;
    if (cleared || row.lastDay < dayOf(clock() - STANDS_MS)) return undefined;
    return { domain: row.domain, riskScore: row.score, reason: row.reason };
  }

  /** From the lists alone; DNS was asked for none of these. */
  function filler(name: string): TopDomain | undefined {
    const { verdict } = last(name as Domain);
    if (verdict.reason !== 'disposable') return undefined;
    return { domain: name, riskScore: verdict.riskScore, reason: verdict.reason };
  }

  async function make(reason: FlagReason | undefined): Promise<TopList> {
    const candidates = await candidatesFor(reason);
    for (let tries = 1; ; tries++) {
      const from = generation();
      const steps = makingList({
        rows: concat(candidates),
        today(row) {
          const shown = today(row);
          return reason === undefined || shown?.reason === reason ? shown : undefined;
        },
        fillers: count => (reason === undefined || reason === 'disposable' ? mostAgreed(count) : []),
        filler,
      });
      if (tries === MOST_TRIES) return allAtOnce(steps);
      const list = await inTurns(steps);
      // No list mixes two generations. An override that came meanwhile is in the next list, for whoever asks by then.
      if (from === generation()) return list;
    }
  }

  const stateNow = () => `${generation()} ${revision()}`;

  function begin(reason: FlagReason | undefined): Promise<TopList> {
    const list = make(reason);
    const made: Made = { state: stateNow(), begun: performance.now(), isReady: false, list };
    lists.set(reason, made);
    list.then(
      () => {
        made.isReady = true;
      },
      () => lists.delete(reason),
    );
    return list;
  }

  /** One at a time for each reason. All that come while one of another state is under way share the next. */
  function listOf(reason: FlagReason | undefined): Promise<TopList> {
    const made = lists.get(reason);
    const isFresh = made && (!made.isReady || performance.now() - made.begun < KEPT_MS);
    if (isFresh && made.state === stateNow()) return made.list;
    const waiting = nextLists.get(reason);
    if (waiting) return waiting;
    if (!made || made.isReady) return begin(reason);
    const next = made.list
      .catch(() => {})
      .then(() => {
        nextLists.delete(reason);
        return begin(reason);
      });
    nextLists.set(reason, next);
    return next;
  }

  /** Their names may be parts of the text of a feed that was replaced long ago. */
  function forgetLists(): void {
    for (const [reason, made] of lists) {
      if (made.isReady && performance.now() - made.begun >= KEPT_MS) lists.delete(reason);
    }
  }

  return {
    note({ flag, verdict }, keyId) {
      if (flag === undefined || verdict.reason === 'safe' || pending.length >= MOST_PENDING) return;
      const day = dayOf(clock());
      const name = `${keyId} ${flag.domain}`;
      if (noted.get(name) === day) return;
      noted.set(name, day);
      pending.push({ day, ...flag, keyId, reason: verdict.reason, score: verdict.riskScore });
    },

    async top(limit, reason) {
      return (await listOf(reason)).first(limit);
    },
    flush,
    async close() {
      clearInterval(timer);
      await flush();
    },
  };
}

function* concat<T>(parts: readonly Iterable<T>[]): Generator<T> {
  for (const part of parts) yield* part;
}
