/** VERB 4: flags → ranking → top domains. Remembers verdicts off the hot path and lists the most often flagged. */

import { setTimeout as pause } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Domain } from './core/domain.ts';
import type { Clock, Store } from './core/ports.ts';
import { dayOf, lastDays, WINDOW_DAYS } from './core/quota.ts';
import type { Flag, FlagReason, Ranked } from './core/ranking.ts';
import type { Answer } from './lookup.ts';

export interface TopDomain {
  readonly domain: string;
  readonly riskScore: number;
  readonly reason: FlagReason;
}

export interface Rank {
  /** Costs a map entry; the store hears of it within a second. */
  note(answer: Answer, keyId: string): void;
  top(limit: number, reason: FlagReason | undefined): Promise<TopDomain[]>;
  /** Writes what is still pending. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

const FLUSH_MS = 1_000;
/** Beyond this many new flags within a second the rest is dropped: the store must stay free to count. */
const MOST_PENDING = 5_000;
/** More than the longest list, because some candidates will have been cleared since. */
const CANDIDATES = 5_000;
const STANDING_MS = 1_000;
const FRESH_MS = 300;

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
  onError: (error: unknown) => void;
}): Rank {
  const { store, clock, last, mostAgreed, isProtected, revision, generation, onError } = parts;
  /** Key and domain to the day on which they were noted. */
  const noted = new LRUCache<string, string>({ max: 50_000 });
  const standings = new LRUCache<string, Promise<readonly Ranked[]>>({ max: 8, ttl: STANDING_MS });
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

  /** All that come while one is under way share the next. */
  function flush(): Promise<void> {
    next ??= writing.then(() => {
      next = undefined;
      writing = write();
      return writing;
    });
    return next;
  }
  const timer = setInterval(flush, FLUSH_MS);
  timer.unref();

  /** A name that was flagged for another reason than today's is found among the most flagged of all reasons. */
  async function candidatesFor(reason: FlagReason | undefined): Promise<Ranked[]> {
    const all = await ranked(undefined);
    if (reason === undefined) return all;
    const rows = new Map([...(await ranked(reason)), ...all].map(row => [row.domain, row]));
    return [...rows.values()];
  }

  async function ranked(reason: FlagReason | undefined): Promise<Ranked[]> {
    // A caller does not wait for a store that is slow to write; the flags of the last second may be missing then.
    await Promise.race([flush(), pause(FRESH_MS, undefined, { ref: false })]);
    return store.ranking(sinceDay(), CANDIDATES, reason);
  }

  /** What we would say today; the verdict that was given stands in where DNS has not been asked since. */
  function today(row: Ranked): TopDomain | undefined {
    const { verdict, evidence } = last(row.domain as Domain);
    if (isProtected(row.domain) && evidence.override === undefined) return undefined;
    if (verdict.reason !== 'safe') {
      return { domain: row.domain, riskScore: verdict.riskScore, reason: verdict.reason };
    }
    const asked = evidence.mail.state !== 'unknown' && evidence.mail.state !== 'not_asked';
    const cleared = asked || row.listed || evidence.wellKnown || evidence.override !== undefined;
    if (cleared) return undefined;
    return { domain: row.domain, riskScore: row.score, reason: row.reason };
  }

  /** Judging thousands of candidates takes tens of milliseconds, so their order stands for a second, or until a change. */
  function standing(reason: FlagReason | undefined): Promise<readonly Ranked[]> {
    const name = `${generation()} ${revision()} ${reason ?? ''}`;
    const before = standings.get(name);
    if (before) return before;
    const order = candidatesFor(reason).then(inOrder);
    standings.set(name, order);
    order.catch(() => standings.delete(name));
    return order;
  }

  function inOrder(rows: readonly Ranked[]): Ranked[] {
    const list = rows.flatMap(row => {
      const shown = today(row);
      return shown ? [{ row, shown }] : [];
    });
    return list.sort((a, b) => b.row.times - a.row.times || byScore(a.shown, b.shown)).map(({ row }) => row);
  }

  /** What is shown is judged now, all the same. */
  function shownOf(rows: readonly Ranked[], limit: number, reason: FlagReason | undefined): TopDomain[] {
    const top: TopDomain[] = [];
    for (const row of rows) {
      if (top.length === limit) break;
      const shown = today(row);
      if (shown && (reason === undefined || shown.reason === reason)) top.push(shown);
    }
    return top;
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
      let from: string;
      let order: readonly Ranked[];
      do {
        from = generation();
        order = await standing(reason);
      } while (from !== generation());
      const top = shownOf(order, limit, reason);
      const wanted = reason === undefined || reason === 'disposable' ? limit - top.length : 0;
      return wanted > 0 ? top.concat(filling(top, wanted)) : top;
    },
    flush,
    async close() {
      clearInterval(timer);
      await flush();
    },
  };

  function filling(top: readonly TopDomain[], wanted: number): TopDomain[] {
    const present = new Set(top.map(row => row.domain));
    const rows: TopDomain[] = [];
    for (const domain of mostAgreed(present.size + 2 * wanted)) {
      if (rows.length === wanted) break;
      const { verdict } = last(domain as Domain);
      if (present.has(domain) || verdict.reason !== 'disposable') continue;
      rows.push({ domain, riskScore: verdict.riskScore, reason: verdict.reason });
    }
    return rows.sort(byScore);
  }
}

function byScore(a: TopDomain, b: TopDomain): number {
  return b.riskScore - a.riskScore || (a.domain < b.domain ? -1 : 1);
}
