import { expect, it } from 'vitest';
import { allAtOnce } from '../../src/core/steps.ts';
import type { Whereabouts } from '../../src/core/whereabouts.ts';
import { WhereaboutsBook } from '../../src/learn/whereabouts.ts';

const DAY_MS = 86_400_000;

/** A store, and servers on it that are told where every host is. */
function world() {
  const time = { now: Date.UTC(2026, 10, 15, 12) };
  const rows = new Map<string, Whereabouts>();
  const written: string[] = [];
  const recalled: [string, readonly string[], number][] = [];
  const store = {
    isAway: false,
    async keepWhereabouts(kept: readonly Whereabouts[]) {
      if (store.isAway) throw new Error('away');
      for (const one of kept) rows.set(one.host, one);
      written.push(...kept.map(({ host }) => host));
    },
    whereabouts: async () => rows.values(),
  };
  const server = (told = { addresses: ['5.61.1.1'] }) =>
    new WhereaboutsBook({
      store,
      addresses: { known: () => told.addresses, age: () => 0, recall: (...one) => void recalled.push(one) },
      clock: () => time.now,
      inTurns: async steps => allAtOnce(steps),
    });
  return { time, rows, written, recalled, store, server };
}

const many = (from: number, count: number) =>
  Array.from({ length: count }, (_, at) => ({ host: `mx${from + at}.box.net`, preference: 10 }));

it('one key brings a quarter of all hosts that are kept, each once a day', async () => {
  const { time, written, server } = world();
  const book = server();
  book.note(many(0, 2_000), 'guest.com', 'greedy');
  book.note(many(5_000, 1), 'guest.com', 'modest');
  await book.write();
  expect([written.length, written.at(-1)]).toEqual([1_251, 'mx5000.box.net']);
  book.note(many(1_900, 1), 'guest.com', 'greedy');
  book.note(many(0, 1), 'guest.com', 'modest');
  await book.write();
  expect(written.length).toBe(1_251);
  time.now += DAY_MS;
  book.note(many(0, 1), 'guest.com', 'greedy');
  await book.write();
  expect(written.slice(1_251)).toEqual(['mx0.box.net']);
});

it('a host that is nowhere counts with the domain of the guest who names it, until it is somewhere', async () => {
  const { rows, server } = world();
  const told = { addresses: [] as string[] };
  const book = server(told);
  const meet = (guest: string, host: string) => book.note([{ host, preference: 10 }], guest, 'key');
  meet('a.evil.org', 'mx.unpaid1.com');
  meet('b.evil.org', 'mx.unpaid2.com');
  meet('other.org', 'mx.unpaid3.com');
  await book.write();
  const below = [1, 2, 3].map(at => rows.get(`mx.unpaid${at}.com`)!.below);
  expect([below[0] === below[1], below[0] === below[2]]).toEqual([true, false]);
  // Nobody reads there who was asked for.
  expect(below.join()).not.toMatch(/evil|other/);
  await book.read();
  told.addresses = ['5.61.1.1'];
  await book.read();
  await book.write();
  expect(rows.get('mx.unpaid1.com')).toMatchObject({ below: 'unpaid1.com', addresses: '5.61.1.1' });
  meet('a.evil.org', 'mx.there.com');
  await book.write();
  expect(rows.get('mx.there.com')!.below).toBe('there.com');
});

it('no more wait to be written than are kept', async () => {
  const { written, server } = world();
  const book = server();
  for (let key = 0; key < 6; key++) book.note(many(10_000 * key, 1_250), 'guest.com', `key${key}`);
  await book.write();
  expect(written.length).toBe(5_000);
});

it('what the store cannot take is written later, once', async () => {
  const { written, store, server } = world();
  const book = server();
  book.note(many(0, 1), 'guest.com', 'key');
  store.isAway = true;
  await expect(book.write()).rejects.toThrow('away');
  store.isAway = false;
  await book.write();
  await book.write();
  expect(written).toEqual(['mx0.box.net']);
});

it('a host that moved is written again, and not for ever where two servers are told different addresses', async () => {
  const { rows, written, server } = world();
  const told = { addresses: ['5.61.1.2'] };
  const books = [server(), server(told)];
  books[0]!.note(many(0, 1), 'guest.com', 'key');
  const minutes = async () => {
    for (let minute = 0; minute < 3; minute++)
      for (const book of books) {
        await book.write();
        await book.read();
      }
  };
  await minutes();
  expect([written.length, rows.get('mx0.box.net')?.addresses]).toEqual([1, '5.61.1.1']);
  told.addresses = ['5.61.1.3'];
  await minutes();
  expect([written.length, rows.get('mx0.box.net')?.addresses]).toEqual([2, '5.61.1.3']);
});

it('what is read is as old as the day on which it was met, and never younger than now', async () => {
  const { rows, recalled, server } = world();
  const met = (host: string, addresses: string, day: string) =>
    rows.set(host, { host, below: 'box.net', addresses, day });
  met('mx.box.net', '5.61.1.1 2a00:1::1', '2026-11-14');
  met('none.box.net', '', '2027-01-01');
  expect(await server().read()).toEqual(['mx.box.net', 'none.box.net']);
  expect(recalled).toEqual([
    ['mx.box.net', ['5.61.1.1', '2a00:1::1'], 1.5 * DAY_MS],
    ['none.box.net', [], 0],
  ]);
});
