import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { createMetrics } from '../../src/http/metrics.ts';
import { Port } from '../../src/http/port.ts';
import { sendJson } from '../../src/http/reply.ts';
import { page } from '../../src/http/routes.ts';
import { eventually, pause } from '../support/scale.ts';

/** More than the window of a peer that reads nothing, and less than one connection may have. */
const LENGTH = 250_000;
const BODY = JSON.stringify('x'.repeat(LENGTH - 2));
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

async function startPort(mostConnections = 1_000, share = 1) {
  const port = new Port({
    ...{ log: pino({ enabled: false }), accessLog: 'off', metrics: createMetrics(), hasLane: true },
    ...{ operatorRefusal: () => undefined, callerRefusal: async () => undefined, rowOf: () => undefined },
    ...{ isFull: () => false, isBehind: () => false, isTrustedProxy: () => false, share },
    ...{ mostConnections, connectionsPerAddress: 1_000 },
  });
  const route = page('/page', 'page', 'application/json', one => sendJson(one, 200, BODY));
  port.add([route, { ...route, path: '/admin/page', door: 'operator' }]);
  await port.listen({ host: '127.0.0.1', port: 0 });
  onTestFinished(() => port.drain());
  const { port: at } = port.server.address() as { port: number };
  /** Asks for a page, and reads when the test says so. */
  function open(localAddress = '127.0.0.1', says = get('/page')) {
    const socket = connect({ port: at, host: '127.0.0.1', localAddress, allowHalfOpen: true }).pause();
    onTestFinished(() => void socket.destroy());
    const one = { socket, received: 0, isReset: false, isEnded: false };
    socket.on('data', bytes => {
      one.received += bytes.length;
    });
    socket.on('error', () => {
      one.isReset = true;
    });
    socket.on('end', () => {
      one.isEnded = true;
    });
    socket.write(says);
    return one;
  }
  return { port, at, open };
}

/** Connections of the port that no process has any more, and for which the kernel keeps something (proc(5)). */
function orphans(port: number): number {
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const lines = readFileSync('/proc/net/tcp', 'latin1').split('\n').slice(1);
  return lines.filter(line => {
    const [, from = '', , , queues = '', , , , , inode] = line.trim().split(/ +/);
    return from.endsWith(local) && inode === '0' && !queues.startsWith('00000000');
  }).length;
}

const onLinux = test.runIf(process.platform === 'linux');

onLinux(
  'who ends its side and reads nothing has nothing kept that is not counted; who reads later gets all of it',
  async () => {
    const { port, at, open } = await startPort();
    const [early, late, reader] = [open(), open(), open()];
    early.socket.end();
    reader.socket.end();
    const ofServer = () => [...port.sockets.all];
    await eventually('all are answered', () => {
      const all = ofServer();
      return all.length === 3 && all.every(({ isWritten, requests }) => isWritten && requests === 1);
    });
    late.socket.end();
    await eventually('all have ended', () => port.sockets.count === 0);
    expect([ofServer().length, orphans(at)]).toEqual([3, 0]);
    reader.socket.resume();
    await eventually('it has read all', () => reader.isEnded || reader.isReset);
    expect(reader).toMatchObject({ isReset: false });
    expect(reader.received).toBeGreaterThan(LENGTH);
    // They had their time, as far as the service knows.
    const [one] = ofServer();
    one!.tend(performance.now() + 15_100);
    await eventually('it is gone', () => ofServer().length === 2);
    expect(orphans(at)).toBe(0);
  },
);

onLinux('who leaves its answer unread and has to make room has nothing kept', async () => {
  const { port, at, open } = await startPort(20);
  for (let i = 0; i < 20; i++) open(`127.0.0.${2 + (i % 4)}`);
  await eventually('all are answered', () => {
    const all = [...port.sockets.all];
    return all.length === 20 && all.every(({ isIdle, requests }) => isIdle && requests === 1);
  });
  const others = Array.from({ length: 10 }, () => open('127.0.0.9'));
  for (const { socket } of others) socket.resume();
  await eventually('others have theirs', () => others.every(({ received }) => received > LENGTH));
  expect(port.sockets.evicted).toBeGreaterThanOrEqual(10);
  await eventually('those are gone', () => [...port.sockets.all].length <= 20);
  expect(orphans(at)).toBe(0);
});

test('strangers at a few addresses who read nothing have no page cut that somebody reads slowly, nor an operator beside them', async () => {
  // A sixteenth of what one port may leave unread: 2 MiB are eight pages.
  const { port, open } = await startPort(1_000, 1 / 16);
  const slow = [open(), open('127.0.0.2', get('/admin/page'))];
  await eventually('it is answered', () => [...port.sockets.all].every(({ requests }) => requests === 1));
  for (let at = 0; at < 60; at++) open(`127.0.0.${2 + (at % 3)}`);
  await eventually('some give way', () => port.sockets.accepted === 62 && port.sockets.count < 30);
  for (const { socket } of slow) socket.resume();
  await eventually('they have read all', () => slow.every(one => one.received > LENGTH || one.isReset));
  expect(slow.map(({ isReset }) => isReset)).toEqual([false, false]);
});

onLinux(
  'strangers who have read their pages and stay have nobody cut who reads slowly behind a shared address',
  async () => {
    // As above.
    const { open } = await startPort(1_000, 1 / 16);
    const strangers = new Set<ReturnType<typeof open>>();
    for (let at = 0; strangers.size < 12 && at < 200; at++) {
      const one = open(`127.0.3.${1 + (at % 250)}`);
      one.socket.resume();
      strangers.add(one);
      await eventually('it has read all', () => one.received > LENGTH || one.isReset);
      // The kernel is asked meanwhile, and on a busy machine its answer is late.
      await pause(20);
      for (const other of strangers) if (other.isReset) strangers.delete(other);
    }
    const areWhole = async () => {
      const slow = Array.from({ length: 3 }, () => open('127.0.0.9'));
      await pause(300);
      for (const { socket } of slow) socket.resume();
      await eventually('they have read all', () => slow.every(one => one.received > LENGTH || one.isReset));
      for (const { socket } of slow) socket.destroy();
      return slow.every(({ isReset }) => !isReset);
    };
    const began = performance.now();
    // Again where the kernel had not answered yet.
    while (!(await areWhole())) expect(performance.now() - began).toBeLessThan(60_000);
    expect([...strangers].filter(({ isReset }) => !isReset).length).toBeGreaterThan(8);
  },
);
