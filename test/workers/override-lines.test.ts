import { expect, test } from 'vitest';
import type { Override } from '../../src/core/override.ts';
import { packingOverrides, unpackOverrides } from '../../src/workers/override-lines.ts';

test.each([0, 1, 100, 250])('a thread gets %i overrides as they are, made bytes in steps', count => {
  const overrides = Array.from(
    { length: count },
    (_, at): Override => ({
      ...{ domain: `d${at}.com`, action: 'deny', below: at % 2 === 0, note: 'ü "\n' },
      ...{ author: null, createdAt: at, expiresAt: at % 3 === 0 ? at : null },
    }),
  );
  const byName = new Map(overrides.map(one => [one.domain, one]));
  const packing = packingOverrides(byName);
  let steps = 0;
  let step = packing.next();
  for (; !step.done; step = packing.next()) steps++;
  expect([unpackOverrides(step.value!), steps]).toEqual([byName, Math.floor(count / 100)]);
});
