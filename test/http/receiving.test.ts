import { EventEmitter } from 'node:events';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { Type } from 'typebox';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type Refusal, refuse } from '../../src/core/refusal.ts';
import { DomainsBody } from '../../src/http/bodies.ts';
import { hasMore, readJson } from '../../src/http/body.ts';
import { Body } from '../../src/http/body-room.ts';
import type { Call } from '../../src/http/call.ts';
import { readHead } from '../../src/http/head.ts';
import { newBodyRoom, Receiving } from '../../src/http/receiving.ts';
import type { Route } from '../../src/http/routes.ts';
import type { LongWork } from '../../src/http/turns.ts';

const values = fc.jsonValue({ maxDepth: 4 });

test('what stands between the values of a text is counted, and nothing inside of them', () => {
  fc.assert(
    fc.property(values, fc.boolean(), (value, isSpread) => {
      const text = JSON.stringify(value, null, isSpread ? 2 : undefined);
      // Each text becomes an empty one: what is left are signs.
      const signs = text.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""').replaceAll(/[^,:[{]/g, '').length;
      expect(hasMore(Buffer.from(text), signs)).toBe(false);
      if (signs > 0) expect(hasMore(Buffer.from(text), signs - 1)).toBe(true);
    }),
  );
});

const BODY = Type.Object({}, { additionalProperties: false });
const ROUTE = { door: 'key', body: BODY, mostBody: { bytes: 300_000 } } as unknown as Route;

const partsFor = (refusal?: Refusal) => ({
  callerRefusal: async () => refusal,
  isTrustedProxy: () => false,
});

/** A call of one key whose body is announced, and comes as far as the test sends it. */
function slowCall(
  receiving: Receiving,
  key: string,
  address = '127.0.0.1',
  bytes = 300_000,
  body: Type.TObject = BODY,
) {
  let turns = 0;
  const res = new EventEmitter();
  const req = Object.assign(new Readable({ read() {} }), { headers: { 'content-length': `${bytes}` } });
  const head = readHead([
    ...['Content-Type', 'application/json', 'Content-Length', `${bytes}`],
    ...['Authorization', `Bearer ${key}`],
  ]);
  const takeTurns = (work: LongWork) => {
    turns++;
    setImmediate(() => work.step());
  };
  const connection = { address, lastSecret: {}, takeBody() {}, takeTurns };
  const call = { res, head, connection, finished() {} } as unknown as Call;
  let outcome: unknown = 'waiting';
  void receiving.body(req as never, call, { ...ROUTE, body }).then(read => {
    outcome = read;
  });
  const close = () => {
    res.emit('close');
    call.finished(call, 400);
  };
  return {
    outcome: () => outcome,
    turns: () => turns,
    send: (bytes: number | string) =>
      void req.push(typeof bytes === 'string' ? bytes : Buffer.alloc(bytes, ' ')),
    end(last = '{}') {
      req.push(last);
      req.push(null);
    },
    body: () => call.body as Body,
    close,
    finish: () => call.finished(call, 400),
  };
}

const turn = () => new Promise(resolve => setImmediate(resolve));

test.each([
  ['a small body is read in one turn of its caller', 1, 1],
  ['a large one in three, and others are answered between', 250, 3],
])('%s', async (_, times, turns) => {
  const text = JSON.stringify({ domains: Array(times).fill('a'.repeat(1_000)) });
  const receiving = new Receiving(partsFor());
  const one = slowCall(receiving, 'a', '127.0.0.1', text.length, DomainsBody);
  one.send(text);
  one.end('');
  for (let i = 0; i < 5; i++) await turn();
  expect(one.outcome()).toEqual({ sent: JSON.parse(text) });
  expect(one.turns()).toBe(turns);
});

test.each([
  ['{"__proto__":{"a":1}}', 'the body is not valid JSON'],
  ['{"b":[{"__proto__":{}}]}', 'the body is not valid JSON'],
  ['{"__pr\\u006fto__":null}', 'the body is not valid JSON'],
  // As replacement characters it would be another text, of three times the length.
  ['{"b":"\xff"}', 'send JSON as UTF-8'],
])('%s is no body, whatever its schema lets in', async (text, detail) => {
  const req = Object.assign(Readable.from([Buffer.from(text, 'latin1')]), {
    headers: { 'content-length': `${text.length}` },
  });
  const head = readHead(['Content-Type', 'application/json', 'Content-Length', `${text.length}`]);
  expect(await readJson(req as never, head, Type.Object({}), { bytes: 100 })).toMatchObject({
    refused: 'validation_error',
    detail,
  });
});

