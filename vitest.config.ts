import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // Files share the modules and the catalog of their worker: without that, half of the time went into loading them
    // (November 2026).
    isolate: false,
    // One more than the two cores that it must do with: half of what whole services and processes do here is wait.
    maxWorkers: 3,
  },
});
