/** What updates found → how fresh the lists of this service are, known at any moment without asking the store. */

import { type FeedCheck, type Freshness, freshnessOf, ofFollowed } from './core/freshness.ts';
import type { Clock, Store } from './core/ports.ts';

export interface Freshening {
  /** As they were a moment ago. */
  checks(): readonly FeedCheck[];
  /** What they say together. */
  whole(): Freshness;
  /** As they are now. */
  read(): Promise<readonly FeedCheck[]>;
  /** Ours that are in use. */
  readonly ids: readonly string[];
  close(): void;
}

/** As often as a server looks for what updates brought. */
const EVERY_MS = 20_000;

export function watchFreshness(parts: {
  readonly store: Pick<Store, 'feedChecks' | 'addedFeeds'>;
  /** Of our lists: what is switched off is not fetched, and nobody misses it. */
  readonly ids: readonly string[];
  readonly clock: Clock;
  readonly everyMs?: number | undefined;
}): Freshening {
  let checks: readonly FeedCheck[] = [];
  const read = async () => {
    const { store, ids } = parts;
    checks = ofFollowed(await store.feedChecks(), ids, await store.addedFeeds());
    return checks;
  };
  // Of a store that does not answer others tell.
  const look = () => void read().catch(() => {});
  look();
  const timer = setInterval(look, parts.everyMs ?? EVERY_MS).unref();
  return {
    checks: () => checks,
    whole: () => freshnessOf(checks, parts.clock()),
    read,
    ids: parts.ids,
    close: () => clearInterval(timer),
  };
}