type Slow = ReturnType<typeof slowCall>;
const waiting = (calls: readonly Slow[]) => calls.filter(({ outcome }) => outcome() === 'waiting').length;
const REFUSED = { refused: 'overloaded', retryAfter: 1 };

/** So many bodies of which all but the last two bytes have come. */
async function fill(receiving: Receiving, key: string, count: number, address?: string): Promise<Slow[]> {
  const calls = Array.from({ length: count }, () => slowCall(receiving, key, address));
  for (const one of calls) {
    await turn();
    one.send(299_998);
  }
  await turn();
  return calls;
}

test('bodies that are announced and do not come take no room', async () => {
  const receiving = new Receiving(partsFor());
  const silent = ['a', 'b', 'c', 'd'].flatMap(key =>
    Array.from({ length: 100 }, () => slowCall(receiving, key)),
  );
  await turn();
  const other = await fill(receiving, 'e', 20);
  expect([waiting(silent), waiting(other)]).toEqual([400, 20]);
});

test('one key has room for so many bodies: of more, the one that came no further for longest is refused', async () => {
  const receiving = new Receiving(partsFor());
  const own = await fill(receiving, 'a', 20);
  expect(waiting(own)).toBe(20);
  const [more] = await fill(receiving, 'a', 1);
  expect([waiting(own), own[0]!.outcome(), more!.outcome()]).toEqual([
    19,
    expect.objectContaining(REFUSED),
    'waiting',
  ]);
  expect([own[0]!.body().pieces.isEmpty, own[1]!.body().pieces.isEmpty]).toEqual([true, false]);
  own[0]!.send(1);
  await turn();
  expect([own[0]!.body().pieces.isEmpty, own[0]!.body().bytes]).toEqual([true, 0]);
  // Whose request waits behind another of its connection has no end of its own when it leaves.
  for (const { finish } of own) finish();
  for (const { finish } of own) finish();
  expect(waiting(await fill(receiving, 'a', 19))).toBe(19);
});

test('keys that take all the room make way for another, and so do the networks of one key', async () => {
  const receiving = new Receiving(partsFor());
  const keys = ['a', 'b', 'c', 'd'];
  const four = await Promise.all(keys.map(key => fill(receiving, key, 20)));
  // What is left of it all, so that the next byte is too much.
  await fill(receiving, 'e', 3);
  const others = await fill(receiving, 'f', 10);
  expect(waiting(others)).toBe(10);
  const left = four.map(waiting);
  expect([Math.min(...left) >= 17, Math.max(...left) < 19]).toEqual([true, true]);
  const visitor = await fill(receiving, 'a', 5, '127.0.0.9');
  expect(waiting(visitor)).toBe(5);
});

test('who waits for its turn makes room for another key, the last that came first; who is at work does not', async () => {
  const receiving = new Receiving(partsFor());
  const keys = ['a', 'b', 'c', 'd'];
  const four = (await Promise.all(keys.map(key => fill(receiving, key, 20)))).flat();
  const gaveWay: Slow[] = [];
  for (const [at, one] of four.entries()) {
    one.body().stays();
    if (at % 20 > 0) one.body().waits(() => gaveWay.push(one));
  }
  await fill(receiving, 'e', 3);
  expect(waiting(await fill(receiving, 'f', 1))).toBe(1);
  expect(gaveWay.map(one => four.indexOf(one) % 20)).toEqual([19]);
});

test('a body that was read keeps its room until its call is answered, and nobody has it make way for its own', async () => {
  const receiving = new Receiving(partsFor());
  const own = await fill(receiving, 'a', 20);
  for (const one of own) one.end();
  for (let i = 0; i < 5; i++) await turn();
  expect(own.map(({ outcome }) => outcome())).toEqual(Array(20).fill({ sent: {} }));
  expect(own[0]!.body().pieces.isEmpty).toBe(true);
  const [more] = await fill(receiving, 'a', 1);
  expect([own[0]!.body().isGone, more!.outcome()]).toEqual([false, expect.objectContaining(REFUSED)]);
});

