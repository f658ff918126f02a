/** For machines that watch the service: is it alive, is it ready, how is it doing. */

import type { Catalog } from '../core/catalog.ts';
import type { Resolver, Store } from '../core/ports.ts';
import { refuse } from '../core/refusal.ts';
import type { Metrics } from './metrics.ts';
import { type Call, send, sendJson, sendRefusal } from './reply.ts';

const NO_STORE = ['Cache-Control', 'no-store'];

export function createProbes(parts: {
  store: Store;
  catalog: () => Catalog;
  resolver: Resolver;
  metrics: Metrics;
  isDraining: () => boolean;
}) {
  const { store, catalog, resolver, metrics, isDraining } = parts;

  async function storeProblem(): Promise<string | undefined> {
    try {
      await store.ready();
      return undefined;
    } catch (error) {
      return (error as Error).name === 'StoreUnavailable' ? 'the store does not answer' : 'the store failed';
    }
  }

  return {
    async livez(call: Call): Promise<void> {
      sendJson(call, 200, '{"status":"alive"}', NO_STORE);
    },

    /** DNS is shown and never fails it: the service answers without, and says so. */
    async readyz(call: Call): Promise<void> {
      const problem = isDraining() ? 'the service is shutting down' : await storeProblem();
      if (problem) return sendRefusal(call, refuse('not_ready', problem, 1));
      const { degraded, servers, inFlight, cached } = resolver.health();
      const shown = {
        status: 'ready',
        store: 'ok',
        catalog: { snapshot: catalog().generation, domains: catalog().size },
        dns: { status: degraded ? 'degraded' : 'ok', servers, in_flight: inFlight, cached },
      };
      sendJson(call, 200, JSON.stringify(shown), NO_STORE);
    },

    async metrics(call: Call): Promise<void> {
      const { type, body } = await metrics.text();
      send(call, 200, type, body, NO_STORE);
    },
  };
}
