/** A service of several workers: the port is proved to be free, then they listen there together. */

import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Progress } from '../assemble.ts';
import { freePort, Ports } from '../binding.ts';
import { openStore } from '../compose.ts';
import type { Config } from '../config.ts';
import { MetricSums } from '../http/metric-sums.ts';
import { createMetrics } from '../http/metrics.ts';
import type { Service } from '../service.ts';
import type { OnFormChange } from '../store/form.ts';
import type { Up } from './messages.ts';
import { Supervisor } from './supervisor.ts';

/** A store that is silent does not hold the end up. */
const CLOSE_MS = 700;

interface TogetherParts {
  readonly config: Config;
  readonly log: Logger;
  readonly pass: (lines: string) => void;
  readonly progress: Progress;
  readonly onFormChange: OnFormChange;
  readonly die: (error: unknown) => void;
}

export type Together = Pick<Service, 'address' | 'store' | 'close'>;

/** The ports of a service that has not started, as in `service.ts`. */
export interface TogetherBinding {
  start(): Promise<Together & { readonly up: Up }>;
  close(): Promise<void>;
}

/** Until the workers listen this thread does, so that nobody else takes the port and whoever watches sees that it lives. */
export async function bindTogether(parts: TogetherParts): Promise<TogetherBinding> {
  const { log } = parts;
  const config = await withFreePorts(parts.config);
  const metrics = createMetrics();
  const ports = new Ports({ config, log, metrics, workers: config.workers });
  await ports.listen();
  const close = () => ports.drain();
  return {
    close,
    async start() {
      const { address } = ports;
      const store = await openStore(config, parts.die, parts.onFormChange);
      const supervisor = new Supervisor({
        ...{ store, log, pass: parts.pass, progress: parts.progress, giveUp: parts.die },
        ...{ workers: config.workers, port: config.port, metricsPort: config.metricsPort },
        ownMetrics: async () => MetricSums.ofProcess(await metrics.values()),
      });
      const end = async () => {
        try {
          await supervisor.drain();
        } finally {
          await Promise.race([store.close(), pause(CLOSE_MS, undefined, { ref: false })]);
        }
      };
      try {
        const up = await supervisor.start();
        await close();
        return { address, store, up, close: end };
      } catch (error) {
        await end().catch(() => {});
        throw error;
      }
    },
  };
}

async function withFreePorts(config: Config): Promise<Config> {
  const { host, metricsHost, metricsPort } = config;
  const port = await freePort({ host, port: config.port });
  if (metricsPort === undefined) return { ...config, port };
  return { ...config, port, metricsPort: await freePort({ host: metricsHost, port: metricsPort }) };
}
