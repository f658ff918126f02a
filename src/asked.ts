/** What callers ask → a sample of each day, by which updates are tried out before they count. */

import { randomUUID } from 'node:crypto';
import { KEPT_DAYS, MOST_NAMES, ORDERS, orderOf } from './core/asked.ts';
import type { Domain } from './core/domain.ts';
import type { Clock, Store } from './core/ports.ts';
import { lastDays } from './core/quota.ts';
import type { Steps } from './core/steps.ts';
import type { Lookup } from './lookup.ts';

/** Once an hour, and when it ends: a day's names come together, and one that is killed loses little. */
const EVERY_MS = 3_600_000;
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
  /** Names that are remembered because somebody asked for them. */
  readonly resolver: { recent(most: number): Steps<readonly string[]> };
  readonly lookup: Pick<Lookup, 'last'>;
  readonly clock: Clock;
  readonly inTurns: <T>(steps: Steps<T>) => Promise<T>;
  readonly onError: (error: unknown) => void;
}): Sampling {
  const { store, resolver, lookup, clock, inTurns, onError } = parts;
  const server = randomUUID();

  /** What nobody knows the mail of tells nothing about what a list would change. */
  function* sampling(): Steps<string> {
    const sample = Array.from({ length: ORDERS }, () => '');
    const names = yield* resolver.recent(MOST_NAMES);
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
    const days = lastDays(clock(), KEPT_DAYS);
    const names = await inTurns(sampling());
    if (names !== '') await store.keepAsked({ day: days.at(-1)!, server, names }, days[0]!);
  }

  const timer = setInterval(() => void keep().catch(onError), EVERY_MS).unref();
  return {
    keep,
    close() {
      clearInterval(timer);
      return keep().catch(onError);
    },
  };
}
