/** What a server keeps of the names that it is asked for, to try updates on. */

import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { sampleAsked } from '../src/asked.ts';
import { type AskedNames, askedIn, orderOf } from '../src/core/asked.ts';
import { Infra } from '../src/core/infra.ts';
import { allAtOnce, type Steps } from '../src/core/steps.ts';
import { type Answer, createLookup } from '../src/lookup.ts';
import { openSqliteStoreHere } from '../src/store/sqlite/here.ts';
import { catalogOf } from './support/catalog.ts';
import { mx } from './support/dns.ts';
import { domain, resolving } from './support/resolving.ts';
import { temporaryFolder } from './support/service.ts';

const VERDICTS: Readonly<Record<string, readonly [reason: string, degraded: boolean]>> = {
  'safe.com': ['safe', false],
  'listed.com': ['disposable', false],
  'dead.com': ['undeliverable', false],
  'unknown.com': ['safe', true],
};

const answerOf = (name: string, [reason, degraded] = VERDICTS[name] ?? ['safe', false]) =>
  ({ verdict: { reason }, degraded, evidence: { domain: name } }) as unknown as Answer;

/** By their places. */
const inOrder = (...names: readonly string[]) =>
  names.toSorted((a, b) => orderOf(a.replace('!', '')) - orderOf(b.replace('!', ''))).join(' ');

const atOnce = async <T>(steps: Steps<T>) => allAtOnce(steps);

/** By the clock of the test. What DNS has forgotten is `unknown`. */
function sampling(from: string, unknown = new Set<string>(), inTurns = atOnce) {
  vi.useFakeTimers({ now: Date.parse(from) });
  onTestFinished(() => void vi.useRealTimers());
  const rows = new Map<string, AskedNames>();
  const written = new Map<string, AskedNames>();
  const since: string[] = [];
  const errors: unknown[] = [];
  const store = {
    isAway: false,
    async keepAsked(row: AskedNames, sinceDay: string) {
      if (store.isAway) throw new Error('away');
      rows.set(row.day, row);
      written.set(`${row.day} ${row.server}`, row);
      since.push(sinceDay);
    },
  };
  const sampled = sampleAsked({
    store,
    lookup: { last: name => answerOf(name, unknown.has(name) ? ['safe', true] : undefined) },
    clock: Date.now,
    inTurns,
    onError: error => void errors.push(error),
  });
  const ask = (name: string, by = 'key') => sampled.note(answerOf(name), by);
  const until = (text: string) => vi.advanceTimersByTimeAsync(Date.parse(text) - Date.now());
  return { ...sampled, ask, until, rows, written, since, store, errors };
}

test('safe and disposable ones of the day; what nobody knows is left out', async () => {
  const { ask, keep, close, rows, since } = sampling('2026-11-16T23:59:50Z');
  await keep();
  expect(rows.size).toBe(0);
  for (const name of Object.keys(VERDICTS)) ask(name);
  await keep();
  const server = expect.any(String);
  const names = inOrder('safe.com', '!listed.com');
  expect([...rows.values()]).toEqual([{ day: '2026-11-16', server, names }]);
  expect(since).toEqual(['2026-11-03']);
  await close();
  expect(since).toHaveLength(2);
});

test('when the service ends, all of the day is given to the store at once, without turns for others', async () => {
  const never = () => new Promise<never>(() => {});
  const { ask, close, rows } = sampling('2026-11-16T12:00:00Z', new Set(), never);
  for (const name of Object.keys(VERDICTS)) ask(name);
  await close();
  expect([...rows.values()].map(({ names }) => names)).toEqual([inOrder('safe.com', '!listed.com')]);
});

