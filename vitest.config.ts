import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { defineConfig } from 'vitest/config';

/** Need a program of the system, which `npm test` installs while the others run. */
const NEEDY = /test\/(?:console\/|dns\/knot|processes\/durable)/;

class NeedyLast extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isNeedy = ({ moduleId }: TestSpecification) => NEEDY.test(moduleId);
    return [...sorted.filter(file => !isNeedy(file)), ...sorted.filter(isNeedy)];
  }
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    sequence: { sequencer: NeedyLast },
    // Files share the modules and the catalog of their worker: without that, half of the time went into loading them
    // (November 2026).
    isolate: false,
    // One more than the two cores that it must do with: half of what whole services and processes do here is wait.
    maxWorkers: 3,
  },
});
