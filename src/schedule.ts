/** The clock → is an update due, and nobody at it → update → when the next one is. One of all servers at a time. */

import { randomUUID } from 'node:crypto';
import { isDue, LEASE_MS, type Lease, nextDue } from './core/lease.ts';
import type { Store } from './core/ports.ts';
import type { Updated } from './update.ts';

export const PERIODS = { hourly: 3_600_000, daily: 86_400_000 } as const;

const NAME = 'feeds';
/** The start comes first, and servers that start together do not all look at once. */
const FIRST_MS = 15_000;
const LOOK_MS = 60_000;
const RENEW_MS = 30_000;
/** A part of the period, after which it is tried again where not one list could be read. */
const SOONER = 4;

export interface ScheduleParts {
  readonly store: Pick<Store, 'lease' | 'swapLease'>;
  readonly everyMs: number;
  /** Must not hold the event loop; gives up when it is told to. */
  readonly update: (stop: AbortSignal) => Promise<readonly Updated[]>;
  readonly tell: {
    updated(done: readonly Updated[]): void;
    failed(error: unknown): void;
  };
  /** One for all servers: each by its own would take the lease from another that is at work. */
  readonly clock: () => number | Promise<number>;
  /** From 0 to 1. */
  readonly chance?: () => number;
  readonly firstMs?: number;
  readonly lookMs?: number;
  readonly renewMs?: number;
}

export interface Schedule {
  /** What is under way is given up, for the next server to begin anew. */
  close(): Promise<void>;
}

export function scheduleUpdates(parts: ScheduleParts): Schedule {
  const { tell, chance = Math.random, firstMs = FIRST_MS, lookMs = LOOK_MS } = parts;
  const stop = new AbortController();
  let looking = Promise.resolve();
  let timer: NodeJS.Timeout;
  const lookIn = (ms: number) => {
    timer = setTimeout(() => {
      looking = look(parts, chance, stop.signal)
        .catch(error => {
          if (!stop.signal.aborted) tell.failed(error);
        })
        .then(() => {
          if (!stop.signal.aborted) lookIn(jittered(lookMs, chance));
        });
    }, ms).unref();
  };
  lookIn(jittered(firstMs, chance));
  return {
    async close() {
      clearTimeout(timer);
      stop.abort();
      await looking;
    },
  };
}

/** Against one who renews it at the same moment. */
const MOST_TRIES = 5;

/** An operator waits for the next update: who looks next begins, after the one that is under way. */
export async function hasten(store: ScheduleParts['store']): Promise<void> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const was = await store.lease(NAME);
    if (!was || (await store.swapLease({ ...was, dueAt: 0 }, was))) return;
  }
}

/** Up to twice as long. */
const jittered = (ms: number, chance: () => number) => ms * (1 + chance());

async function look(parts: ScheduleParts, chance: () => number, closing: AbortSignal): Promise<void> {
  const { store, everyMs, clock, update, tell } = parts;
  const was = await store.lease(NAME);
  const now = await clock();
  if (closing.aborted || !isDue(was, now, everyMs)) return;
  const mine = { name: NAME, holder: randomUUID(), until: now + LEASE_MS, dueAt: now };
  if (!(await store.swapLease(mine, was))) return;
  const held = holdLease(parts, mine);
  const stop = AbortSignal.any([closing, held.lost]);
  // At once, while the store is still there: whoever comes next need not wait until it has run out.
  const giveUp = () => void held.end(0).catch(() => {});
  closing.addEventListener('abort', giveUp);
  let dueAt = nextDue(now, everyMs / SOONER, chance());
  try {
    const done = await update(stop);
    if (done.some(({ after }) => after !== null)) dueAt = nextDue(await clock(), everyMs, chance());
    tell.updated(done);
  } finally {
    closing.removeEventListener('abort', giveUp);
    await held.end(dueAt);
  }
}

export interface Held {
  /** Another has taken it over: this server was stopped for too long. */
  readonly lost: AbortSignal;
  end(dueAt: number): Promise<void>;
}

/** Renews it until it is ended. */
export function holdLease(
  { store, clock, renewMs = RENEW_MS }: Pick<ScheduleParts, 'store' | 'clock' | 'renewMs'>,
  first: Lease,
): Held {
  const lost = new AbortController();
  let lease = first;
  let hasEnded = false;
  let writing = Promise.resolve();
  /** `due`: when it is due by what is written now, where somebody hastened it. */
  const swap = async (next: (due: number | undefined) => Lease | Promise<Lease>) => {
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const wanted = await next(lease.dueAt === first.dueAt ? undefined : lease.dueAt);
      if (await store.swapLease(wanted, lease)) {
        lease = wanted;
        return;
      }
      const now = await store.lease(first.name);
      if (now?.holder !== first.holder) break;
      lease = now;
    }
    lost.abort();
  };
  const renew = () => {
    // A store that does not answer now may do so before it has run out.
    writing = writing
      .then(() => swap(async () => ({ ...lease, until: (await clock()) + LEASE_MS })))
      .catch(() => {});
  };
  const renewing = setInterval(renew, renewMs).unref();
  return {
    lost: lost.signal,
    async end(dueAt) {
      clearInterval(renewing);
      if (hasEnded) return;
      hasEnded = true;
      await writing.then(() => swap((due = dueAt) => ({ ...lease, holder: null, until: 0, dueAt: due })));
    },
  };
}