test('one key that asks for more than DNS remembers takes nothing away that others asked for', async () => {
  const [firms, junk] = [10, 200].map(count =>
    Array.from({ length: count }, (_, at) => `n${at}of${count}.com`),
  );
  const zones = [...firms!, ...junk!].map(name => [name, { records: [mx(name, 10, 'mx.elsewhere.net')] }]);
  const { dns, resolver, time } = await resolving(Object.fromEntries(zones), { cacheEntries: 50 });
  const store = await openSqliteStoreHere(join(temporaryFolder(), 'asked.db'));
  onTestFinished(() => store.close());
  const [catalog, infra] = [
    await catalogOf(['listed.com']),
    new Infra(new Map(), new Map(), () => undefined),
  ];
  const lookup = createLookup({
    ...{ catalog: () => catalog, overrides: () => new Map(), infra: () => infra, resolver },
    ...{ clock: () => time.now, note: () => {}, meet: () => true },
  });
  const sampled = sampleAsked({
    ...{ store, lookup, clock: () => time.now, inTurns: async steps => allAtOnce(steps) },
    onError(error) {
      throw error;
    },
  });
  const ask = async (names: readonly string[], by: string) => {
    for (const name of names) sampled.note(await lookup.lookup(domain(name), by), by);
  };
  await ask(firms!.slice(0, 5), 'greedy');
  await ask(firms!, 'key');
  for (let hour = 1; hour < 4; hour++) {
    time.now += 3_600_000;
    await ask(junk!, 'greedy');
    await sampled.keep();
  }
  expect(dns.asked(junk![0]!)).toBe(3);
  expect(lookup.last(domain(firms![9]!)).degraded).toBe(true);
  const [row, ...others] = await store.askedNames();
  expect(others).toEqual([]);
  expect(row!.names.split(' ')).toEqual(expect.arrayContaining(firms!));
  await sampled.close();
});

test('a name that was asked for in the morning is of that day, whatever DNS remembers in the evening', async () => {
  const forgotten = new Set<string>();
  const { ask, until, rows } = sampling('2026-11-16T09:10:00Z', forgotten);
  ask('firm.com');
  await until('2026-11-16T10:20:00Z');
  forgotten.add('firm.com');
  ask('listed.com', 'other');
  await until('2026-11-17T00:00:10Z');
  expect(rows.get('2026-11-16')?.names).toBe(inOrder('firm.com', '!listed.com'));
});

test('a clock that is a day ahead for a while takes nothing away of what was asked before', async () => {
  const { ask, keep, written } = sampling('2026-11-16T09:00:00Z');
  for (const [now, name] of [
    ['2026-11-16T09:00:00Z', 'morning.com'],
    ['2026-11-17T12:00:00Z', 'noon.com'],
    ['2026-11-16T19:00:00Z', 'evening.com'],
  ] as const) {
    vi.setSystemTime(now);
    await keep();
    ask(name);
    await keep();
  }
  const all = [...written.values()].map(({ day, names }) => `${day} ${names}`);
  expect(all).toEqual(['2026-11-16 morning.com', '2026-11-17 noon.com', '2026-11-16 evening.com']);
});

test('a day that ends while the store is away is written when it is back', async () => {
  const { ask, until, rows, store, errors } = sampling('2026-11-16T23:30:00Z');
  ask('firm.com');
  store.isAway = true;
  await until('2026-11-17T00:10:00Z');
  ask('next.com');
  expect([rows.size, errors.length]).toEqual([0, 1]);
  store.isAway = false;
  await until('2026-11-17T01:10:00Z');
  expect([...rows.values()].map(({ day, names }) => [day, names])).toEqual([
    ['2026-11-16', 'firm.com'],
    ['2026-11-17', 'next.com'],
  ]);
});

test('a name counts on the days on which it was asked for, to the last second, and on no other', async () => {
  const { ask, until, rows, close } = sampling('2026-11-01T00:20:00Z');
  const days: Readonly<Record<string, readonly number[]>> = {
    'twice.com': [1, 5],
    'again.com': [1, 2, 3, 4, 5, 6, 7],
  };
  for (let day = 1; day <= 9; day++) {
    await until(`2026-11-0${day}T23:59:59Z`);
    for (const [name, on] of Object.entries(days)) if (on.includes(day)) ask(name);
  }
  await close();
  const dated = (name: string) =>
    [...rows.values()]
      .filter(row => row.names.split(' ').includes(name))
      .map(({ day }) => Number(day.slice(8)));
  expect(dated('twice.com')).toEqual(days['twice.com']);
  expect(dated('again.com')).toEqual(days['again.com']);
  expect(askedIn([...rows.values()]).get('again.com')?.isEstablished).toBe(true);
});
