/** What callers ask → a sample of each day, by which updates are tried out before they count. */

import { randomUUID } from 'node:crypto';
import { KEPT_DAYS, MOST_NAMES, ORDERS, orderOf } from './core/asked.ts';
import type { Domain } from './core/domain.ts';
import type { Clock, Store } from './core/ports.ts';
import { lastDays } from './core/quota.ts';
import type { Steps } from './core/steps.ts';
import type { Lookup } from './lookup.ts';

/** Once an hour, right before midnight, and when it ends: a day's names come together, and one that is killed loses little. */
const EVERY_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** For the sample itself. What is asked for within it counts for neither day. */
const BEFORE_MS = 2_000;

/** A name that a nightly run asks for at 23:30 is one of that day. */
const nextIn = (now: number): number => {
  const left = DAY_MS - (now % DAY_MS) - BEFORE_MS;
  return left > 0 ? Math.min(EVERY_MS, left) : EVERY_MS;
};
/** Judging one takes about 5 µs. */
const STEP = 50;

export interface Sampling {
  /** Writes what is known now. */
  keep(): Promise<void>;
  /** With what is known then. */
  close(): Promise<void>;
}

export function sampleAsked(parts: {
  readonly store: Pick<Store, 'keepAsked'>;
  /** Names that are remembered because somebody asked for them within so many milliseconds. */
  readonly resolver: { recent(most: number, ms: number): Steps<readonly string[]> };
  readonly lookup: Pick<Lookup, 'last'>;
  readonly clock: Clock;
  readonly inTurns: <T>(steps: Steps<T>) => Promise<T>;
  readonly onError: (error: unknown) => void;
}): Sampling {
  const { store, resolver, lookup, clock, inTurns, onError } = parts;
  const server = randomUUID();

  /**
   * What nobody knows the mail of tells nothing about what a list would change. A name stays known for three days: two
   * that were asked for on made it seven (2026-11-17).
   */
  function* sampling(ms: number): Steps<string> {
    const sample = Array.from({ length: ORDERS }, () => '');
    const names = yield* resolver.recent(MOST_NAMES, ms);
    for (const [at, name] of names.entries()) {
      if (at % STEP === 0) yield;
      const { verdict, degraded } = lookup.last(name as Domain);
      if (degraded) continue;
      if (verdict.reason === 'safe') sample[orderOf(name)] += `${name} `;
      if (verdict.reason === 'disposable') sample[orderOf(name)] += `!${name} `;
    }
    return sample.join('').trimEnd();
  }

  async function keep(): Promise<void> {
    const now = clock();
    const days = lastDays(now, KEPT_DAYS);
    const names = await inTurns(sampling(now % DAY_MS));
    if (names !== '') await store.keepAsked({ day: days.at(-1)!, server, names }, days[0]!);
  }

  let timer: NodeJS.Timeout;
  const wait = () => {
    timer = setTimeout(() => {
      void keep().catch(onError);
      wait();
    }, nextIn(clock())).unref();
  };
  wait();
  return {
    keep,
    close() {
      clearTimeout(timer);
      return keep().catch(onError);
    },
  };
}
