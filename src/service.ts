/** The running service: the verbs behind a port. */

import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { createAdmit } from './admit.ts';
import { observeEvents } from './alerts.ts';
import { NO_OPERATORS, watchOperators } from './appoint.ts';
import { inTurns } from './assemble.ts';
import { type Bound, Ports } from './binding.ts';
import { followStore, type OpenedStore, openResolver } from './compose.ts';
import type { Config } from './config.ts';
import type { Catalog } from './core/catalog.ts';
import type { Clock, ResolverHealth, Store, Ticks } from './core/ports.ts';
import type { SharedBuckets } from './core/shared-rate.ts';
import type { Steps } from './core/steps.ts';
import type { DnsResolver } from './dns/resolver.ts';
import { feedsWithout } from './feeds/sources.ts';
import { type Freshening, watchFreshness } from './freshness.ts';
import { createDoors } from './http/doors.ts';
import { probeEndpoints, type Whole } from './http/endpoints/probes.ts';
import type { Together } from './http/listeners.ts';
import { createMetrics, type Metrics, type MetricValues } from './http/metrics.ts';
import { watchLoop } from './http/watchdog.ts';
import { openKept } from './kept.ts';
import type { Learn } from './learn.ts';
import {
  observeBackups,
  observeFeeds,
  observeLearned,
  observePorts,
  observeResolver,
  tellOfDns,
  tellOfFeeds,
  tellOfReadiness,
} from './observe.ts';
import type { RaisedCounts } from './raise.ts';
import type { BackupStatus } from './scheduled-backups.ts';
import { surfaceOf } from './surface.ts';
import { createMaker } from './workers/maker.ts';

export interface Service {
  readonly address: Bound;
  /** Of the listener for operators, where they have one of their own. */
  readonly operatorAddress: Bound | undefined;
  readonly store: Store;
  /** The code of a link that gives this secret away, once. */
  invite(secret: string): string;
  /** What it tells where it is one of several workers. */
  health(): ResolverHealth;
  metrics(): Promise<MetricValues[]>;
  /** Answers what was accepted, writes what is pending, closes everything; where all workers end, together with them. */
  close(together?: Together): Promise<void>;
}

interface Parts {
  readonly store: OpenedStore;
  readonly catalog: Catalog;
  readonly clock: Clock;
  /** The process's own where left out. */
  readonly ticks?: Ticks | undefined;
  /** Of events, where somebody looks for them. */
  readonly counts?: RaisedCounts | undefined;
  /** Of backups by schedule, where this process makes them. */
  readonly backups?: BackupStatus | undefined;
  /** How often to look for feed updates. */
  readonly followMs?: number | undefined;
}

/** Where it is one worker of several that are one service together. */
export interface Crew {
  readonly workers: number;
  /** Of all of them. */
  readonly buckets: SharedBuckets;
  /** Somebody else still listens there too, and tells callers to come again. */
  isStarting(): boolean;
  /** What all of them tell together. */
  readonly whole: Whole;
  /** One thread makes the next catalog for all of them. */
  follow(adopt: (next: Catalog) => Promise<void>): void;
}

/** The ports of a service that has not started: whoever asks is told to come again. */
export interface Binding {
  start(parts: Parts): Promise<Service>;
  /** Where it does not come to that. */
  close(): Promise<void>;
}

export async function startService(parts: Parts & { config: Config; log: Logger }): Promise<Service> {
  const binding = await bindService(parts);
  try {
    return await binding.start(parts);
  } catch (error) {
    await binding.close();
    throw error;
  }
}

/** First of all, so that a server that cannot have its port changes nothing in the store. */
export async function bindService({ config, log }: { config: Config; log: Logger }): Promise<Binding> {
  const metrics = createMetrics();
  const ports = new Ports({ config, log, metrics });
  await ports.listen();
  return {
    close: () => ports.drain(),
    start: parts => start({ ...parts, config, log, metrics, ports }),
  };
}

/** Beside others at the same port: it listens when it has started, so that nobody is told to come again by it. */
export async function startWorker(
  parts: Parts & { config: Config; log: Logger; crew: Crew },
): Promise<Service> {
  const metrics = createMetrics();
  const { workers } = parts.crew;
  const ports = new Ports({ ...parts, metrics, workers });
  const service = await start({ ...parts, metrics, ports });
  await ports.listen();
  return service;
}

interface Starting extends Parts {
  readonly config: Config;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly ports: Ports;
  readonly crew?: Crew | undefined;
}

/** One that the log and the metrics tell of. */
function openObservedResolver({ config, log, metrics, ticks, crew }: Starting): DnsResolver {
  const tell = tellOfDns(log);
  const resolver: DnsResolver = openResolver(
    config,
    {
      ticks,
      observe(outcome, seconds) {
        metrics.question(outcome, seconds);
        tell.afterQuestion(resolver.health());
      },
      changed: () => tell.afterProbe(resolver.health()),
      failed: tell.failed,
    },
    crew?.workers,
  );
  observeResolver(metrics, resolver);
  return resolver;
}

