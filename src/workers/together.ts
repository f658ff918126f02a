/** A service of several workers: the port is proved to be free, then they listen there together. */

import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { EVENTS_METRIC, observeEvents, startAlerts } from '../alerts.ts';
import { type Following, handingOver, inTurns, type Progress } from '../assemble.ts';
import { freePort, Ports } from '../binding.ts';
import { followStore, loadCatalog, openServedStore } from '../compose.ts';
import type { Config } from '../config.ts';
import type { Catalog } from '../core/catalog.ts';
import type { Store } from '../core/ports.ts';
import { MetricSums } from '../http/metric-sums.ts';
import { createMetrics } from '../http/metrics.ts';
import { makeHere } from '../make.ts';
import { BACKUPS_METRIC, observeBackups, tellOfFeeds } from '../observe.ts';
import { RaisedCounts } from '../raise.ts';
import type { Schedule } from '../schedule.ts';
import type { BackupStatus } from '../scheduled-backups.ts';
import type { Service } from '../service.ts';
import type { Environment } from '../setting-sources.ts';
import type { OnFormChange } from '../store/form.ts';
import { Supervisor } from './supervisor.ts';
import { keepFresh } from './updater.ts';

/** A store that is silent does not hold the end up. */
const CLOSE_MS = 700;

interface TogetherParts {
  readonly config: Config;
  readonly log: Logger;
  readonly pass: (lines: string) => void;
  readonly progress: Progress;
  readonly onFormChange: OnFormChange;
  readonly die: (error: unknown) => void;
  readonly backups: BackupStatus | undefined;
}

export interface Together extends Pick<Service, 'address' | 'store' | 'close'> {
  readonly reloadWorkers: (env: Environment) => void;
}

/** The ports of a service that has not started, as in `service.ts`. */
export interface TogetherBinding {
  start(): Promise<Together & { readonly catalog: Catalog }>;
  close(): Promise<void>;
}

/** Until the workers listen this thread does, so that nobody else takes the port and whoever watches sees that it lives. */
export async function bindTogether(parts: TogetherParts): Promise<TogetherBinding> {
  const { log, backups } = parts;
  const config = await withFreePorts(parts.config);
  const metrics = createMetrics();
  const ports = new Ports({ config, log, metrics, workers: config.workers });
  const counts = new RaisedCounts();
  observeEvents(metrics, counts);
  if (backups) observeBackups(metrics, () => backups.age(Date.now()));
  await ports.listen();
  const close = () => ports.drain();
  return {
    close,
    async start() {
      const { address } = ports;
      const alone = new Int32Array(new SharedArrayBuffer(4));
      const store = await openServedStore(config, log, parts.die, parts.onFormChange);
      let end = () => store.close();
      try {
        const catalog = await loadCatalog(config, parts.progress, store, tellOfFeeds(log).unusable);
        const supervisor = new Supervisor({
          ...{ store, log, pass: parts.pass, giveUp: parts.die },
          ...{ workers: config.workers, port: config.port, metricsPort: config.metricsPort, alone },
          hasOperators: config.isAdminToken !== undefined,
          catalog: await inTurns(handingOver(catalog)),
          ownMetrics: async () => MetricSums.ofProcess(await metrics.values(), EVENTS_METRIC, BACKUPS_METRIC),
        });
        const following = followFor(supervisor, parts, store, catalog);
        end = endingOf(supervisor, store, following);
        await supervisor.start();
        end = endingOf(supervisor, store, following, keepFresh({ config, log, store }));
        const alerts = startAlerts({
          ...{ config, log, store, counts, backups },
          health: () => supervisor.health(),
        });
        await close();
        Atomics.store(alone, 0, 1);
        const reloadWorkers = (env: Environment) => supervisor.reload(env);
        const endAll = () => {
          alerts.close();
          return end();
        };
        return { address, store, catalog, close: endAll, reloadWorkers };
      } catch (error) {
        await end().catch(() => {});
        throw error;
      }
    },
  };
}

/** Makes the next catalog for all of them. */
function followFor(
  supervisor: Supervisor,
  { config, log }: TogetherParts,
  store: Store,
  first: Catalog,
): Following {
  let catalog = first;
  const onError = tellOfFeeds(log).unfollowed;
  return followStore(config, {
    ...{ store, catalog: () => catalog, clock: Date.now, onError },
    make: makeHere({ feedsOff: config.feedsOff, store, onError }),
    *adopting(next) {
      const handed = yield* handingOver(next);
      return () => {
        catalog = next;
        supervisor.hand(handed);
      };
    },
  });
}

function endingOf(
  supervisor: Supervisor,
  store: Store,
  following: Following,
  fresh?: Schedule,
): () => Promise<void> {
  return async () => {
    const ended = fresh?.close();
    try {
      await supervisor.drain();
    } finally {
      const closed = Promise.all([following.close(), ended]).then(() => store.close());
      await Promise.race([closed, pause(CLOSE_MS, undefined, { ref: false })]);
    }
  };
}

async function withFreePorts(config: Config): Promise<Config> {
  const { host, metricsHost, metricsPort } = config;
  const port = await freePort({ host, port: config.port });
  if (metricsPort === undefined) return { ...config, port };
  return { ...config, port, metricsPort: await freePort({ host: metricsHost, port: metricsPort }) };
}
