import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Mail } from '../../src/core/mail.ts';
import { type FlightCaps, Flights } from '../../src/dns/flights.ts';

const MAIL: Mail = { state: 'mx', exchanges: [], stale: false };
const ONE = { most: 1, perZone: 1, perKey: 1 };
const CAPS: FlightCaps = {
  ...{ places: ONE, slow: ONE, background: ONE, slowBackground: ONE },
  ...{ soonMs: 60_000, budgetMs: 60_000 },
};

beforeEach(() => {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'clearImmediate', 'performance'],
  });
});
afterEach(async () => {
  // What is shared by all tests must not wait for a turn that never comes.
  await vi.runAllTimersAsync();
  vi.useRealTimers();
});

/** A time limit is over one turn of the loop after its moment. */
const after = (ms: number) => vi.advanceTimersByTimeAsync(ms + 1);

/** Flights whose questions are answered when the test says so. */
function flying(caps: Partial<FlightCaps> = {}) {
  const open = new Map<string, { land: (mail: Mail) => void }>();
  const asked: string[] = [];
  const cancelled: string[] = [];
  const flights = new Flights({ ...CAPS, ...caps }, name => {
    const { promise, resolve } = Promise.withResolvers<Mail>();
    asked.push(name);
    open.set(name, { land: resolve });
    const cancel = () => {
      cancelled.push(name);
      resolve({ ...MAIL, state: 'unknown' });
    };
    return { result: promise, cancel };
  });
  const ask = (name: string, key: string) => flights.joined(name, key) ?? flights.ask(name, name, key);
  return { flights, open, asked, cancelled, ask };
}

test('a lookup for which no place was free within its budget ends without an answer, and is not asked after that', async () => {
  const { flights, open, asked, ask } = flying({ budgetMs: 50 });
  const first = ask('first.com', 'a');
  const late = ask('late.com', 'b');
  await after(50);
  expect(await late).toBeUndefined();
  expect(flights.counts).toEqual({ asking: 1, slow: 0, waiting: 0 });
  open.get('first.com')!.land(MAIL);
  expect(await first).toBe(MAIL);
  expect(asked).toEqual(['first.com']);
});

test('time spent waiting is taken from who waited, and from nobody who joins the question that came of it', async () => {
  const { open, ask, cancelled } = flying({ budgetMs: 1_000 });
  void ask('first.com', 'a');
  const waited = ask('next.com', 'b');
  await after(900);
  open.get('first.com')!.land(MAIL);
  await after(50);
  const joined = ask('next.com', 'c');
  await after(50);
  expect(await waited).toBeUndefined();
  await after(600);
  expect(cancelled).toEqual([]);
  open.get('next.com')!.land(MAIL);
  expect(await joined).toBe(MAIL);
});

test('a question not answered soon gives up its place, and the next one has it', async () => {
  const { flights, open, asked, ask } = flying({ soonMs: 20 });
  const slow = ask('slow.com', 'a');
  const next = ask('next.com', 'b');
  expect(asked).toEqual(['slow.com']);
  await after(20);
  expect(asked).toEqual(['slow.com', 'next.com']);
  expect(flights.counts).toMatchObject({ asking: 2, slow: 1, waiting: 0 });
  open.get('slow.com')!.land(MAIL);
  expect(await slow).toBe(MAIL);
  expect(flights.counts).toMatchObject({ slow: 0 });
  open.get('next.com')!.land(MAIL);
  await next;
});

test('where the slow room is full, the longest there is not waited for any longer', async () => {
  const { cancelled, ask } = flying({ soonMs: 20 });
  const mails = [ask('a.com', 'a'), ask('b.com', 'b')];
  await after(20);
  expect(cancelled).toEqual([]);
  await after(20);
  expect((await mails[0])?.state).toBe('unknown');
  expect(cancelled).toEqual(['a.com']);
});

const MANY = { most: 9, perZone: 9, perKey: 9 };
/** One slow name of each key. */
const SLOW = { places: MANY, background: MANY, slow: { ...MANY, perKey: 1 }, soonMs: 20 };

test.each([
  ['asks for too', MANY],
  ['waits for a place to ask for', ONE],
])(
  'a slow name that another key %s goes on as the name of that one when the first has too many',
  async (_, places) => {
    const { open, cancelled, ask } = flying({ ...SLOW, places });
    void ask('first.com', 'c');
    const mails = [ask('name.com', 'a'), ask('name.com', 'b')];
    open.get('first.com')!.land(MAIL);
    await after(20);
    void ask('more.com', 'a');
    await after(20);
    expect(cancelled).toEqual([]);
    open.get('name.com')!.land(MAIL);
    expect(await Promise.all(mails)).toEqual([MAIL, MAIL]);
  },
);

test('so it does where it is asked in the background', async () => {
  const { flights, open, cancelled } = flying({ ...SLOW, slowBackground: SLOW.slow });
  for (const key of ['a', 'b']) flights.askInBackground('name.com', 'name.com', key);
  flights.askInBackground('more.com', 'more.com', 'a');
  await after(20);
  expect([[...open.keys()], cancelled]).toEqual([['name.com', 'more.com'], []]);
});

test('all who wait for a name get the answer of the first who had a place, each within his own budget', async () => {
  const { flights, open, asked, ask } = flying({ budgetMs: 200 });
  void ask('first.com', 'a');
  const early = ask('herd.com', 'b');
  await after(100);
  const late = [ask('herd.com', 'c'), ask('herd.com', 'c')];
  expect(flights.counts.waiting).toBe(2);
  open.get('first.com')!.land(MAIL);
  await after(100);
  expect(await early).toBeUndefined();
  open.get('herd.com')!.land(MAIL);
  expect(await Promise.all(late)).toEqual([MAIL, MAIL]);
  expect(asked).toEqual(['first.com', 'herd.com']);
  expect(flights.counts).toEqual({ asking: 0, slow: 0, waiting: 0 });
});

test('background work asks beside callers, and a caller who waits for the same name gets its answer', async () => {
  const { flights, open, asked, ask } = flying();
  void ask('first.com', 'a');
  const waiting = ask('both.com', 'b');
  expect(flights.askInBackground('both.com', 'both.com', 'prefetch')).toBe('begun');
  expect(flights.askInBackground('both.com', 'both.com', 'prefetch')).toBe('running');
  expect(flights.askInBackground('more.com', 'more.com', 'prefetch')).toBe('full');
  expect(flights.counts.waiting).toBe(0);
  open.get('both.com')!.land(MAIL);
  expect(await waiting).toBe(MAIL);
  expect(asked).toEqual(['first.com', 'both.com']);
});

test('closing ends those who ask and those who wait, and nothing begins any more', async () => {
  const { flights, cancelled, asked, ask } = flying();
  const [first, waiting] = [ask('first.com', 'a'), ask('next.com', 'b')];
  await flights.close();
  expect((await first)?.state).toBe('unknown');
  expect(await waiting).toBeUndefined();
  expect(cancelled).toEqual(['first.com']);
  expect(await ask('later.com', 'a')).toBeUndefined();
  expect(flights.askInBackground('later.com', 'later.com', 'prefetch')).toBe('full');
  expect(asked).toEqual(['first.com']);
});
