/**
 * The real service with its capacity lowered: every counted call burns processor time first, as many microseconds as
 * the first argument says (0: full speed). Settings come from the environment, as for `domain-risk serve`.
 */

import { pino } from 'pino';
import { loadCatalog, openStore } from '../src/compose.ts';
import { readConfig } from '../src/config.ts';
import type { Store } from '../src/core/ports.ts';
import { startService } from '../src/service.ts';

const costMs = Number(process.argv[2] ?? 0) / 1000;

function burn(): void {
  const until = performance.now() + costMs;
  while (performance.now() < until);
}

const die = (error: unknown) => {
  process.stderr.write(`${(error as Error).stack}\n`);
  process.exit(1);
};

const config = readConfig(process.env);
const log = pino({ level: config.logLevel, base: null }, process.stdout);
const real = await openStore(config, die);
const store: Store = {
  ...real,
  spend(...args) {
    burn();
    return real.spend(...args);
  },
};
const catalog = await loadCatalog(config, () => {}, store);
const service = await startService({ config, store, catalog, clock: Date.now, log });
log.info({ ...service.address }, 'listening');
process.once('SIGTERM', () => service.close().then(() => process.exit(0), die));
