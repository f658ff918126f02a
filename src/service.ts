/** The running service: the verbs behind a port. */

import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type Admit, createAdmit } from './admit.ts';
import { followStore, openResolver, openVerdicts, VERSION } from './compose.ts';
import type { Config } from './config.ts';
import type { Catalog } from './core/catalog.ts';
import type { Clock, ResolverHealth, Store, Ticks } from './core/ports.ts';
import type { DnsResolver } from './dns/resolver.ts';
import { createDoors, type Doors } from './http/doors.ts';
import { consoleRoutes } from './http/endpoints/console.ts';
import { domainEndpoint } from './http/endpoints/domain.ts';
import { probeEndpoints } from './http/endpoints/probes.ts';
import { openapiEndpoint } from './http/endpoints/reference.ts';
import { topEndpoint } from './http/endpoints/top.ts';
import { usageEndpoint } from './http/endpoints/usage.ts';
import { createMetrics, type Metrics } from './http/metrics.ts';
import { createPort, type Port, type PortParts } from './http/port.ts';
import { page, publicRoutes, type Route } from './http/routes.ts';
import { watchLoop } from './http/watchdog.ts';

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

export async function startService(parts: {
  config: Config;
  store: Store;
  catalog: Catalog;
  clock: Clock;
  /** The process's own where left out. */
  ticks?: Ticks | undefined;
  log: Logger;
  /** How often to look for feed updates. */
  followMs?: number | undefined;
}): Promise<Service> {
  const { config, store, clock, ticks, log } = parts;
  let current = parts.catalog;
  const catalog = () => current;
  const metrics = createMetrics();
  const tell = tellOfDns(log);
  const resolver: DnsResolver = openResolver(
    config,
    (outcome, seconds) => {
      metrics.question(outcome, seconds);
      tell(resolver.health());
    },
    ticks,
  );
  const { overrides, lookup, rank, learn } = await openVerdicts({
    store,
    resolver,
    catalog,
    clock,
    onError: error => log.error({ err: error }, 'what lookups found could not be written yet'),
  });
  const admit = createAdmit({ store, clock, ticks });
  const { isAdminToken, isTrustedProxy } = config;
  const doors = createDoors({ admit, overrides, clock, isAdminToken, isTrustedProxy });
  const portParts = portPartsOf({ config, log, metrics, admit, doors });
  const port = createPort(portParts);
  const operators = config.metricsPort === undefined ? port : createPort(portParts);
  const ports = new Set([port, operators]);
  observe(metrics, resolver, catalog);
  observeFeeds(metrics, catalog, clock);
  observePorts(metrics, [...ports]);
  const watchdog = watchLoop(metrics, log);
  metrics.gauge(
    'domain_risk_learned_hosts',
    'Mail hosts and addresses learned as disposable.',
    () => learn.infra().size,
  );
  const probes = probeEndpoints({ store, catalog, resolver, metrics, isDraining: port.isDraining });
  const callers = [
    ...publicRoutes({
      domain: domainEndpoint({ doors, lookup, rank, metrics }),
      top: topEndpoint({ doors, rank }),
      usage: usageEndpoint({ doors, admit }),
      probes,
    }),
    ...consoleRoutes({ docs: config.docs }),
  ];
  const acts = () => actsOf(doors, { store, catalog, clock });
  if (config.docs) callers.push(openapiRoute(async () => [...callers, ...(await acts())]));
  for (const one of ports) one.add(callers);
  // Without a token there is no such side.
  if (isAdminToken) operators.add(await acts());
  if (config.hasMetrics) operators.add([page('/metrics', 'metrics', 'text/plain', probes.metrics)]);
  const following = followStore({
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
  try {
    // Callers come last: no call is answered by a server that does not start.
    if (config.metricsPort !== undefined)
      await operators.listen({ host: config.metricsHost, port: config.metricsPort });
    await port.listen({ host: config.host, port: config.port });
  } catch (error) {
    for (const one of ports) one.server.close();
    watchdog.close();
    await following.close();
    await resolver.close();
    await rank.close();
    await learn.close();
    throw error;
  }

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

const QUIET_MS = 60_000;

/** When no DNS server answers, and when one does again. Not for every flap: a tarpit's owner can cause those. */
function tellOfDns(log: Logger): (health: ResolverHealth) => void {
  let isTold = false;
  let quietUntil = 0;
  return ({ degraded, servers }) => {
    if (degraded === isTold || (degraded && performance.now() < quietUntil)) return;
    isTold = degraded;
    if (!degraded) return log.info('DNS servers answer again');
    quietUntil = performance.now() + QUIET_MS;
    const asked = servers.map(({ address }) => address);
    log.warn(
      { servers: asked },
      'every DNS server failed lately: unlisted domains get the neutral score meanwhile; if this stays, check DNS_SERVERS',
    );
  };
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
  admit: Admit;
  doors: Doors;
}): PortParts {
  const { config, log, metrics, admit, doors } = parts;
  return {
    log,
    metrics,
    accessLog: config.accessLog,
    isTrustedProxy: config.isTrustedProxy,
    connectionsPerAddress: config.connectionsPerAddress,
    operatorRefusal: doors.operatorRefusal,
    isFull: () => doors.spending() >= MOST_SPENDING,
    // Operators wait with the keys that are known: they may be about to revoke one of them.
    keyOf: authorization =>
      admit.known(authorization) ?? (doors.isOperator(authorization) ? 'operator' : undefined),
  };
}

/** Loaded when somebody needs it: a server without operators starts a tenth of a second sooner. */
async function actsOf(
  doors: Doors,
  parts: { store: Store; catalog: () => Catalog; clock: Clock },
): Promise<Route[]> {
  const { operatorEndpoints } = await import('./http/endpoints/operators.ts');
  const { createOperate } = await import('./operate.ts');
  return operatorEndpoints(doors, { ...parts, operate: createOperate(parts) });
}

function openapiRoute(routes: () => Promise<readonly Route[]>): Route {
  const document = openapiEndpoint(async () => {
    const { openapiOf } = await import('./http/openapi.ts');
    return openapiOf(await routes(), VERSION);
  });
  return page('/openapi.json', 'openapi', 'application/json', document);
}

function observe(metrics: Metrics, resolver: DnsResolver, catalog: () => Catalog): void {
  const { counters } = resolver;
  metrics.counters('domain_risk_dns_questions_total', 'Questions to DNS servers by outcome.', 'outcome', () =>
    Object.entries(counters.questions),
  );
  metrics.counters('domain_risk_dns_lookups_total', 'How lookups got their DNS answer.', 'how', () => [
    ['hit', counters.hits],
    ['miss', counters.misses],
    ['joined', counters.joined],
    ['background', counters.background],
    ['stale', counters.stale],
    ['capped', counters.capped],
  ]);
  metrics.gauge('domain_risk_dns_in_flight', 'Names being asked.', () => resolver.health().inFlight);
  metrics.gauge('domain_risk_dns_cached', 'Names in the DNS cache.', () => resolver.health().cached);
  metrics.gauge('domain_risk_catalog_domains', 'Names in the disposable lists.', () => catalog().size);
}

function observePorts(metrics: Metrics, ports: readonly Port[]): void {
  const sum = (read: (port: Port) => number) => () => ports.reduce((total, port) => total + read(port), 0);
  const { gauge, counters } = metrics;
  gauge(
    'domain_risk_requests_in_flight',
    'Requests being answered.',
    sum(port => port.inFlight()),
  );
  gauge(
    'domain_risk_connections',
    'Open connections.',
    sum(port => port.sockets.count()),
  );
  gauge(
    'domain_risk_connections_waiting',
    'Connections whose requests wait for their turn.',
    sum(port => port.waiting()),
  );
  counters(
    'domain_risk_connections_closed_total',
    'Connections closed for want of room: idle ones, to take others (evicted), and new ones (refused).',
    'why',
    () => [
      ['evicted', sum(port => port.sockets.evicted())()],
      ['refused', sum(port => port.sockets.refused())()],
    ],
  );
}

function observeFeeds(metrics: Metrics, catalog: () => Catalog, clock: Clock): void {
  metrics.gauges('domain_risk_feed_names', 'Names of each feed that count.', 'feed', () =>
    catalog().status.map(({ feed, names }) => [feed.id, names]),
  );
  metrics.gauges(
    'domain_risk_feed_age_seconds',
    'Time since an update last changed a feed; feeds as installed are not there.',
    'feed',
    () =>
      catalog().status.flatMap(({ feed, updatedAt }) =>
        updatedAt === null ? [] : [[feed.id, Math.max(0, clock() - updatedAt) / 1000]],
      ),
  );
}
