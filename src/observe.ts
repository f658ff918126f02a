/** What metrics and log show of the parts of a running service. */

import type { Logger } from 'pino';
import type { Ports } from './binding.ts';
import type { Catalog } from './core/catalog.ts';
import { checkedBy, type FeedCheck } from './core/freshness.ts';
import { type Clock, type ResolverHealth, StoreUnavailable } from './core/ports.ts';
import type { DnsResolver } from './dns/resolver.ts';
import type { Freshening } from './freshness.ts';
import type { Metrics } from './http/metrics.ts';
import { createOften } from './http/often.ts';
import type { Port } from './http/port.ts';
import type { Learn } from './learn.ts';

export function observeResolver(metrics: Metrics, resolver: DnsResolver): void {
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
  metrics.gauge('domain_risk_dns_in_flight', 'Names being asked.', () => resolver.health().inFlight, 'sum');
  metrics.gauge(
    'domain_risk_dns_slow',
    'Of these, names that did not answer soon.',
    () => resolver.health().slow,
    'sum',
  );
  metrics.gauge(
    'domain_risk_dns_waiting',
    'Lookups that wait for a place to ask from.',
    () => resolver.health().waiting,
    'sum',
  );
  metrics.gauges(
    'domain_risk_dns_server_believed',
    '1 while a DNS server knows names that certainly receive mail, 0 while its denials are not believed.',
    'server',
    () => resolver.health().servers.map(({ address, problem }) => [address, problem === null ? 1 : 0]),
    'min',
  );
  metrics.gauge('domain_risk_dns_cached', 'Names in the DNS cache.', () => resolver.health().cached, 'sum');
}

const QUIET_MS = 60_000;
const NEUTRAL = 'unlisted domains get the neutral score meanwhile';
const CONCERNED = 'unlisted domains that this concerns get the neutral score meanwhile';

/** When no DNS server answers or is believed any more, and when one is again. */
export function tellOfDns(log: Logger): {
  afterQuestion(health: ResolverHealth): void;
  afterProbe(health: ResolverHealth): void;
  failed(error: unknown): void;
} {
  const often = createOften();
  let isTold = false;
  let quietUntil = 0;
  return {
    /** Not for every flap: a tarpit's owner can cause those. */
    afterQuestion({ servers }) {
      const hasFailed = servers.every(({ healthy }) => !healthy);
      if (hasFailed === isTold || (hasFailed && performance.now() < quietUntil)) return;
      // What keeps a server from being believed says more.
      if (hasFailed && servers.some(({ problem }) => problem !== null)) return;
      isTold = hasFailed;
      if (!hasFailed) return log.info('DNS servers answer again');
      quietUntil = performance.now() + QUIET_MS;
      const asked = servers.map(({ address }) => address);
      log.warn(
        { servers: asked },
        `every DNS server failed lately: ${NEUTRAL}; if this stays, check DNS_SERVERS`,
      );
    },

    afterProbe({ servers }) {
      const failing = servers.filter(({ problem }) => problem !== null);
      if (failing.length === 0) return log.info('every DNS server is believed again');
      const what = failing.map(({ address, problem }) => `DNS server ${address} ${problem}`).join('; ');
      const isAll = failing.length === servers.length;
      log.warn({ servers: failing.map(({ address }) => address) }, isAll ? `${what}; ${CONCERNED}` : what);
    },

    /** Not for every name either: what its owner sends may be what our code stumbles over. */
    failed(error) {
      const more = often();
      if (more !== undefined) log.error({ err: error, more }, 'a name could not be asked for');
    },
  };
}

/** Why `/readyz` says 503, and when it no longer does: once for each change, however often somebody asks. */
export function tellOfReadiness(log: Logger): (problem: string | undefined, error?: unknown) => void {
  let told: string | undefined;
  return (problem, error) => {
    if (problem === told) return;
    told = problem;
    if (problem === undefined) return log.info('ready again');
    log[error instanceof StoreUnavailable ? 'warn' : 'error']({ err: error }, `not ready: ${problem}`);
  };
}

