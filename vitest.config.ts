import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // Two workers on the two cores that every machine of ours has; whole services run inside the tests.
    maxWorkers: 2,
  },
});
