import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { SharedBuckets } from '../src/core/shared-rate.ts';

test('a limit of calls per second holds while threads take from one bucket at the same moment', async () => {
  const memory = SharedBuckets.newMemory();
  const code = `
    import { parentPort, workerData } from 'node:worker_threads';
    const { SharedBuckets } = await import(workerData.file);
    const buckets = new SharedBuckets(workerData.memory);
    let served = 0;
    for (let i = 0; i < 2_000; i++) served += Number(buckets.take('key_1', 500, 1_000).ok);
    parentPort.postMessage(served);`;
  const file = new URL('../src/core/shared-rate.ts', import.meta.url).href;
  const served = await Promise.all(
    [1, 2, 3].map(async () => {
      const url = new URL(`data:text/javascript,${encodeURIComponent(code)}`);
      const thread = new Worker(url, { workerData: { memory, file } });
      const [count] = (await once(thread, 'message')) as [number];
      await thread.terminate();
      return count;
    }),
  );
  expect(served.reduce((sum, one) => sum + one, 0)).toBe(500);
});
