/** The running service: the verbs behind a port. */

import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type Admit, createAdmit } from './admit.ts';
import { followStore, openResolver, openVerdicts } from './compose.ts';
import type { Config } from './config.ts';
import type { Catalog } from './core/catalog.ts';
import type { Clock, Store, Ticks } from './core/ports.ts';
import type { DnsResolver } from './dns/resolver.ts';
import { createDoors, type Doors } from './http/doors.ts';
import { probeEndpoints } from './http/endpoints/probes.ts';
import { createMetrics, type Metrics } from './http/metrics.ts';
import { Port, type PortParts } from './http/port.ts';
import { LIVEZ } from './http/routes-of-callers.ts';
import { mostConnections } from './http/sockets.ts';
import { watchLoop } from './http/watchdog.ts';
import {
  observeFeeds,
  observeLearned,
  observePorts,
  observeResolver,
  tellOfDns,
  tellOfReadiness,
} from './observe.ts';
import { surfaceOf } from './surface.ts';

/** Who watches and who operates are few. */
const MOST_OF_OPERATORS = 256;

interface Bound {
  readonly host: string;
  readonly port: number;
}

export interface Service {
  readonly address: Bound;
  /** Of the listener for operators, where they have one of their own. */
  readonly operatorAddress: Bound | undefined;
  readonly store: Store;
  /** Answers what was accepted, writes what is pending, closes everything. */
  close(): Promise<void>;
}

interface Parts {
  readonly store: Store;
  readonly catalog: Catalog;
  readonly clock: Clock;
  /** The process's own where left out. */
  readonly ticks?: Ticks | undefined;
  /** How often to look for feed updates. */
  readonly followMs?: number | undefined;
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

/** What the ports know of callers, once there is a store. */
interface World {
  readonly admit: Admit;
  readonly doors: Doors;
}

/** First of all, so that a server that cannot have its port changes nothing in the store. */
export async function bindService({ config, log }: { config: Config; log: Logger }): Promise<Binding> {
  const metrics = createMetrics();
  let world: World | undefined;
  const portParts = portPartsOf({ config, log, metrics, world: () => world });
  const most = mostConnections();
  // A listener of their own has its own share: neither side can take all descriptors from the other.
  const ofOperators = config.metricsPort === undefined ? 0 : Math.min(MOST_OF_OPERATORS, Math.ceil(most / 4));
  const port = new Port({ ...portParts, mostConnections: most - ofOperators });
  const operators = ofOperators === 0 ? port : new Port({ ...portParts, mostConnections: ofOperators });
  const ports = new Set([port, operators]);
  for (const one of ports) one.add([LIVEZ]);
  const close = async () => void (await Promise.all([...ports].map(one => one.drain())));
  try {
    await port.listen({ host: config.host, port: config.port });
    if (config.metricsPort !== undefined)
      await operators.listen({ host: config.metricsHost, port: config.metricsPort });
  } catch (error) {
    await close();
    throw error;
  }
  return {
    close,
    start: parts =>
      start({
        ...parts,
        ...{ config, log, metrics, port, operators },
        open(opened) {
          world = opened;
          for (const one of ports) one.open();
        },
      }),
  };
}

interface Starting extends Parts {
  readonly config: Config;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly port: Port;
  readonly operators: Port;
  readonly open: (world: World) => void;
}

/** One that the log and the metrics tell of. */
function openObservedResolver({ config, log, metrics, ticks }: Starting): DnsResolver {
  const tell = tellOfDns(log);
  const resolver: DnsResolver = openResolver(config, {
    ticks,
    observe(outcome, seconds) {
      metrics.question(outcome, seconds);
      tell.afterQuestion(resolver.health());
    },
    changed: () => tell.afterProbe(resolver.health()),
    failed: tell.failed,
  });
  observeResolver(metrics, resolver);
  return resolver;
}

async function start(parts: Starting): Promise<Service> {
  const { config, store, clock, ticks, log, metrics, port, operators } = parts;
  const ports = new Set([port, operators]);
  let current = parts.catalog;
  const catalog = () => current;
  const resolver = openObservedResolver(parts);
  const { overrides, lookup, rank, learn } = await openVerdicts({
    store,
    resolver,
    catalog,
    clock,
    ticks,
    onError: error => log.error({ err: error }, 'what lookups found could not be written yet'),
  });
  learn.hold();
  const admit = createAdmit({ store, clock, ticks });
  const { isAdminToken, isTrustedProxy } = config;
  const doors = createDoors({ admit, overrides, clock, isAdminToken, isTrustedProxy });
  observeFeeds(metrics, catalog, clock);
  observeLearned(metrics, learn);
  observePorts(metrics, [...ports]);
  const watchdog = watchLoop(metrics, log);
  const tellReady = tellOfReadiness(log);
  const isDraining = () => port.isDraining;
  const probes = probeEndpoints({ store, catalog, resolver, metrics, isDraining, tell: tellReady });
  const { callers, ofOperators } = await surfaceOf(config, {
    ...{ doors, admit, lookup, rank, metrics, probes, store, catalog, clock },
  });
  const following = followStore(config, {
    store,
    catalog,
    everyMs: parts.followMs,
    onError: error => log.error({ err: error }, 'an update of the feeds could not be followed'),
    *adopting(next) {
      const putLearned = yield* learn.adopting(next);
      return () => {
        current = next;
        putLearned();
        log.info({ snapshot: next.generation, domains: next.size }, 'the feeds were updated');
      };
    },
  });
  // Whatever it says: the thread that counts is up before the first call comes.
  await store.ready().catch(() => {});
  parts.open({ admit, doors });
  for (const one of ports) one.add(callers);
  operators.add(ofOperators);

  return {
    address: addressOf(port),
    store,
    operatorAddress: operators === port ? undefined : addressOf(operators),
    async close() {
      await Promise.all([...ports].map(one => one.drain()));
      watchdog.close();
      // Every count is in the store already. What a silent store does not take now are flags and guests.
      await atMost(LAST_WORDS_MS, Promise.all([following.close(), rank.close(), learn.close()]));
      await resolver.close();
      await atMost(LAST_WORDS_MS, store.close());
    },
  };
}

/** Twice, after the 8 seconds that answering takes at most: gone within ten. */
const LAST_WORDS_MS = 1_000;

async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  await Promise.race([work, pause(ms, undefined, { ref: false })]);
}

function addressOf({ server }: Port): Bound {
  const { address, port } = server.address() as AddressInfo;
  return { host: address, port };
}

/** Calls that the store may be counting at a time. */
const MOST_SPENDING = 8_000;

function portPartsOf(parts: {
  config: Config;
  log: Logger;
  metrics: Metrics;
  world: () => World | undefined;
}): Omit<PortParts, 'mostConnections'> {
  const { config, log, metrics, world } = parts;
  return {
    log,
    metrics,
    accessLog: config.accessLog,
    isTrustedProxy: config.isTrustedProxy,
    connectionsPerAddress: config.connectionsPerAddress,
    hasLane: config.fastLane === 'on',
    // Asked for routes of operators only, and those come with the world.
    operatorRefusal: call => world()!.doors.operatorRefusal(call),
    isFull: () => (world()?.doors.spending() ?? 0) >= MOST_SPENDING,
    // Operators wait with the keys that are known: they may be about to revoke one of them.
    rowOf(authorization, address, origin) {
      const known = world();
      return (
        known?.admit.known(authorization, address, origin) ??
        (known?.doors.isOperator(authorization) ? 'operator' : undefined)
      );
    },
  };
}
