import { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { NamesInMaking } from '../src/core/indexing.ts';
import { packing, SEED_BYTES } from '../src/core/names.ts';
import { allAtOnce } from '../src/core/steps.ts';

const READER = `
import { parentPort, workerData } from 'node:worker_threads';
import { Names } from ${JSON.stringify(import.meta.resolve('../src/core/names.ts'))};
const table = Names.from(workerData);
const before = table.get('b.com');
new Uint8Array(workerData)[workerData.byteLength - 1] = 9;
parentPort.postMessage({ numbers: [table.get('a.com'), before, table.get('c.com')], size: table.size });
`;

it('another thread looks up in the same bytes, none of which are copied', async () => {
  const lists = [allAtOnce(packing(['a.com', 'b.com']))];
  const names = allAtOnce(NamesInMaking.joining(lists, 2, new Uint8Array(SEED_BYTES)));
  allAtOnce(names.adding(names.lists[0]!, at => at + 1));
  const reader = new Worker(new URL(`data:text/javascript,${encodeURIComponent(READER)}`), {
    workerData: names.buffer,
  });
  const told = await new Promise((resolve, reject) => reader.once('message', resolve).once('error', reject));
  expect(told).toEqual({ numbers: [1, 2, 0], size: 2 });
  expect(new Uint8Array(names.buffer).at(-1)).toBe(9);
});
