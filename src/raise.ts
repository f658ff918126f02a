/** What the store and the resolver show → events → each told once, by one server of all. Never in the way of calls. */

import {
  ENDING_AT_ONCE,
  type EndingKey,
  EVENT_KINDS,
  type Event,
  type EventKind,
  endingAt,
  eventsIn,
  type Seen,
} from './core/event.ts';
import { ofFollowed } from './core/freshness.ts';
import { type Clock, type ResolverHealth, type Store, StoreUnavailable } from './core/ports.ts';
import { dayOf } from './core/quota.ts';

const LOOK_MS = 60_000;
/** What lasts for longer is told of again. */
const KEPT_MS = 90 * 86_400_000;

interface Parts {
  readonly store: Pick<Store, 'raiseEvent' | 'endingKeys' | 'feedChecks' | 'addedFeeds'>;
  readonly clock: Clock;
  readonly health: () => ResolverHealth | Promise<ResolverHealth>;
  /** Our lists that are in use. */
  readonly feeds: readonly string[];
  /** Undefined where this process makes none by schedule; `problem` is why the last one failed. */
  readonly backups:
    | {
        readonly folder: string;
        readonly status: { readonly lastGood: number; readonly problem: string | undefined };
      }
    | undefined;
  /** Of one that nobody has raised before. */
  readonly tell: (event: Event, at: number) => void;
  /** What nobody else tells of: while it lasts, nobody hears of events. */
  readonly onError: (error: unknown) => void;
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

export function createRaise(parts: Parts): Raising {
  const { store, clock, health, feeds, backups, tell, onError } = parts;
  let distrustedSince = new Map<string, string>();
  /** What the last look has seen is raised: the store is asked for nothing twice on a day. */
  let raised = { day: '', ids: new Set<string>() };

  async function see(): Promise<Seen> {
    const now = clock();
    const { servers } = await health();
    const distrusted = servers.filter(({ problem }) => problem !== null);
    distrustedSince = new Map(
      distrusted.map(({ address }) => [address, distrustedSince.get(address) ?? dayOf(now)]),
    );
    const all = await store.feedChecks();
    const added = await store.addedFeeds();
    const checks = ofFollowed(all, feeds, added);
    const keys = await endingKeys(store, now);
    return { now, servers, distrustedSince, checks, added, backup: failedOf(backups), keys };
  }

  async function raiseAll(): Promise<void> {
    const seen = await see();
    const events = eventsIn(seen);
    const day = dayOf(seen.now);
    for (const event of events) {
      const { id, kind, subject } = event;
      if (raised.day === day && raised.ids.has(id)) continue;
      const isNew = await store.raiseEvent({ id, kind, subject, at: seen.now }, seen.now - KEPT_MS);
      if (isNew) tell(event, seen.now);
    }
    raised = { day, ids: new Set(events.map(({ id }) => id)) };
  }

  let looking: Promise<void> | undefined;
  function look(): Promise<void> {
    looking ??= raiseAll()
      .catch((error: unknown) => {
        if (!(error instanceof StoreUnavailable)) onError(error);
      })
      .finally(() => {
        looking = undefined;
      });
    return looking;
  }

  const timer = setInterval(() => void look(), LOOK_MS).unref();
  return { look, close: () => clearInterval(timer) };
}

async function endingKeys(store: Parts['store'], now: number): Promise<EndingKey[]> {
  const all: EndingKey[] = [];
  for (let isMore = true; isMore; ) {
    const some = await store.endingKeys(endingAt(now, all.at(-1)?.key.id ?? ''));
    all.push(...some);
    isMore = some.length === ENDING_AT_ONCE;
  }
  return all;
}

function failedOf(backups: Parts['backups']): Seen['backup'] {
  if (!backups) return undefined;
  const { lastGood, problem } = backups.status;
  return problem === undefined ? undefined : { folder: backups.folder, lastGood, problem };
}
