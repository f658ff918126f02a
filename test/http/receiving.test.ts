import { EventEmitter } from 'node:events';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { refuse } from '../../src/core/refusal.ts';
import { DomainsBody, MOST_NAMES_BODY } from '../../src/http/bodies.ts';
import { hasMore, readJson } from '../../src/http/body.ts';
import type { Call } from '../../src/http/call.ts';
import { readHead } from '../../src/http/head.ts';
import { Receiving } from '../../src/http/receiving.ts';
import type { Route } from '../../src/http/routes.ts';

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

/** A call whose body never comes, of one key. */
function slowCall(receiving: Receiving, key: string, bytes = 300_000) {
  const res = new EventEmitter();
  const req = Object.assign(new Readable({ read() {} }), { headers: { 'content-length': `${bytes}` } });
  const head = readHead(['Content-Type', 'application/json', 'Content-Length', `${bytes}`]);
  const connection = { lastSecret: { digest: key } };
  const call = { res, head, connection, finished() {} } as unknown as Call;
  let outcome: unknown = 'waiting';
  void receiving.body(req as never, call, ROUTE).then(body => {
    outcome = body;
  });
  const close = () => {
    res.emit('close');
    call.finished(call, 400);
  };
  return { outcome: () => outcome, close, end: () => call.finished(call, 400) };
}

const turn = () => new Promise(resolve => setImmediate(resolve));

test.each([
  ['a small body is read in one go', 1, 0],
  ['between the parts of a large one others are answered', 250, 2],
])('%s', async (_, times, turnsMore) => {
  const body = JSON.stringify({ domains: Array(times).fill('a'.repeat(1_000)) });
  const turnsFor = async (text: string) => {
    const req = Object.assign(Readable.from([Buffer.from(text)]), {
      headers: { 'content-length': `${text.length}` },
    });
    const head = readHead(['Content-Type', 'application/json', 'Content-Length', `${text.length}`]);
    let isRead = false;
    void readJson(req as never, head, DomainsBody, MOST_NAMES_BODY).then(() => {
      isRead = true;
    });
    let turns = 0;
    for (; !isRead; turns++) await turn();
    return turns;
  };
  expect((await turnsFor(body)) - (await turnsFor('{"domains":["a.com"]}'))).toBe(turnsMore);
});

test('one key has room for so many bodies, all keys for four times as many, and who leaves gives it back', async () => {
  const receiving = new Receiving(async () => undefined);
  const of = (key: string) => Array.from({ length: 25 }, () => slowCall(receiving, key));
  const first = of('a');
  await turn();
  const waiting = (calls: typeof first) => calls.filter(({ outcome }) => outcome() === 'waiting').length;
  expect(waiting(first)).toBe(20);
  expect(first.at(-1)!.outcome()).toMatchObject({ refused: 'overloaded', retryAfter: 1 });
  const others = ['b', 'c', 'd', 'e'].map(of);
  await turn();
  expect(others.map(waiting)).toEqual([20, 20, 20, 3]);
  // Whose request waits behind another of its connection has no end of its own when it leaves.
  for (const { end } of first) end();
  for (const { end } of first) end();
  const again = of('a');
  await turn();
  expect(waiting(again)).toBe(20);
  expect(waiting(others[3]!)).toBe(3);
});

test('whom the key does not let in has no room, and who has left meanwhile neither', async () => {
  const refused = slowCall(new Receiving(async () => refuse('unauthorized')), 'a');
  const receiving = new Receiving(async () => undefined);
  const gone = Array.from({ length: 30 }, () => slowCall(receiving, 'a'));
  for (const { close } of gone) close();
  await turn();
  expect(refused.outcome()).toMatchObject({ refused: 'unauthorized' });
  expect(gone.map(({ outcome }) => outcome())).toEqual(Array(30).fill(undefined));
  const next = slowCall(receiving, 'a');
  await turn();
  expect(next.outcome()).toBe('waiting');
});
