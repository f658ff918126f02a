/** What the ports offer: the routes that callers have, and those of operators. */

import type { Logger } from 'pino';
import type { Admit } from './admit.ts';
import { appointing, type Operators } from './appoint.ts';
import { createChanges } from './changes.ts';
import { VERSION } from './compose.ts';
import type { Config } from './config.ts';
import type { Catalog } from './core/catalog.ts';
import type { Clock, Store, Ticks } from './core/ports.ts';
import type { Filters } from './filter.ts';
import type { Freshening } from './freshness.ts';
import type { Doors } from './http/doors.ts';
import { changesEndpoint } from './http/endpoints/changes.ts';
import { checkEndpoint } from './http/endpoints/check.ts';
import { consoleRoutes } from './http/endpoints/console.ts';
import { domainEndpoint } from './http/endpoints/domain.ts';
import { domainsEndpoint } from './http/endpoints/domains.ts';
import { filterEndpoint } from './http/endpoints/filter.ts';
import type { probeEndpoints } from './http/endpoints/probes.ts';
import { openapiEndpoint } from './http/endpoints/reference.ts';
import { topEndpoint } from './http/endpoints/top.ts';
import { usageEndpoint } from './http/endpoints/usage.ts';
import { welcomeRoute } from './http/endpoints/welcome.ts';
import type { Metrics } from './http/metrics.ts';
import { page, type Route } from './http/routes.ts';
import { publicRoutes } from './http/routes-of-callers.ts';
import { filterRoute } from './http/routes-of-filter.ts';
import { createInvite, type Invite } from './invite.ts';
import type { Lookup } from './lookup.ts';
import type { Mix } from './mix.ts';
import type { Rank } from './rank.ts';
import type { TrafficWatch } from './traffic.ts';

interface SurfaceParts {
  readonly doors: Doors;
  readonly admit: Admit;
  readonly lookup: Lookup;
  readonly rank: Rank;
  readonly filters: Filters;
  readonly metrics: Metrics;
  readonly isDraining: () => boolean;
  readonly workers: number | undefined;
  readonly probes: ReturnType<typeof probeEndpoints>;
  readonly store: Store;
  readonly catalog: () => Catalog;
  readonly freshness: Freshening;
  readonly traffic: TrafficWatch;
  readonly mix: Mix;
  readonly operators: Operators;
  readonly addressesOf: (host: string) => readonly string[];
  readonly clock: Clock;
  readonly ticks: Ticks | undefined;
  readonly log: Logger;
}

export async function surfaceOf(
  config: Config,
  parts: SurfaceParts,
): Promise<{ callers: Route[]; ofOperators: Route[]; invite: Invite }> {
  const { doors, admit, lookup, rank, filters, metrics, probes, store, clock } = parts;
  const invite = createInvite({ ticks: parts.ticks ?? (() => performance.now()) });
  const callers = [
    ...publicRoutes({
      domain: domainEndpoint({ doors, lookup, rank, metrics }),
      top: topEndpoint({ doors, rank }),
      usage: usageEndpoint({ doors, admit }),
      check: checkEndpoint({ doors, lookup, rank, metrics }),
      domains: domainsEndpoint(parts),
      changes: changesEndpoint({
        doors,
        changes: createChanges({ store, clock }),
      }),
      probes,
    }),
    filterRoute(filterEndpoint({ doors, filters })),
    ...consoleRoutes({
      docs: config.docs,
      metrics: config.hasMetrics && config.metricsPort === undefined,
    }),
    welcomeRoute({ invite, appointFirst: appointing(config, parts), log: parts.log }),
  ];
  const acts = () => actsOf(config, parts);
  if (config.docs) callers.push(openapiRoute(async () => [...callers, ...(await acts())]));
  // Without a token there is no such side.
  const ofOperators = config.isAdminToken ? await acts() : [];
  if (config.hasMetrics) ofOperators.push(page('/metrics', 'metrics', 'text/plain', probes.metrics));
  return { callers, ofOperators, invite };
}

/** Loaded when somebody needs it: a server without operators starts a tenth of a second sooner. */
async function actsOf({ decisions }: Config, { doors, ...parts }: SurfaceParts): Promise<Route[]> {
  const { operatorEndpoints } = await import('./http/endpoints/operators.ts');
  const { createOperate } = await import('./operate.ts');
  return operatorEndpoints(doors, { ...parts, operate: createOperate(parts), decisionLog: decisions.log });
}

function openapiRoute(routes: () => Promise<readonly Route[]>): Route {
  const document = openapiEndpoint(async () => {
    const { openapiOf } = await import('./http/openapi.ts');
    return openapiOf(await routes(), VERSION);
  });
  return page('/openapi.json', 'openapi', 'application/json', document);
}