export function observePorts(metrics: Metrics, ports: Pick<Ports, 'all' | 'waiting'>): void {
  const all = [...ports.all];
  const sum = (read: (port: Port) => number) => () => all.reduce((total, port) => total + read(port), 0);
  const { gauge, counters } = metrics;
  gauge(
    'domain_risk_requests_in_flight',
    'Requests being answered.',
    sum(port => port.inFlight),
    'sum',
  );
  gauge(
    'domain_risk_connections',
    'Open connections.',
    sum(port => port.sockets.count),
    'sum',
  );
  gauge(
    'domain_risk_connections_waiting',
    'Connections whose requests wait for their turn.',
    () => ports.waiting,
    'sum',
  );
  counters(
    'domain_risk_connections_closed_total',
    'Connections closed for want of room: idle ones, to take others (evicted), and new ones (refused).',
    'why',
    () => [
      ['evicted', sum(port => port.sockets.evicted)()],
      ['refused', sum(port => port.sockets.refused)()],
    ],
  );
}

export const BACKUPS_METRIC = 'domain_risk_backup_age_seconds';

export function observeBackups(metrics: Metrics, age: () => number): void {
  metrics.gauge(
    BACKUPS_METRIC,
    'Age of the last good backup by schedule; +Inf where none is known of.',
    age,
    'max',
  );
}

export function observeDecisions(metrics: Metrics, dropped: () => number): void {
  const help = 'Decisions of DECISION_LOG that were not kept: the store did not take them fast enough.';
  metrics.counters('domain_risk_decisions_dropped_total', help, 'why', () => [['store', dropped()]]);
}

export function observeLearned(metrics: Metrics, learn: Pick<Learn, 'infra'>): void {
  metrics.gauge(
    'domain_risk_learned_hosts',
    'Mail hosts and addresses learned as disposable.',
    () => learn.infra().size,
    'max',
  );
}

export function observeFeeds(
  metrics: Metrics,
  catalog: () => Catalog,
  freshness: Pick<Freshening, 'checks'>,
  clock: Clock,
): void {
  const { gauge, gauges } = metrics;
  gauge('domain_risk_catalog_domains', 'Names in the disposable lists.', () => catalog().size, 'max');
  gauges(
    'domain_risk_feed_names',
    'Names of each feed that count.',
    'feed',
    () => catalog().status.map(({ feed, names }) => [feed.id, names]),
    'max',
  );
  gauges(
    'domain_risk_feed_age_seconds',
    'Time since an update last changed a feed; feeds as installed are not there.',
    'feed',
    () =>
      catalog().status.flatMap(({ feed, updatedAt }) =>
        updatedAt === null ? [] : [[feed.id, Math.max(0, clock() - updatedAt) / 1000]],
      ),
    'max',
  );
  gauges(
    'domain_risk_feed_checked_age_seconds',
    'Time since a feed was last fetched and found plausible, with or without news; +Inf where it was tried and never was.',
    'feed',
    () => freshness.checks().map(check => [check.feed, checkedAge(check, clock())]),
    'max',
  );
  gauges(
    'domain_risk_feed_failing',
    '1 where the last try to update a feed failed or was refused, else 0.',
    'feed',
    () => freshness.checks().map(({ feed, problem }) => [feed, problem === null ? 0 : 1]),
    'max',
  );
}

function checkedAge(check: FeedCheck, now: number): number {
  const checkedAt = checkedBy(now, check);
  return checkedAt === null ? Number.POSITIVE_INFINITY : Math.max(0, now - checkedAt) / 1000;
}

export function tellOfUnwritten(log: Logger): (error: unknown) => void {
  return error => log.error({ err: error }, 'what lookups found could not be written yet');
}

export function tellOfFeeds(log: Logger) {
  return {
    unusable: (error: unknown) =>
      log.error({ err: error }, 'a stored feed cannot be used: the installed list stands in'),
    unfollowed: (error: unknown) => log.error({ err: error }, 'an update of the feeds could not be followed'),
  };
}
