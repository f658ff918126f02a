/** The running service: the verbs behind a port. */

import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { createAdmit } from './admit.ts';
import { followStore, openResolver, openVerdicts, VERSION } from './compose.ts';
import type { Config } from './config.ts';
import type { Catalog } from './core/catalog.ts';
import type { Clock, ResolverHealth, Store } from './core/ports.ts';
import type { DnsResolver } from './dns/resolver.ts';
import { createApi } from './http/api.ts';
import { consoleRoutes } from './http/console.ts';
import { createMetrics, type Metrics } from './http/metrics.ts';
import { openapiOf } from './http/openapi.ts';
import { addReference, createPages } from './http/pages.ts';
import { createProbes } from './http/probes.ts';
import { createRoutes } from './http/routes.ts';
import { createPort, PAGES, type Port } from './http/server.ts';

export interface Service {
  readonly address: { readonly host: string; readonly port: number };
  readonly store: Store;
  /** Answers what was accepted, writes what is pending, closes everything. */
  close(): Promise<void>;
}

export async function startService(parts: {
  config: Config;
  store: Store;
  catalog: Catalog;
  clock: Clock;
  log: Logger;
  /** How often to look for feed updates. */
  followMs?: number | undefined;
}): Promise<Service> {
  const { config, store, clock, log } = parts;
  let current = parts.catalog;
  const catalog = () => current;
  const metrics = createMetrics();
  const tell = tellOfDns(log);
  const resolver: DnsResolver = openResolver(config, clock, (outcome, seconds) => {
    metrics.question(outcome, seconds);
    tell(resolver.health());
  });
  const { overrides, lookup, rank, learn } = await openVerdicts({
    store,
    resolver,
    catalog,
    clock,
    onError: error => log.error({ err: error }, 'what lookups found could not be written yet'),
  });
  const admit = createAdmit({ store, clock });
  const api = createApi({
    admit,
    overrides,
    lookup,
    rank,
    clock,
    metrics,
    isTrustedProxy: config.isTrustedProxy,
  });

  const port = createPort({ log, accessLog: config.accessLog, metrics });
  observe(metrics, resolver, catalog, port.inFlight);
  observeFeeds(metrics, catalog, clock);
  metrics.gauge(
    'domain_risk_learned_hosts',
    'Mail hosts and addresses learned as disposable.',
    () => learn.infra().size,
  );
  const probes = createProbes({
    store,
    catalog,
    resolver,
    metrics,
    isDraining: port.isDraining,
  });
  const pages = createPages(() => document);
  const routes = createRoutes(api, probes, pages);
  const document = openapiOf(routes, VERSION);
  port.add([...routes, ...consoleRoutes()]);
  await addReference(port.app, PAGES, document);
  await addOperators(port, { config, store, catalog, clock });
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
    await port.app.listen({ host: config.host, port: config.port, backlog: 1024 });
  } catch (error) {
    await following.close();
    await resolver.close();
    await rank.close();
    await learn.close();
    throw error;
  }
  const bound = port.server.address() as AddressInfo;

  return {
    address: { host: bound.address, port: bound.port },
    store,
    async close() {
      await port.drain();
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

/** Without a token there is no such side. */
async function addOperators(
  port: Port,
  parts: { config: Config; store: Store; catalog: () => Catalog; clock: Clock },
): Promise<void> {
  const { isAdminToken, isTrustedProxy } = parts.config;
  if (!isAdminToken) return;
  // A server without this side starts a tenth of a second sooner.
  const { createEndpoints } = await import('./http/acts.ts');
  const { addAdmin } = await import('./http/admin.ts');
  const { createOperate } = await import('./operate.ts');
  const endpoints = createEndpoints({ ...parts, operate: createOperate(parts) });
  await addAdmin(port, { endpoints, isAdminToken, isTrustedProxy });
}

function observe(
  metrics: Metrics,
  resolver: DnsResolver,
  catalog: () => Catalog,
  inFlight: () => number,
): void {
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
  metrics.gauge('domain_risk_requests_in_flight', 'Requests being answered.', inFlight);
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
