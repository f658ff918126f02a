import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { defineConfig } from 'vitest/config';
import { SETTINGS } from './src/config.ts';

// An operator's own store is nothing that a test may reach (`scripts/boot.mjs` does the same for everything else).
for (const name of Object.keys(SETTINGS)) delete process.env[name];

/**
 * The longest begin and the short ones fill the gaps at the end, so that no core is idle for long. Those that need a
 * program of the system come between, since `npm test` installs it while the first ones run.
 */
const ORDER = [
  /test\/(?:framing|learn|api\/edge)|test\/(?:client|commands|store)\/|test\/processes\/(?!durable|hot-path)|test\/dns\/(?!knot)/,
  /test\/console\/|test\/dns\/knot|test\/processes\/(?:durable|hot-path)/,
  /test\//,
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => ORDER.findIndex(pattern => pattern.test(moduleId));
    return (await super.sort(files)).sort((a, b) => place(a) - place(b));
  }
}

export default defineConfig({
  // Vite would take `VITE_…` of the operator's `.env` over.
  envDir: false,
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/program.ts'],
    // They end what hangs; how fast something must be is for the test to say. A test of 2 s takes 40 on a machine with ten
    // times more to do than it can (2026-11-15).
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // Vitest's own second is shorter than one stall of a machine that others use.
    expect: { poll: { timeout: 60_000 } },
    sequence: { sequencer: LongestFirst },
    // Files share the modules and the catalog of their worker: without that, half of the time went into loading them
    // (November 2026).
    isolate: false,
    // With 6 there is always something to do, and no test of a store under load gets its turn within the 0.8 s that it
    // has: 12 failed for that with 8 runnable threads for each core (2026-11-16).
    maxWorkers: 3,
  },
});
