/** Loaded into a server before everything else: tells whoever asks over a socket what its main thread has used so far. */

import { createHook } from 'node:async_hooks';
import { createServer } from 'node:net';
import { PerformanceObserver } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';

export interface Used {
  /** Bytes on the heap, as long as nothing was collected. */
  readonly heap: number;
  readonly collections: number;
  readonly promises: number;
}

/** Where it listens. */
export const METER_SOCKET = 'METER_SOCKET';
/** From then on promises are counted, each of which takes more memory for it. */
export const COUNT_PROMISES = 'count promises';
/** Beforehand everything is collected that nobody holds. */
export const COLLECT = 'collect';

const path = process.env[METER_SOCKET];

function collect(): void {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
}

if (isMainThread && path !== undefined) {
  let promises = 0;
  let collections = 0;
  const hook = createHook({
    init(_id, type) {
      if (type === 'PROMISE') promises++;
    },
  });
  new PerformanceObserver(list => {
    collections += list.getEntries().length;
  }).observe({ entryTypes: ['gc'] });
  const server = createServer(socket => {
    socket.setEncoding('utf8').on('data', text => {
      if (String(text) === COUNT_PROMISES) hook.enable();
      if (String(text) === COLLECT) collect();
      const used: Used = { heap: process.memoryUsage().heapUsed, collections, promises };
      socket.end(JSON.stringify(used));
    });
  });
  server.listen(path).unref();
}
