/** The table of routes and the OpenAPI document without a running service: for what is generated from them. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openapiOf } from '../src/http/openapi.ts';
import type { Done } from '../src/http/operators.ts';
import type { Route } from '../src/http/routes.ts';
import { publicRoutes } from '../src/http/routes-of-callers.ts';
import { filterRoute } from '../src/http/routes-of-filter.ts';
import { operatorRoutes } from '../src/http/routes-of-operators.ts';

/** Rows need functions; none of these is ever called. */
const nothing = () => {};
const work = async (): Promise<Done> => ({ status: 204 });

export function referenceRoutes(): Route[] {
  return [
    ...publicRoutes({
      domain: nothing,
      top: nothing,
      usage: nothing,
      check: nothing,
      domains: nothing,
      changes: nothing,
      probes: { readyz: async () => {}, metrics: async () => {} },
    }),
    filterRoute(nothing),
    ...operatorRoutes(
      { actorOf: () => ({ ok: false, problem: '' }) },
      {
        keys: { list: work, create: work, update: work, rotate: work, revoke: work },
        overrides: { list: work, set: work, remove: work },
        hosts: { list: work, forget: work, relearn: work },
        feeds: { list: work, rollBack: work, goForth: work, approve: work, reject: work },
        audit: { list: work },
        traffic: { read: work },
        decisions: { list: work },
        appointed: { list: work, add: work, revoke: work },
      },
    ),
  ];
}

export function referenceDocument() {
  const manifest = readFileSync(join(import.meta.dirname, '../package.json'), 'utf8');
  return openapiOf(referenceRoutes(), (JSON.parse(manifest) as { version: string }).version);
}
