import { connect } from 'node:net';
import fc from 'fast-check';
import { pino } from 'pino';
import { Type } from 'typebox';
import { expect, onTestFinished, test } from 'vitest';
import type { Connection } from '../../src/http/connection.ts';
import { Eviction, MOST_TOLD } from '../../src/http/eviction.ts';
import { createMetrics } from '../../src/http/metrics.ts';
import { OPERATORS, Parties, Places } from '../../src/http/places.ts';
import { Port } from '../../src/http/port.ts';
import { sendJson } from '../../src/http/reply.ts';
import { page } from '../../src/http/routes.ts';
import { eventually } from '../support/scale.ts';

const PLACES = 24;
const SLOW = '/slow';
const ACT = '/admin/act';
const LIST = '/list';
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

/** A port with few places, and an answer that comes when the test says so. */
async function startPort(connectionsPerAddress = 100) {
  const { promise, resolve: answer } = Promise.withResolvers<void>();
  const port = new Port({
    ...{ log: pino({ enabled: false }), accessLog: 'off', metrics: createMetrics(), hasLane: true },
    ...{ operatorRefusal: () => undefined, rowOf: () => undefined },
    callerRefusal: async ({ connection }) => void connection.knownAs('key'),
    ...{ isFull: () => false, isBehind: () => false, isTrustedProxy: () => false },
    ...{ mostConnections: PLACES, connectionsPerAddress },
  });
  const slow = page(SLOW, 'slow', 'application/json', () => {});
  port.add([
    page('/livez', 'livez', 'application/json', one => sendJson(one, 200, '{}')),
    { ...slow, handle: one => promise.then(() => sendJson(one, 200, '{}')) },
    { ...slow, method: 'POST', door: 'operator', body: Type.Object({}) },
    {
      ...page(LIST, 'list', 'application/json', () => {}),
      method: 'POST',
      door: 'key',
      body: Type.Object({}),
    },
    { ...page(ACT, 'act', 'application/json', one => sendJson(one, 200, '{}')), door: 'operator' },
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
      return Object.assign(one, { socket });
    },
  };
}