/** A body of so many bytes, all but the last two of which have come. */
async function send(receiving: Receiving, address: string, bytes: number): Promise<Slow> {
  const one = slowCall(receiving, 'web', address, bytes);
  await turn();
  one.send(bytes - 2);
  return one;
}

test('bodies from many networks that do not go on have no other refused, though that is larger than each of them', async () => {
  const receiving = new Receiving(partsFor());
  const many: Slow[] = [];
  for (let at = 0; at < 305; at++) many.push(await send(receiving, `10.${at >> 8}.${at % 256}.1`, 21_000));
  expect(waiting(many)).toBeGreaterThan(295);
  const visitor = await send(receiving, '127.0.0.9', 22_000);
  visitor.end();
  for (let i = 0; i < 5; i++) await turn();
  expect(visitor.outcome()).toEqual({ sent: {} });
});

test('who has sent nothing for a second makes room before a network that takes more', async () => {
  const receiving = new Receiving(partsFor());
  const clock = vi.spyOn(performance, 'now');
  onTestFinished(() => clock.mockRestore());
  const stalled = await fill(receiving, 'web', 1, '10.0.0.1');
  clock.mockReturnValue(performance.now() + 1_100);
  const office = await fill(receiving, 'web', 19, '127.0.0.9');
  const more = await fill(receiving, 'web', 1, '127.0.0.9');
  expect([waiting(stalled), waiting(office), waiting(more)]).toEqual([0, 19, 1]);
  const most = await fill(receiving, 'web', 1, '127.0.0.9');
  expect([waiting(office), waiting(most)]).toEqual([18, 1]);
});

test('thousands with a byte each are not sent away for the sake of a large one', async () => {
  const receiving = new Receiving(partsFor());
  const small = Array.from({ length: 100 }, () => slowCall(receiving, 'a'));
  await turn();
  for (const one of small) one.send(1);
  const own = await fill(receiving, 'a', 21);
  expect([waiting(small), waiting(own)]).toEqual([100, 20]);
});

test('however many make way for a large piece, each of the others is looked at a few times at the most', () => {
  const looks = vi.spyOn(Body.prototype, 'canLeave', 'get');
  onTestFinished(() => looks.mockRestore());
  const [room, count] = [newBodyRoom(), 7_000];
  let gone = 0;
  const enter = (at: number) => room.enter({ key: 'a', network: `10.${at % 50}` }, () => void gone++);
  const small = Array.from({ length: count }, (_, at) => enter(at));
  for (const body of small) body.take(Buffer.alloc(890));
  const large = enter(count);
  large.take(Buffer.alloc(64 * 1_024));
  expect(gone).toBeGreaterThan(4);
  looks.mockClear();
  gone = 0;
  large.take(Buffer.alloc(64 * 1_024));
  expect(gone).toBeGreaterThan(70);
  expect(looks.mock.calls.length).toBeLessThan(4 * count);
});

test('workers have their shares of it, and each has room for one body at least', async () => {
  for (const [workers, room] of [
    [2, 10],
    [64, 1],
  ] as const) {
    const receiving = new Receiving({ ...partsFor(), bodies: newBodyRoom(workers) });
    expect(waiting(await fill(receiving, 'a', 21))).toBe(room);
  }
});

test('whom the key does not let in has no room, and who has left meanwhile neither', async () => {
  const refused = slowCall(new Receiving(partsFor(refuse('unauthorized'))), 'a');
  const receiving = new Receiving(partsFor());
  const gone = Array.from({ length: 30 }, () => slowCall(receiving, 'a'));
  for (const { close } of gone) close();
  await turn();
  expect(refused.outcome()).toMatchObject({ refused: 'unauthorized' });
  expect(gone.map(({ outcome }) => outcome())).toEqual(Array(30).fill(undefined));
  const next = slowCall(receiving, 'a');
  await turn();
  expect(next.outcome()).toBe('waiting');
});