/** What the metrics show of it, and how fresh its lists are. */
function observeParts(
  { config, store, clock, metrics, ports, followMs, counts, backups }: Starting,
  catalog: () => Catalog,
  learn: Pick<Learn, 'infra'>,
): Freshening {
  const ids = feedsWithout(config.feedsOff);
  const freshness = watchFreshness({ store, ids, clock, everyMs: followMs });
  observeFeeds(metrics, catalog, freshness, clock);
  observePorts(metrics, ports);
  observeLearned(metrics, learn);
  if (counts) observeEvents(metrics, counts);
  if (backups) observeBackups(metrics, () => backups.age(clock()));
  return freshness;
}

async function start(parts: Starting): Promise<Service> {
  const { config, store, clock, ticks, log, metrics, ports, crew } = parts;
  let current = parts.catalog;
  const catalog = () => current;
  const resolver = openObservedResolver(parts);
  const maker = createMaker({ config, store, onError: tellOfFeeds(log).unfollowed });
  const kept = await openKept({ ...parts, resolver, catalog, makeFilter: maker.filter });
  const { overrides, lookup, rank, learn, filters, traffic, mix } = kept;
  await learn.hold();
  const admit = createAdmit({ store, clock, ticks, buckets: crew?.buckets });
  const operators = config.isAdminToken ? await watchOperators({ store }) : NO_OPERATORS;
  const doors = createDoors({ ...config, admit, overrides, clock, operators });
  const freshness = observeParts(parts, catalog, learn);
  const watchdog = watchLoop(metrics, log);
  const whole = crew?.whole ?? { health: () => resolver.health(), metrics: metrics.text };
  const isDraining = () => ports.port.isDraining;
  const told = { isDraining, isStarting: () => crew?.isStarting() === true, tell: tellOfReadiness(log) };
  const probes = probeEndpoints({ store, catalog, whole, freshness, ...told });
  const { callers, ofOperators, invite } = await surfaceOf(config, {
    ...{ filters, doors, admit, lookup, rank, metrics, probes, store, catalog, freshness, traffic, clock },
    ...{ operators, ticks, log, mix, overrides, isDraining },
    addressesOf: host => learn.infra().graph([{ host, preference: 0 }], catalog())[0]?.addresses ?? [],
    workers: crew?.workers,
  });
  const adopting = adoptingInto(learn, next => {
    current = next;
    log.info({ snapshot: next.generation, domains: next.size }, 'the feeds were updated');
  });
  const following = followNext(parts, { catalog, adopting, make: maker });
  // Whatever it says: the thread that counts is up before the first call comes.
  await store.ready().catch(() => {});
  ports.open({ admit, doors });
  for (const one of ports.all) one.add(callers);
  ports.operators.add(ofOperators);

  return {
    get address() {
      return ports.address;
    },
    get operatorAddress() {
      return ports.operatorAddress;
    },
    store,
    invite: invite.offer,
    health: () => resolver.health(),
    metrics: metrics.values,
    async close(together) {
      invite.close();
      await ports.drain(together);
      for (const one of [watchdog, freshness, operators, maker]) one.close();
      // Every count is in the store already. What a silent store does not take now are flags, guests and figures.
      await atMost(LAST_WORDS_MS, Promise.all([following?.close(), kept.close()]));
      await atMost(LAST_WORDS_MS, Promise.all([resolver.close(), store.close()]));
    },
  };
}

/** Catalog and learned hosts change in one go, so that no answer mixes two generations. */
function adoptingInto(learn: Pick<Learn, 'adopting'>, put: (next: Catalog) => void) {
  return function* adopting(next: Catalog): Steps<() => void> {
    const putLearned = yield* learn.adopting(next);
    return () => {
      put(next);
      putLearned();
    };
  };
}

/** The next catalog: one of several workers is given it, a service alone looks for it in the store. */
function followNext(
  { config, store, clock, log, crew, followMs }: Starting,
  how: Pick<Parameters<typeof followStore>[1], 'catalog' | 'adopting' | 'make'>,
): ReturnType<typeof followStore> | undefined {
  crew?.follow(async next => (await inTurns(how.adopting(next)))());
  if (crew) return undefined;
  const onError = tellOfFeeds(log).unfollowed;
  return followStore(config, { ...how, store, clock, everyMs: followMs, onError });
}

/** Twice, after the 7 seconds that answering takes at most: gone within ten, on a busy machine too. */
const LAST_WORDS_MS = 600;

async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  await Promise.race([work, pause(ms, undefined, { ref: false })]);
}
