import { expect, test } from 'vitest';
import { type Store, StoreUnavailable } from '../src/core/ports.ts';
import { loadOverrides } from '../src/overrides.ts';

test('a store that has gone back behind a call refuses that call, and is not read for ever', async () => {
  let reads = 0;
  const listOverrides: Store['listOverrides'] = async () => {
    reads++;
    return { overrides: [], revision: 7 };
  };
  const overrides = await loadOverrides({ listOverrides } as Store);
  await expect(overrides.reach(8)).rejects.toThrow(StoreUnavailable);
  expect(reads).toBeLessThan(10);
  await overrides.reach(7);
});
