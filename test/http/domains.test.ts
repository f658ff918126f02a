import { EventEmitter } from 'node:events';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Call } from '../../src/http/call.ts';
import { domainsEndpoint } from '../../src/http/endpoints/domains.ts';
import { PRICES } from '../../src/http/prices.ts';
import type { LongWork } from '../../src/http/turns.ts';

const verdict = { domain: 'a.com', riskScore: 5, reason: 'safe', mxProviderLabel: null };
const upTo = (count: number) => Array.from({ length: count }, (_, at) => `a${at}.com`);

/** An endpoint whose store counts at once, and whose calls do their work when the test says so. */
function world(workers?: number) {
  const looked: string[] = [];
  const counted: string[] = [];
  /** What lookups wait for, where they do. */
  const dns = { answer: undefined as Promise<unknown> | undefined };
  const service = { isDraining: false };
  const endpoint = domainsEndpoint({
    doors: {
      senderOf: ({ head }: Call) => ({ key: head.authorization, network: 'n' }),
      waits() {},
      spend({ requestId }: Call, serve: (admission: unknown) => void, names: number) {
        if (requestId === 'broken') throw new Error('a fault of ours');
        counted.push(`${requestId} ${names}`);
        serve({ key: { id: 'k' } });
      },
    },
    lookup: {
      lookup(domain: string) {
        looked.push(domain);
        return dns.answer ?? { verdict, degraded: false };
      },
    },
    rank: { note() {} },
    metrics: { verdict() {} },
    isDraining: () => service.isDraining,
    workers,
  } as never);
  function call(requestId: string, { key = 'a', names = 1, query = '', body = {} } = {}) {
    const res = Object.assign(new EventEmitter(), {
      ...{ destroyed: false, status: 0, end() {}, write: (_: Buffer, then?: () => void) => then?.() },
      writeHead(status: number) {
        res.status = status;
      },
    });
    const one = {
      ...{ requestId, res, target: { query }, finished: [] as number[], work: [] as LongWork[] },
      /** Its connection, of which Node tells an answer that waits for another one nothing. */
      isGone: false,
      step: () => one.work[0]!.step(),
      leave() {
        res.destroyed = true;
        res.emit('close');
      },
    };
    endpoint(
      {
        ...{ requestId, res, target: { query }, req: { method: 'POST' }, quota: [] },
        body: { waits() {}, stays() {}, ...body },
        head: { authorization: `Bearer ${key}` },
        connection: {
          ...{ sends: () => true, takeTurns: (work: LongWork) => one.work.push(work) },
          get isGone() {
            return one.isGone;
          },
        },
        finished: (_: Call, status: number) => one.finished.push(status),
        failed: (failed: Call) => failed.finished(failed, 500),
      } as never,
      { domains: upTo(names) },
    );
    return one;
  }
  return { call, looked, counted, dns, service };
}

test('names are worked off a millisecond at a time, each at the price of a call, and no more when the caller has left', () => {
  let now = 0;
  // Each name takes 10 µs.
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => {
    now += 0.01;
    return now;
  });
  onTestFinished(() => clock.mockRestore());
  const { call, looked, counted } = world();
  const one = call('1', { names: 1_000 });
  expect(counted).toEqual(['1 1000']);
  const prices = Array.from({ length: 5 }, () => one.step());
  for (const price of prices) {
    expect(price).toBeGreaterThan(90 * PRICES.call);
    expect(price).toBeLessThan(110 * PRICES.call);
  }
  expect(prices.reduce((sum, price) => sum + price)).toBe(looked.length * PRICES.call);
  expect([one.work[0]!.isDone, one.finished]).toEqual([false, []]);
  one.leave();
  const before = looked.length;
  expect(one.step()).toBe(0);
  expect([one.work[0]!.isDone, one.finished, looked.length]).toEqual([true, [200], before]);
});

test('calls of one key are worked off one after the other, each counted in its turn, and beside those of others', () => {
  const { call, counted } = world();
  const [first, second] = [call('1'), call('2')];
  const other = call('3', { key: 'b' });
  expect(counted).toEqual(['1 1', '3 1']);
  first.step();
  expect([first.res.status, second.res.status, counted]).toEqual([200, 0, ['1 1', '3 1', '2 1']]);
  other.step();
  second.step();
  expect([other.res.status, second.res.status]).toEqual([200, 200]);
});

test('who leaves while its call waits is not counted, and who leaves at work makes room', () => {
  const { call, counted } = world();
  const [first, second, third] = [call('1'), call('2'), call('3')];
  second.leave();
  first.leave();
  expect(first.step()).toBe(0);
  expect(counted).toEqual(['1 1', '3 1']);
  expect([second.finished, first.finished, third.finished]).toEqual([[400], [200], []]);
  third.leave();
  expect(third.step()).toBe(0);
  expect(call('4').finished).toEqual([]);
  expect(counted.at(-1)).toBe('4 1');
});

