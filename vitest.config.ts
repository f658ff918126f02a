import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // One more than the two cores that it must do with: half of what whole services and processes do here is wait.
    maxWorkers: 3,
  },
});
