/** What the store and the resolver show → events → each told once, by one server of all. Never in the way of calls. */

import { EVENT_KINDS, type Event, type EventKind, eventsIn, type Seen } from './core/event.ts';
import type { Clock, ResolverHealth, Store } from './core/ports.ts';
import { dayOf, monthOf } from './core/quota.ts';

const LOOK_MS = 60_000;
/** What lasts for longer is told of again. */
const KEPT_MS = 90 * 86_400_000;
/** Of the newest acts of the audit: a backup that failed is tried, and fails, again each hour. */
const ACTS = 100;

interface Parts {
  readonly store: Pick<Store, 'raiseEvent' | 'listKeys' | 'usedInMonth' | 'feedChecks' | 'audit'>;
  readonly clock: Clock;
  readonly health: () => ResolverHealth | Promise<ResolverHealth>;
  readonly isUsed: (feed: string) => boolean;
  /** Undefined where none are made by schedule. */
  readonly backups: { readonly folder: string; lastGood(): number } | undefined;
  /** Of one that nobody has raised before. */
  readonly tell: (event: Event, at: number) => void;
}

export interface Raising {
  /** Never rejects: of a store that is away others tell. */
  look(): Promise<void>;
  close(): void;
}

/** How many were raised, by kind, for the metrics. */
export class RaisedCounts {
  readonly #counts = new Map<EventKind, number>(EVENT_KINDS.map(kind => [kind, 0]));

  count(kind: EventKind): void {
    this.#counts.set(kind, this.#counts.get(kind)! + 1);
  }

  readonly all = () => [...this.#counts];
}

export function createRaise({ store, clock, health, isUsed, backups, tell }: Parts): Raising {
  let distrustedSince = new Map<string, string>();

  async function see(): Promise<Seen> {
    const now = clock();
    const { servers } = await health();
    const distrusted = servers.filter(({ problem }) => problem !== null);
    distrustedSince = new Map(
      distrusted.map(({ address }) => [address, distrustedSince.get(address) ?? dayOf(now)]),
    );
    const checks = (await store.feedChecks()).filter(({ feed }) => isUsed(feed));
    const used = await store.usedInMonth(monthOf(now).name);
    const backup = await failedBackup();
    return { now, servers, distrustedSince, checks, used, backup, keys: await store.listKeys() };
  }

  /** By the audit, in which every one stands that failed. */
  async function failedBackup(): Promise<Seen['backup']> {
    if (!backups) return undefined;
    const { folder } = backups;
    const lastGood = backups.lastGood();
    const failed = (await store.audit(ACTS)).find(
      ({ action, subject, at }) => action === 'backup.fail' && subject === folder && at > lastGood,
    );
    return failed && { folder, lastGood, problem: failed.detail ?? 'unknown' };
  }

  async function raiseAll(): Promise<void> {
    const seen = await see();
    for (const event of eventsIn(seen)) {
      const { id, kind, subject } = event;
      const isNew = await store.raiseEvent({ id, kind, subject, at: seen.now }, seen.now - KEPT_MS);
      if (isNew) tell(event, seen.now);
    }
  }

  let looking: Promise<void> | undefined;
  function look(): Promise<void> {
    looking ??= raiseAll()
      .catch(() => {})
      .finally(() => {
        looking = undefined;
      });
    return looking;
  }

  const timer = setInterval(() => void look(), LOOK_MS).unref();
  return { look, close: () => clearInterval(timer) };
}
