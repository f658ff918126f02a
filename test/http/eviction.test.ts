import { connect } from 'node:net';
import { pino } from 'pino';
import { Type } from 'typebox';
import { expect, onTestFinished, test } from 'vitest';
import type { Connection } from '../../src/http/connection.ts';
import { Eviction, MOST_TOLD } from '../../src/http/eviction.ts';
import { createMetrics } from '../../src/http/metrics.ts';
import { Port } from '../../src/http/port.ts';
import { sendJson } from '../../src/http/reply.ts';
import { page } from '../../src/http/routes.ts';
import { eventually } from '../support/scale.ts';

const PLACES = 24;
const SLOW = '/slow';
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

/** A port with few places, and an answer that comes when the test says so. */
async function startPort() {
  const { promise, resolve: answer } = Promise.withResolvers<void>();
  const port = new Port({
    ...{ log: pino({ enabled: false }), accessLog: 'off', metrics: createMetrics(), hasLane: true },
    ...{ operatorRefusal: () => undefined, callerRefusal: async () => undefined, rowOf: () => undefined },
    ...{ isFull: () => false, isTrustedProxy: () => false },
    ...{ mostConnections: PLACES, connectionsPerAddress: 100 },
  });
  const slow = page(SLOW, 'slow', 'application/json', () => {});
  port.add([
    page('/livez', 'livez', 'application/json', one => sendJson(one, 200, '{}')),
    { ...slow, handle: one => promise.then(() => sendJson(one, 200, '{}')) },
    { ...slow, method: 'POST', door: 'operator', body: Type.Object({}) },
  ]);
  await port.listen({ host: '127.0.0.1', port: 0 });
  onTestFinished(async () => {
    answer();
    await port.drain();
  });
  const { port: at } = port.server.address() as { port: number };
  return {
    ...{ port, answer },
    open(localAddress: string, says: string) {
      const socket = connect({ port: at, host: '127.0.0.1', localAddress });
      const one = { received: '', isClosed: false };
      socket.on('error', () => {});
      socket.on('data', bytes => {
        one.received += bytes.toString('latin1');
      });
      socket.on('close', () => {
        one.isClosed = true;
      });
      socket.write(says);
      onTestFinished(() => void socket.destroy());
      return one;
    },
  };
}

const BODY = `POST ${SLOW} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n`;

test.each([
  ['a request under way', get(SLOW), 3],
  ['two requests under way', get(SLOW).repeat(2), 3],
  ['an answer and a part of the next head', `${get('/livez')}GET /`, 3],
  ['a body that does not come', BODY, 3],
  ['a moment of silence', '', 3],
  ['a request under way, each from an address of its own', get(SLOW), PLACES],
])('strangers who hold every place with %s keep nobody out', async (_, says, addresses) => {
  const { port, open } = await startPort();
  for (let i = 0; i < PLACES; i++) open(`127.0.2.${1 + (i % addresses)}`, says);
  await eventually('all places are taken', () => port.sockets.count === PLACES);
  for (let i = 0; i < 5; i++) {
    const newcomer = open('127.0.0.9', get('/livez'));
    await eventually('it has its answer', () => newcomer.received !== '' || newcomer.isClosed);
    expect(newcomer.received.slice(0, 12)).toBe('HTTP/1.1 200');
  }
  expect(port.sockets.refused).toBe(0);
});

test('a stranger whose place is needed gets the answer that it waits for, which says that it is the last', async () => {
  const { port, open, answer } = await startPort();
  const strangers = Array.from({ length: PLACES }, (_, i) => open(`127.0.2.${1 + (i % 3)}`, get(SLOW)));
  await eventually('all wait', () => port.inFlight === PLACES);
  const newcomer = open('127.0.0.9', get('/livez'));
  await eventually('it has its answer', () => newcomer.received !== '');
  const more = open('127.0.2.1', get(SLOW));
  await eventually('whose address has many waits for none of them', () => more.isClosed);
  expect(more.received.slice(0, 12)).toBe('HTTP/1.1 503');
  answer();
  await eventually('all have an answer', () => strangers.every(({ received }) => received !== ''));
  const closing = strangers.filter(({ received }) => /\r\nconnection: close\r\n/i.test(received));
  expect(closing).toHaveLength(1);
  const answers = strangers.map(({ received }) => received.match(/HTTP\/1\.1 \d+/g));
  expect(answers).toEqual(Array(PLACES).fill(['HTTP/1.1 200']));
});

