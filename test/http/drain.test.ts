import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { drainServer } from '../../src/http/drain.ts';
import type { Fairness } from '../../src/http/fairness.ts';
import type { Sockets } from '../../src/http/sockets.ts';

/** Nobody is there to linger for, when that is looked at. */
function socketsOf(all: readonly unknown[]): Sockets {
  let looks = 0;
  const count = () => (looks++ === 0 ? 0 : all.length);
  return Object.defineProperty({ all, accepted: 0 }, 'count', { get: count }) as unknown as Sockets;
}

test('whoever sends a request while others are ended is answered: not all go between two looks at what has come', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  let [ended, lost] = [0, 0];
  const all = Array.from({ length: 200 }, () => {
    const one = {
      ...{ requests: 1, activeAt: 0, isIdle: true, isUnread: false, isGone: false },
      hasLeft: () => one.isGone,
      end() {
        one.isGone = true;
        one.isIdle = false;
        if (ended++ === 0) setImmediate(sendAll);
      },
    };
    return one;
  });
  /** What the kernel has by the time of the next turn. */
  function sendAll() {
    for (const one of all)
      if (one.isGone) lost++;
      else one.isIdle = false;
    setTimeout(() => {
      for (const one of all) one.isGone = true;
    }, 50);
  }
  await drainServer(server, socketsOf(all), { waiting: 0, holds: 0 } as Fairness);
  expect(all.every(({ isGone }) => isGone)).toBe(true);
  expect(lost).toBeGreaterThan(0);
  expect(lost).toBeLessThan(40);
});

test('thousands of idle connections are gone within some turns, however long each of these takes', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const all = Array.from({ length: 6_400 }, () => {
    const one = {
      ...{ requests: 1, activeAt: 0, isIdle: true, isUnread: false, isGone: false },
      hasLeft: () => one.isGone,
      end: () => Object.assign(one, { isGone: true, isIdle: false }),
    };
    return one;
  });
  const isEnding = () => all.some(({ isGone }) => isGone) && !all.every(({ isGone }) => isGone);
  let turns = 0;
  const look = () => {
    if (isEnding()) turns++;
    next = setImmediate(look);
  };
  let next = setImmediate(look);
  await drainServer(server, socketsOf(all), { waiting: 0, holds: 0 } as Fairness);
  clearImmediate(next);
  expect(turns).toBeGreaterThan(30);
  expect(turns).toBeLessThan(80);
});
