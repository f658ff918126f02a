/** What callers ask → a sample of each day, by which updates are tried out before they count. */

import { randomUUID } from 'node:crypto';
import { KEPT_DAYS, MOST_NAMES, ORDERS } from './core/asked.ts';
import { AskedSample } from './core/asked-sample.ts';
import type { Domain } from './core/domain.ts';
import type { Clock, Store } from './core/ports.ts';
import { dayOf, lastDays } from './core/quota.ts';
import { allAtOnce, type Steps } from './core/steps.ts';
import type { Answer, Lookup } from './lookup.ts';
import type { Rank } from './rank.ts';

/** Once an hour, when a day is over, and when it ends: one that is killed loses little. */
const EVERY_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** Timers may be early by a millisecond, and what comes so late is of the day before. */
const LATE_MS = 5;

const nextIn = (now: number): number => Math.min(EVERY_MS, DAY_MS - (now % DAY_MS) + LATE_MS);
/** Judging one takes about 5 µs. */
const STEP = 50;

export interface Sampling {
  /** Costs two looks in a map. By it, and not by what DNS was asked, every key is known that was answered. */
  readonly note: Rank['note'];
  /** Writes what is known now. */
  keep(): Promise<void>;
  /** With what is known then. */
  close(): Promise<void>;
}

interface Sampled {
  /** A row of its own: where a clock went a day ahead and back, the second of one day replaced the first (2026-11-18). */
  readonly server: string;
  readonly day: string;
  readonly sinceDay: string;
  readonly sample: AskedSample;
}

function begin(now: number): Sampled {
  const days = lastDays(now, KEPT_DAYS);
  const sample = new AskedSample(MOST_NAMES);
  return { server: randomUUID(), day: days.at(-1)!, sinceDay: days[0]!, sample };
}

/** Undefined for what tells nothing about what a list would change. */
function isFlagged({ verdict: { reason } }: Answer): boolean | undefined {
  return reason === 'disposable' ? true : reason === 'safe' ? false : undefined;
}

/** As the lists are now; where DNS has forgotten a name, as it was answered. */
function* writing(sample: AskedSample, lookup: Pick<Lookup, 'last'>): Steps<string> {
  const places = Array.from({ length: ORDERS }, () => '');
  for (const [at, one] of sample.all().entries()) {
    if (at % STEP === 0) yield;
    const last = lookup.last(one.name as Domain);
    if (!last.degraded) one.isFlagged = isFlagged(last);
    if (one.isFlagged !== undefined) places[one.order] += `${one.isFlagged ? '!' : ''}${one.name} `;
  }
  return places.join('').trimEnd();
}

export function sampleAsked(parts: {
  readonly store: Pick<Store, 'keepAsked'>;
  readonly lookup: Pick<Lookup, 'last'>;
  readonly clock: Clock;
  readonly inTurns: <T>(steps: Steps<T>) => Promise<T>;
  readonly onError: (error: unknown) => void;
}): Sampling {
  const { store, lookup, clock, inTurns, onError } = parts;
  let today = begin(clock());
  /** A day that is over and not written yet. */
  let over: Sampled | undefined;

  async function write({ server, day, sinceDay, sample }: Sampled, isLast: boolean): Promise<void> {
    const steps = writing(sample, lookup);
    // At the end nobody waits for an answer, and the store is waited for a moment only: two workers of 10,000 names each
    // had ended before these were judged a turn at a time (2026-11-18).
    const names = await (isLast ? allAtOnce(steps) : inTurns(steps));
    if (names !== '') await store.keepAsked({ day, server, names }, sinceDay);
  }

  async function keep(isLast = false): Promise<void> {
    const now = clock();
    if (dayOf(now) !== today.day) {
      over = today;
      today = begin(now);
    }
    const ended = over;
    if (ended) await write(ended, isLast);
    if (over === ended) over = undefined;
    await write(today, isLast);
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
    note(answer, keyId) {
      const flagged = answer.degraded ? undefined : isFlagged(answer);
      if (flagged !== undefined) today.sample.add(answer.evidence.domain, keyId, flagged);
    },
    keep: () => keep(),
    close() {
      clearTimeout(timer);
      return keep(true).catch(onError);
    },
  };
}
