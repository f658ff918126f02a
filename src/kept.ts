/** What verdicts need, and what is kept of them: flags, guests, figures, samples, and those that `DECISION_LOG` wants. */

import type { Logger } from 'pino';
import { sampleAsked } from './asked.ts';
import { inTurns } from './assemble.ts';
import { openVerdicts } from './compose.ts';
import type { Config } from './config.ts';
import type { Catalog } from './core/catalog.ts';
import type { Clock, Store, Ticks } from './core/ports.ts';
import type { DnsResolver } from './dns/resolver.ts';
import type { Metrics } from './http/metrics.ts';
import type { Make } from './make.ts';
import { countingBeside, createMix } from './mix.ts';
import { observeDecisions, tellOfUnwritten } from './observe.ts';
import { createRecall, recallingBeside } from './recall.ts';
import { watchTraffic } from './traffic.ts';

interface KeptParts {
  readonly config: Config;
  readonly store: Store;
  readonly resolver: DnsResolver;
  readonly catalog: () => Catalog;
  readonly clock: Clock;
  readonly ticks?: Ticks | undefined;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly makeFilter: Make['filter'];
}

export async function openKept({ config, log, metrics, ...parts }: KeptParts) {
  const { store, clock } = parts;
  const onError = tellOfUnwritten(log);
  const verdicts = await openVerdicts({ ...parts, onError });
  const traffic = watchTraffic({ store, clock, totals: metrics.traffic, onError });
  const mix = createMix({ store, clock, onError });
  const recall = createRecall({ ...config.decisions, store, clock, onError });
  observeDecisions(metrics, recall.dropped);
  const sampling = sampleAsked({ store, lookup: verdicts.lookup, clock, inTurns, onError });
  const rank = countingBeside(countingBeside(verdicts.rank, mix), sampling);
  return {
    ...verdicts,
    rank: recallingBeside(rank, recall),
    traffic,
    mix,
    /** With what is still to be written. */
    async close(): Promise<void> {
      const kept = [sampling, verdicts, recall, traffic, mix];
      await Promise.all(kept.map(one => one.close()));
    },
  };
}