const headOf = (path: string) =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n`;
const BODY = headOf(SLOW);

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

test('whoever comes behind another of the address with most gets its place all the same', async () => {
  const { port, open } = await startPort();
  for (let i = 0; i < PLACES; i++) open(`127.0.2.${Math.max(1, i - 10)}`, get(SLOW));
  await eventually('all places are taken', () => port.sockets.count === PLACES);
  for (let i = 0; i < 5; i++) {
    open('127.0.2.1', get(SLOW));
    const newcomer = open('127.0.0.9', get('/livez'));
    await eventually('it has its answer', () => newcomer.received !== '' || newcomer.isClosed);
    expect(newcomer.received.slice(0, 12)).toBe('HTTP/1.1 200');
  }
});

test('a browser that opens six at once beside strangers of an address each has six answers', async () => {
  const { port, open } = await startPort();
  for (let i = 0; i < PLACES; i++) open(`127.0.2.${1 + i}`, get(SLOW));
  await eventually('all places are taken', () => port.sockets.count === PLACES);
  const six = Array.from({ length: 6 }, () => open('127.0.0.9', get(ACT)));
  await eventually('all have an answer', () => six.every(({ received }) => received !== ''));
  expect(six.map(({ received }) => received.slice(0, 12))).toEqual(Array(6).fill('HTTP/1.1 200'));
  for (let i = 0; i < 2 * PLACES; i++) open(`127.0.3.${1 + i}`, get('/livez'));
  await eventually('others have come and gone', () => port.sockets.evicted > 2 * PLACES);
  for (const { socket } of six) socket.write(get(ACT));
  const answers = () => six.map(({ received }) => received.match(/HTTP\/1\.1 200/g)?.length);
  await eventually('an operator is asked for no place', () => answers().every(count => count === 2));
});

test('an address that has as many as it may is told apart no more: its oldest stranger goes, behind its answer', async () => {
  const { port, open, answer } = await startPort(4);
  const strangers = Array.from({ length: 4 }, () => open('127.0.2.1', get(SLOW)));
  await eventually('all wait', () => port.inFlight === 4);
  const probe = open('127.0.2.1', get('/livez'));
  await eventually('it has its answer', () => probe.received !== '');
  expect(probe.received.slice(0, 12)).toBe('HTTP/1.1 200');
  answer();
  await eventually('all have an answer', () => strangers.every(({ received }) => received !== ''));
  const closing = strangers.filter(({ received }) => /\r\nconnection: close\r\n/i.test(received));
  expect(closing).toHaveLength(1);
});

test('behind an address that has as many as it may, whoever comes beside uploads of a key without their bodies stays', async () => {
  const { port, open, answer } = await startPort(8);
  const uploads = Array.from({ length: 7 }, () => open('127.0.2.1', headOf(LIST)));
  await eventually('all wait for their bodies', () => port.inFlight === 7);
  const newcomer = open('127.0.2.1', get(SLOW));
  await eventually('it waits for its answer', () => port.inFlight === 8);
  for (let i = 0; i < 10; i++) {
    uploads.push(open('127.0.2.1', headOf(LIST)));
    await eventually('another made room for it', () => port.sockets.evicted === i + 1 && port.inFlight === 8);
  }
  answer();
  await eventually('it has its answer', () => newcomer.received !== '' || newcomer.isClosed);
  expect(newcomer.received).toMatch(/^HTTP\/1\.1 200/);
  expect(newcomer.received).not.toMatch(/\r\nconnection: close\r\n/i);
  const told = uploads.filter(({ received }) => received.startsWith('HTTP/1.1 503'));
  expect([told.length, port.sockets.refused]).toEqual([10, 0]);
});

test('a stranger whose place is needed gets the answer that it waits for, which says that it is the last', async () => {
  const { port, open, answer } = await startPort();
  const strangers = Array.from({ length: PLACES }, (_, i) => open(`127.0.2.${1 + (i % 3)}`, get(SLOW)));
  await eventually('all wait', () => port.inFlight === PLACES);
  const newcomer = open('127.0.0.9', get('/livez'));
  await eventually('it has its answer', () => newcomer.received !== '');
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

/** `idle` for so long that it may go at once, `calling` with a moment between two calls, `waiting` for its turn, `sending` a body. */
type State = 'idle' | 'busy' | 'calling' | 'waiting' | 'sending';
interface Given {
  readonly network?: string;
  readonly party?: string;
  readonly isProxy?: boolean;
  readonly state?: State;
  readonly count?: number;
}

/** A port that is full of these, and what became of them, in this order. */
function world(given: readonly Given[], isForOperators = false) {
  const gone: string[] = [];
  // One for all: a busy machine takes longer from one to the next than lies between them.
  const now = performance.now();
  const those = given.flatMap(({ network, party, isProxy = false, state = 'busy', count = 1 }, at) =>
    Array.from({ length: count }, (_, i) => {
      const name = `${party ?? network}${count > 1 ? ` ${i}` : ''}`;
      return {
        ...{ name, network: network ?? `network ${at} ${i}`, party, isProxy, requests: 1 },
        ...{
          isIdle: state === 'idle' || state === 'calling',
          isBusy: state === 'busy',
          isAheadOfParser: state === 'waiting',
          open: state === 'busy' || state === 'sending' ? 1 : 0,
          isWritten: true,
          inHeadSince: undefined,
        },
        activeAt: state === 'idle' ? now - 5_000 - i : now,
        hasLeft: () => false,
        evict: () => gone.push(`${name} closed`),
        drop: () => gone.push(`${name} reset`),
        retire: () => gone.push(`${name} has one more answer`),
      };
    }),
  );
  const places = new Places(those.length, isForOperators);
  const eviction = new Eviction(places, one => gone.push((one as unknown as { name: string }).name));
  for (const one of those) places.take(one as unknown as Connection);
  return { eviction, places, gone, those };
}

test.each<[string, Given[], string]>([
  [
    'of the address with most, whoever came first',
    [
      { network: 'a', count: 9 },
      { network: 'b', count: 10 },
    ],
    'b 0',
  ],
  ['of addresses with few, whoever came first', [{ network: 'a' }, { network: 'b', count: 6 }], 'a'],
  [
    'of the address with most whoever is idle for longest',
    [
      { network: 'a', state: 'idle' },
      { network: 'b', count: 8 },
      { network: 'b', state: 'idle', count: 2 },
    ],
    'b 1 closed',
  ],
  ['of addresses with few, whoever is idle', [{ network: 'a' }, { network: 'b', state: 'idle' }], 'b closed'],
  ['whoever waits for its turn behind that', [{ network: 'a', state: 'waiting' }], 'a has one more answer'],
  ['strangers between two requests at once', [{ network: 'a', state: 'calling' }], 'a closed'],
  [
    'strangers before the key with most, as long as they have a quarter',
    [
      { party: 'key', count: 20 },
      { network: 'a', count: 7 },
    ],
    'a 0',
  ],
  [
    'of keys the one with most, whatever its addresses',
    [
      { party: 'key', count: 20 },
      { party: 'other', state: 'idle', count: 4 },
      { network: 'a', count: 5 },
    ],
    'key 0',
  ],
  ['of keys with few, whoever is idle', [{ party: 'a' }, { party: 'b', state: 'idle' }], 'b closed'],
  ['a key between two calls behind the next', [{ party: 'a', state: 'calling' }], 'a has one more answer'],
  [
    'keys before operators, idle or not',
    [
      { party: OPERATORS, state: 'idle', count: 9 },
      { party: 'key', count: 10 },
    ],
    'key 0',
  ],
  [
    'operators where nobody else has more than its share',
    [
      { party: OPERATORS, state: 'idle', count: 9 },
      { party: 'key', count: 2 },
      { network: 'a', count: 2 },
    ],
    `${OPERATORS} 8 closed`,
  ],
  [
    'strangers before a trusted proxy that has most',
    [
      { network: 'proxy', isProxy: true, state: 'idle', count: 20 },
      { network: 'a', count: 7 },
    ],
    'a 0',
  ],
  ['a proxy where there is nobody else', [{ network: 'proxy', isProxy: true, count: 20 }], 'proxy 0'],
])('who makes room: %s', (_, given, expected) => {
  const { eviction, gone } = world(given);
  eviction.fromAll();
  expect(gone).toEqual([expected]);
});

test('where places are for operators a key is nobody, and an operator is', () => {
  const { eviction, gone } = world(
    [
      { party: OPERATORS, count: 2 },
      { party: 'key', count: 2 },
    ],
    true,
  );
  eviction.fromAll();
  expect(gone).toEqual(['key 0']);
});

test('whoever is let in with a key is no stranger from then on, and one again where it is refused', () => {
  const { eviction, places, gone, those } = world([{ network: 'a' }, { network: 'b' }]);
  const [a, b] = those as unknown as [Connection, Connection];
  places.moved(Object.assign(a, { party: 'key' }));
  eviction.fromAll();
  expect([gone, places.isFull]).toEqual([['b'], false]);
  // It was told to go, and is nobody's any more.
  places.moved(Object.assign(b, { party: 'key' }));
  places.moved(Object.assign(a, { party: undefined }));
  expect([places.keys.all.size, places.strangers.all.size]).toEqual([0, 1]);
});

test('of an address that has as many as it may whoever is idle is found, however many before it are not', () => {
  const { eviction, gone } = world([
    { network: 'a', party: 'key', count: 100 },
    { network: 'a', party: 'idle', state: 'idle' },
  ]);
  const tries = Array.from({ length: 5 }, () => eviction.fromOwn('a'));
  expect([gone, tries]).toEqual([['idle closed'], [false, false, false, true, false]]);
});

test('of an address that has as many as it may, with calls of keys alone, one whose body has not come makes room', () => {
  const { eviction, gone } = world([
    { network: 'a', party: 'key', count: 3 },
    { network: 'a', party: 'other', state: 'sending', count: 2 },
  ]);
  const tries = Array.from({ length: 3 }, () => eviction.fromOwn('a'));
  expect([gone, tries]).toEqual([
    ['other 0', 'other 1'],
    [true, true, false],
  ]);
});

test.each<[string, Given[], string]>([
  [
    'of the key with most, whose body has not come',
    [
      { network: 'a', count: 2 },
      { network: 'a', party: 'other', state: 'idle', count: 2 },
      { network: 'a', party: 'key', state: 'sending', count: 8 },
    ],
    'key 0',
  ],
  [
    'of the key with most, whoever is idle',
    [
      { network: 'a', count: 2 },
      { network: 'a', party: 'other', state: 'sending', count: 2 },
      { network: 'a', party: 'key', count: 8 },
      { network: 'a', party: 'key', state: 'idle' },
    ],
    'key closed',
  ],
  [
    'of strangers, where they have more than a quarter',
    [
      { network: 'a', party: 'key', state: 'sending', count: 6 },
      { network: 'a', count: 3 },
    ],
    'a 0',
  ],
  [
    'of strangers, where the key with most is in the middle of its calls',
    [
      { network: 'a', party: 'key', state: 'calling', count: 3 },
      { network: 'a', party: 'other', state: 'calling', count: 3 },
      { network: 'a' },
    ],
    'a',
  ],
  [
    'of a key with more than all others in place of a stranger, though it is in the middle of its calls',
    [
      { network: 'a', party: 'other', state: 'calling' },
      { network: 'a', party: 'key', count: 3 },
      { network: 'a', party: 'key', state: 'calling', count: 3 },
      { network: 'a' },
    ],
    'key 0',
  ],
])('who makes room of an address that has as many as it may: %s', (_, given, expected) => {
  const { eviction, gone } = world(given);
  expect([eviction.fromOwn('a'), gone]).toEqual([true, [expected]]);
});

test.each<[string, number, object, string]>([
  ['who has its last answer', 2, { open: 0, isEnding: true }, 'key 0 reset'],
  ['of a key with many whose bodies have not come', 9, {}, 'key 0 reset'],
  ['not of a key with few of them', 8, {}, 'a 0 reset'],
])('of those who were told to go, the first to be reset for the next: %s', (_, count, state, expected) => {
  const { eviction, gone, those } = world([
    { network: 'a', count: 100 },
    { party: 'key', state: 'sending', count },
  ]);
  const uploads = those.slice(100).map(one => Object.assign(one, state));
  eviction.fromAll();
  for (const one of uploads) eviction.refuses(one as unknown as Connection);
  while (eviction.leaving.size < MOST_TOLD) eviction.fromAll();
  gone.length = 0;
  eviction.fromAll();
  expect(gone[0]).toBe(expected);
});

test("where most of those who were told to go are one key's, one of these is reset for the next, and no stranger", () => {
  const { eviction, gone, those } = world([
    { network: 'b', state: 'waiting' },
    { network: 'a', party: 'key', state: 'waiting', count: 100 },
  ]);
  for (const one of those.slice(0, MOST_TOLD)) eviction.refuses(one as unknown as Connection);
  gone.length = 0;
  eviction.fromAll();
  expect(gone[0]).toMatch(/^key /);
});

test('so many are told to go; who was told first is reset for the next, keys last, and who has not gone in time is', () => {
  const { eviction, gone, those } = world([
    { party: 'key', state: 'waiting' },
    { network: 'a', count: 100 },
  ]);
  expect(eviction.refuses(those[0] as unknown as Connection)).toBe(true);
  while (eviction.leaving.size < MOST_TOLD) eviction.fromAll();
  expect(gone).toEqual(those.slice(1, MOST_TOLD).map(({ name }) => name));
  expect(eviction.refuses(those[99] as unknown as Connection)).toBe(false);
  gone.length = 0;
  eviction.fromAll();
  expect(gone).toEqual(['a 0 reset', `a ${MOST_TOLD - 1}`]);
  gone.length = 0;
  eviction.tend(performance.now() + 1_000);
  expect(gone).toEqual([]);
  eviction.tend(performance.now() + 3_000);
  expect([gone.length, eviction.leaving.size]).toEqual([MOST_TOLD, 0]);
});

test('a call with a key that was told to go has its answer first, and then as long as others', () => {
  const { eviction, gone, those } = world([{ network: 'a', count: 8 }]);
  eviction.fromAll();
  eviction.fromAll();
  const [key] = those;
  // It was let in meanwhile.
  Object.assign(key!, { party: 'key' });
  gone.length = 0;
  const now = performance.now();
  eviction.tend(now + 3_000);
  eviction.tend(now + 60_000);
  expect(gone).toEqual(['a 1 reset']);
  Object.assign(key!, { isBusy: false, open: 0 });
  eviction.tend(now + 61_000);
  expect(gone).toEqual(['a 1 reset']);
  eviction.tend(now + 63_000);
  expect([gone, eviction.leaving.size]).toEqual([['a 1 reset', 'a 0 reset'], 0]);
});

test('of those who were told to go there are no more for having a key, however long their answers take', () => {
  const { eviction, gone, those } = world([{ network: 'a', count: 2 * MOST_TOLD }]);
  for (let i = 0; i < MOST_TOLD; i++) eviction.fromAll();
  for (const one of those) Object.assign(one, { party: 'key' });
  gone.length = 0;
  eviction.tend(performance.now() + 3_000);
  expect(gone).toEqual([]);
  eviction.fromAll();
  expect([gone, eviction.leaving.size]).toEqual([['a 0 reset', `a ${MOST_TOLD}`], MOST_TOLD]);
});

test('who has most is known whoever came and went', () => {
  const acts = fc.array(fc.tuple(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0, max: 2 })), {
    size: 'large',
  });
  fc.assert(
    fc.property(acts, all => {
      const parties = new Parties();
      const seats = new Map<Connection, string>();
      const ones = Array.from({ length: 41 }, (_, at) => ({ at }) as unknown as Connection);
      for (const [at, name] of all) {
        const one = ones[at]!;
        const before = seats.get(one);
        if (before === undefined) parties.add(one, `${name}`);
        else if (before === `${name}`) parties.delete(one, before);
        else parties.moved(one, before, `${name}`);
        if (before === `${name}`) seats.delete(one);
        else seats.set(one, `${name}`);
      }
      for (const name of ['0', '1', '2']) {
        const those = ones.filter(one => seats.get(one) === name);
        expect(new Set(parties.of(name)?.some(41))).toEqual(new Set(those));
      }
      const sizes = ['0', '1', '2'].map(name => [...seats.values()].filter(one => one === name).length);
      const most = Math.max(...sizes);
      expect(parties.largest.size).toBe(most > 8 ? most : seats.size);
    }),
    { numRuns: 100 },
  );
});
