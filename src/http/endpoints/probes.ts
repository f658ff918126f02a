/** For machines that watch the service: is it alive, is it ready, how is it doing. */

import type { Catalog } from '../../core/catalog.ts';
import { type ResolverHealth, type Store, StoreUnavailable } from '../../core/ports.ts';
import { refuse } from '../../core/refusal.ts';
import type { Freshening } from '../../freshness.ts';
import type { Call } from '../call.ts';
import type { MetricsText } from '../metrics.ts';
import { send, sendJson, sendRefusal } from '../reply.ts';
import { shownFreshness } from '../shown.ts';

const NO_STORE = ['Cache-Control', 'no-store'];
/** Anybody may ask, as often as they like: what costs something is made once in so long. */
const MADE_MS = 1_000;

/** Whoever asks while it is being made, or shortly after, gets the same: at once where it is there. */
export function madeOnce<T>(make: () => Promise<T>): (give: (made: T) => void) => Promise<void> | undefined {
  let making: Promise<T> | undefined;
  let made: { readonly it: T } | undefined;
  let madeAt = Number.NEGATIVE_INFINITY;
  return give => {
    const now = performance.now();
    if (now - madeAt > MADE_MS) {
      madeAt = now;
      made = undefined;
      making = make();
      making.then(
        it => {
          made = { it };
        },
        () => {},
      );
    }
    if (!made) return making!.then(give);
    give(made.it);
    return undefined;
  };
}

export function livez(call: Call): void {
  sendJson(call, 200, '{"status":"alive"}', NO_STORE);
}

/** What the whole service tells, of however many workers it is. */
export interface Whole {
  health(): ResolverHealth | Promise<ResolverHealth>;
  metrics(): Promise<MetricsText>;
}

export function probeEndpoints(parts: {
  store: Store;
  catalog: () => Catalog;
  whole: Whole;
  /** Of the lists: shown and not judged. */
  freshness: Pick<Freshening, 'whole'>;
  isDraining: () => boolean;
  /** Connections at the same port may still be told to come again: whoever hears 200 sends its callers there. */
  isStarting: () => boolean;
  /** Told with every look; undefined where nothing is wrong. */
  tell: (problem: string | undefined, error?: unknown) => void;
}) {
  const { store, catalog, whole, freshness, isDraining, isStarting, tell } = parts;

  async function storeProblem(): Promise<string | undefined> {
    try {
      await store.ready();
      tell(undefined);
      return undefined;
    } catch (error) {
      const problem = error instanceof StoreUnavailable ? 'the store does not answer' : 'the store failed';
      tell(problem, error);
      return problem;
    }
  }

  /** DNS and old lists are shown and never fail it: the service answers without, and says so. */
  const readiness = madeOnce(async () => {
    const problem = await storeProblem();
    if (problem) return { problem, body: '' };
    const { degraded, servers, inFlight, slow, waiting, cached } = await whole.health();
    const shown = {
      status: 'ready',
      store: 'ok',
      catalog: { snapshot: catalog().generation, domains: catalog().size },
      feeds: shownFreshness(freshness.whole()),
      dns: { status: degraded ? 'degraded' : 'ok', servers, in_flight: inFlight, slow, waiting, cached },
    };
    return { problem: undefined, body: JSON.stringify(shown) };
  });
  const measured = madeOnce(async () => {
    const { type, body } = await whole.metrics();
    return { type, body: Buffer.from(body) };
  });

  return {
    readyz(call: Call): Promise<void> | undefined {
      return readiness(({ problem, body }) => {
        const phase = isDraining() ? 'shutting down' : isStarting() ? 'starting' : undefined;
        const why = phase ? `the service is ${phase}` : problem;
        if (why === undefined) sendJson(call, 200, body, NO_STORE);
        else sendRefusal(call, refuse('not_ready', why, 1));
      });
    },

    metrics(call: Call): Promise<void> | undefined {
      return measured(({ type, body }) => send(call, 200, type, body, NO_STORE));
    },
  };
}