test('a call that waits for DNS keeps no other of its key waiting, until those that do are many and large', () => {
  const { call, counted, dns } = world();
  dns.answer = new Promise(() => {});
  for (let at = 0; at < 30; at++) {
    const one = call(`silent ${at}`);
    one.step();
    expect([counted.length, one.work[0]!.isDone]).toEqual([at + 1, true]);
  }
  counted.length = 0;
  // A sixteenth of 24 MiB are three of these.
  const large = Array.from({ length: 5 }, (_, at) => call(`${at}`, { names: 1_000 }));
  for (let at = 0; at < 3; at++) while (!large[at]!.work[0]!.isDone) large[at]!.step();
  expect(counted).toHaveLength(3);
  dns.answer = undefined;
  const small = call('small');
  small.step();
  expect(small.res.status).toBe(200);
  large[0]!.leave();
  expect(counted.slice(3)).toEqual(['small 1', '3 1000']);
});

test('who leaves while its call waits behind another of its connection is not counted, and no work goes on for it', () => {
  const { call, counted } = world();
  const [first, second, third] = [call('1', { names: 9_000 }), call('2'), call('3')];
  first.step();
  for (const one of [first, second]) one.isGone = true;
  expect(first.step()).toBe(0);
  expect(counted).toEqual(['1 9000', '3 1']);
  expect([first.finished, second.finished, third.finished]).toEqual([[200], [400], []]);
});

test('a call that has to make room while it waits is 503 and not counted; once it is at work it is not asked to', () => {
  const { call, counted } = world();
  const [stayed, ways] = [[] as string[], [] as (() => void)[]];
  const bodyOf = (name: string) => ({
    waits: (giveWay: () => void) => ways.push(giveWay),
    stays: () => stayed.push(name),
  });
  const [first, second, third] = ['1', '2', '3'].map(name => call(name, { body: bodyOf(name) }));
  expect([ways.length, stayed]).toEqual([3, ['1']]);
  ways[1]!();
  expect(second!.res.status).toBe(503);
  first!.step();
  third!.step();
  expect([counted, stayed, third!.res.status]).toEqual([['1 1', '3 1'], ['1', '3'], 200]);
  expect(second!.finished).toEqual([503]);
});

test('when the service ends, calls that wait are 503 and not counted; those that were counted are finished', () => {
  const { call, counted, service } = world();
  const [first, ...waiting] = Array.from({ length: 5 }, (_, at) => call(`${at}`));
  service.isDraining = true;
  // It came over a connection that is still open, and needs to wait for nobody.
  const late = call('late', { key: 'b' });
  first!.step();
  late.step();
  expect([first!.res.status, late.res.status]).toEqual([200, 200]);
  expect(waiting.map(({ res }) => res.status)).toEqual(Array(4).fill(503));
  expect(counted).toEqual(['0 1', 'late 1']);
});

test('a call that fails in its turn is a 500 of its own, and those before and behind it have their answers', () => {
  const { call } = world();
  const [first, broken, last] = [call('1'), call('broken'), call('3')];
  first.step();
  last.step();
  expect([first.finished, broken.finished, last.finished]).toEqual([[200], [500], [200]]);
});

test('of one key 64 calls are there at a time: one more is 503, and not counted', () => {
  const { call, counted } = world();
  const calls = Array.from({ length: 64 }, (_, at) => call(`${at}`));
  expect(call('more').res.status).toBe(503);
  expect(call('other', { key: 'b' }).res.status).toBe(0);
  calls[0]!.step();
  expect(call('again').res.status).toBe(0);
  expect(counted.filter(one => one.startsWith('more'))).toEqual([]);
});

test('answers that may be large are made few at a time, of whatever keys, and small ones many', () => {
  const { call, counted } = world();
  const keys = Array.from({ length: 10 }, (_, at) => `k${at}`);
  const large = keys.map(key => call(key, { key, names: 1_000, query: 'explain=true' }));
  expect(counted).toHaveLength(2);
  // Whoever asks for little, or for no explanations, does not wait for them.
  call('few', { key: 'few', names: 5, query: 'explain=true' });
  call('plain', { key: 'plain', names: 1_000 });
  call('some', { key: 'some', names: 100, query: 'explain=true' });
  expect(counted.slice(2)).toEqual(['few 5', 'plain 1000', 'some 100']);
  for (const one of large) one.leave();
  counted.length = 0;
  for (const key of keys) call(key, { key, names: 1_000 });
  expect(counted).toHaveLength(10);
  // A worker has its share.
  const eighth = world(8);
  for (const key of keys) eighth.call(key, { key, names: 1_000 });
  expect(eighth.counted).toHaveLength(5);
});