test('a stranger whose place is needed and whose answer does not come is gone in time', async () => {
  const { port, open } = await startPort();
  const strangers = Array.from({ length: PLACES }, (_, i) => open(`127.0.2.${1 + (i % 3)}`, get(SLOW)));
  await eventually('all wait', () => port.inFlight === PLACES);
  open('127.0.0.9', get('/livez'));
  await eventually('one is gone', () => strangers.some(({ isClosed }) => isClosed));
  expect(strangers.filter(({ isClosed }) => isClosed)).toHaveLength(1);
});

type State = 'idle' | 'busy' | 'calling' | 'proxy';

/** What became of connections of which each has an address of this size. */
function world(given: readonly (readonly [name: string, state: State, size: number, since?: number])[]) {
  const told: string[] = [];
  const dropped: string[] = [];
  const eviction = new Eviction(one => told.push((one as unknown as { name: string }).name));
  const those = given.map(([name, state, size, since = 0]) => ({
    ...{ name, size, since, activeAt: since, hasKey: state === 'calling', isProxy: state === 'proxy' },
    ...{ isBusy: true, isIdle: state === 'idle', isDispensable: () => state === 'idle' },
    evict: () => told.push(`${name} idle`),
    drop: () => dropped.push(name),
  }));
  const all = new Set(those as unknown as Connection[]);
  const shareOf = (one: Connection) => {
    const { size, isProxy } = one as unknown as (typeof those)[number];
    return { size, isHeavy: size > 10 && !isProxy };
  };
  const place = (own = 0) => eviction.fromAll(all, shareOf, { own, isHeavy: own > 10 });
  return { eviction, place, told, dropped, all };
}

test.each([
  [
    'of a large address, idle ones before busy ones',
    [
      ['a', 'busy', 50],
      ['b', 'idle', 20],
    ],
    0,
    ['b idle'],
  ],
  [
    'busy ones of a large address before idle ones of others',
    [
      ['a', 'idle', 1],
      ['b', 'busy', 20],
    ],
    0,
    ['b'],
  ],
  [
    'idle ones before busy ones of others',
    [
      ['a', 'busy', 9],
      ['b', 'idle', 1],
    ],
    0,
    ['b idle'],
  ],
  [
    'of busy ones those of the address with most',
    [
      ['a', 'busy', 3, 1],
      ['b', 'busy', 9, 2],
    ],
    0,
    ['b'],
  ],
  [
    'then the oldest',
    [
      ['a', 'busy', 1, 2],
      ['b', 'busy', 1, 1],
    ],
    0,
    ['b'],
  ],
  ['nobody whose address has no more', [['a', 'busy', 3]], 3, []],
  ['nobody busy for an address with a large share', [['a', 'busy', 50]], 11, []],
  [
    'with a key last of all',
    [
      ['a', 'calling', 50],
      ['b', 'busy', 1],
    ],
    0,
    ['b'],
  ],
  ['with a key where its address has a large share', [['a', 'calling', 50]], 0, ['a']],
  ['with a key otherwise never', [['a', 'calling', 9]], 0, []],
  ['no proxy', [['a', 'proxy', 50]], 0, []],
] as const)('who makes room: %s', (_, given, own, gone) => {
  const { place, told } = world(given as Parameters<typeof world>[0]);
  expect([place(own), told]).toEqual([gone.length > 0, gone]);
});

test('so many are told to go; further strangers are reset, nobody with a key is, and who has not gone in time is', () => {
  const busy = Array.from({ length: 100 }, (_, at) => [`${at}`, 'busy', 100, at] as const);
  const { eviction, place, told, dropped, all } = world([...busy, ['key', 'calling', 100]]);
  while (eviction.leaving.size < 100) expect(place()).toBe(true);
  expect([told.length, dropped.length]).toEqual([MOST_TOLD, 100 - MOST_TOLD]);
  expect(place()).toBe(false);
  dropped.length = 0;
  eviction.tend(performance.now() + 1_000);
  expect(dropped).toEqual([]);
  eviction.tend(performance.now() + 3_000);
  expect(dropped).toHaveLength(100);
  expect(all.size).toBe(101);
});
