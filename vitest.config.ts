import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { defineConfig } from 'vitest/config';
import { forgetSettings } from './test/support/environment.ts';
import { builtThreads } from './test/support/program.ts';

forgetSettings();

/** Long ones that wait most of their time: for DNS, for timeouts, for PostgreSQL. */
const WAITING =
  /test\/dns\/(?!knot)|test\/processes\/(?:dns-|edge|workers|postgres|strangers)|test\/(?:api\/(?:edge|top-domains)|client\/(?!package)|http\/port|store\/postgres)/;
/** Long ones that keep a core busy, and a disk. */
const BUSY =
  /test\/(?:framing|learn|evasion|operators-own|patterns|update|poisoned-list|maker|scheduled-backups)|test\/(?:commands|store|processes|client\/package|http\/fairness)/;
/** They need a program of the system, which `npm test` installs while the first ones run. */
const PROGRAMS = /test\/documents|test\/console\/|test\/dns\/knot|test\/processes\/(?:durable|hot-path)/;

/**
 * Busy ones and waiting ones in turn, so that no core is idle for long and no store waits for long for its turn; the
 * short ones fill the gaps at the end.
 */
class InTurn extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const all = await super.sort(files);
    const are = (pattern: RegExp) => all.filter(({ moduleId }) => pattern.test(moduleId));
    const waiting = [...are(WAITING), ...are(PROGRAMS)];
    const busy = are(BUSY).filter(file => !waiting.includes(file));
    const inTurn = busy.flatMap((file, at) => [file, ...waiting.slice(at, at + 1)]);
    return [...new Set([...inTurn, ...waiting, ...all])];
  }
}

export default defineConfig({
  // Vite would take `VITE_…` of the operator's `.env` over.
  envDir: false,
  plugins: [builtThreads()],
  // As a caller's own code imports it.
  resolve: { alias: { '@domain-risk/client': `${import.meta.dirname}/client/dist/esm/index.js` } },
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/program.ts'],
    // They end what hangs; how fast something must be is for the test to say. A test of 2 s takes 40 on a machine with ten
    // times more to do than it can (2026-11-15).
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // Vitest's own second is shorter than one stall of a machine that others use.
    expect: { poll: { timeout: 60_000 } },
    sequence: { sequencer: InTurn },
    // Files share the modules and the catalog of their worker: without that, half of the time went into loading them
    // (November 2026).
    isolate: false,
    // 345 s with 5 on two cores that do nothing else, 352 with 7 (2026-11-17); 310 with 5, 316 with 6 (2026-11-18): both cores are busy.
    maxWorkers: 5,
  },
});
