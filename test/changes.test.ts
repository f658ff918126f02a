/** What updates changed, page by page, for those who follow. */

import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type ChangesPage, createChanges } from '../src/changes.ts';
import type { ChangesMark, NumberedChange, Since } from '../src/core/listing-change.ts';
import type { Store } from '../src/core/ports.ts';

const NOW = Date.UTC(2026, 10, 16);
const ASKER = { key: 'k', turn: async () => {} };
function reader(store: Pick<Store, 'changesMark' | 'changesAfter' | 'changesBefore'>) {
  const changes = createChanges({ store, clock: () => NOW });
  return {
    list: (since: number | Since | undefined, limit: number, asker = ASKER) =>
      changes.list(typeof since === 'number' ? { id: since, at: undefined } : since, limit, asker),
  };
}
const told = (page: ChangesPage | 'gone') =>
  page === 'gone'
    ? page
    : page.pieces
        .flatMap(({ portion, from, to }) => portion.rows.slice(from, to))
        .map(({ domain, change }) => `${change} ${domain}`);
/** A store with so many changes, a minute apart, that counts what it is asked. */
function counting(last: number) {
  const asked = { marks: 0, reads: [] as number[], days: 0, atOnce: 0, most: 0 };
  const mark: ChangesMark = { generation: 'g', floor: 0, last };
  const row = (id: number): NumberedChange => ({
    ...{ id, domain: `d${id}.com`, change: 'flagged', at: NOW - (last - id) * 60_000, feeds: ['f'] },
  });
  const store = {
    async changesMark() {
      asked.marks++;
      return mark;
    },
    async changesAfter(id: number, most: number) {
      asked.reads.push(id);
      asked.most = Math.max(asked.most, ++asked.atOnce);
      await turn();
      asked.atOnce--;
      return Array.from({ length: Math.max(0, Math.min(most, last - id)) }, (_, at) => row(id + at + 1));
    },
    async changesBefore(at: number) {
      asked.days++;
      return last - Math.ceil((NOW - at) / 60_000) - 1;
    },
  };
  return { store, asked, mark };
}

test('pages are read once for all, in portions, whatever part of them somebody asks for', async () => {
  const { store, asked } = counting(3_100);
  const changes = reader(store);
  const pages = await Promise.all(
    Array.from({ length: 500 }, (_, at) => changes.list(at % 2 === 0 ? undefined : 1_700 + at, 1_000 - at)),
  );
  expect(pages[1]).toMatchObject({ cursor: { id: 2_700 }, more: true });
  expect(told(pages[0]!)).toHaveLength(1_000);
  // One whose turn never comes keeps nobody from the same.
  const turns = { none: 0, some: 0 };
  void changes.list(1_000, 1, {
    key: 'other',
    turn: () => {
      turns.none++;
      return new Promise(() => {});
    },
  });
  const some = async () => void turns.some++;
  expect(told(await changes.list(1_000, 1, { ...ASKER, turn: some }))).toEqual(['flagged d1001.com']);
  await changes.list(1_001, 1, { ...ASKER, turn: some });
  expect(turns).toEqual({ none: 1, some: 1 });
  expect(told(await changes.list(3_099, 10))).toEqual(['flagged d3100.com']);
  expect(told(await changes.list(3_100, 10))).toEqual([]);
  expect(asked.reads.toSorted((a, b) => a - b)).toEqual([...new Set(asked.reads)].toSorted((a, b) => a - b));
  expect(asked.reads.length).toBeLessThanOrEqual(10);
  // One under way, and one for all who came meanwhile.
  expect(asked.marks).toBeLessThanOrEqual(2 + 5);
  expect([asked.most, asked.days]).toEqual([1, 1]);
});

test('of one who asks for all of them others wait for one portion only', async () => {
  const { store, asked } = counting(10_000);
  const changes = reader(store);
  const greedy = Promise.all(
    [0, 1_000, 2_000].map(since => changes.list(since, 1_000, { ...ASKER, key: 'greedy' })),
  );
  await turn();
  await changes.list(9_000, 1);
  expect(asked.reads.length).toBeLessThanOrEqual(5);
  await greedy;
  expect(asked.reads).toHaveLength(14);
});

test('what was kept does not outlast a change', async () => {
  const { store, asked, mark } = counting(10);
  const changes = reader(store);
  for (let times = 0; times < 2; times++)
    expect(told(await changes.list(8, 10))).toEqual(['flagged d9.com', 'flagged d10.com']);
  expect(asked.reads).toHaveLength(1);
  Object.assign(mark, { floor: 9 });
  expect(await changes.list(8, 10)).toBe('gone');
});

test('a portion that could not be read is read again', async () => {
  const { store } = counting(10);
  let fails = true;
  const changes = reader({
    ...store,
    changesAfter: (id, most) => (fails ? Promise.reject(new Error('later')) : store.changesAfter(id, most)),
    changesBefore: at => (fails ? Promise.reject(new Error('later')) : store.changesBefore(at)),
  });
  await expect(changes.list(8, 1)).rejects.toThrow('later');
  await expect(changes.list(undefined, 1)).rejects.toThrow('later');
  fails = false;
  expect(told(await changes.list(8, 1))).toEqual(['flagged d9.com']);
  expect(told(await changes.list(undefined, 1))).toEqual(['flagged d1.com']);
});

test('a cursor is valid where its change is the one of that number, also at the floor, which may have none', async () => {
  const { store, mark } = counting(600);
  const changes = reader(store);
  // At the borders of portions too, the last of which is the newest.
  for (const id of [249, 250, 251, 600]) {
    const page = await changes.list(id - 1, 1);
    const { cursor } = page as ChangesPage;
    expect(cursor).toMatchObject({ id, at: NOW - (600 - id) * 60_000 });
    expect(told(await changes.list(cursor, 1))).toEqual(id < 600 ? [`flagged d${id + 1}.com`] : []);
    for (const at of [cursor.at + 1, 0]) expect(await changes.list({ id, at }, 1)).toBe('gone');
  }
  const none = { ...store, changesAfter: async () => [] };
  Object.assign(mark, { floor: 600 });
  expect(await reader(none).list(undefined, 1)).toMatchObject({ cursor: { id: 600, at: 0 } });
  expect(told(await reader(none).list({ id: 600, at: 0 }, 1))).toEqual([]);
  expect(await reader(none).list({ id: 600, at: NOW }, 1)).toBe('gone');
});

test('what is forgotten while a page waits for its turn is not left out of it: the copy is begun anew, or the day', async () => {
  const floors = [100, 300, 600];
  const sinces = [10, 249, 399, { id: 10, at: NOW - 590 * 60_000 }, undefined];
  for (const [since, floor, inTurn] of sinces.flatMap(one =>
    floors.flatMap(two => [1, 2, 3].map(three => [one, two, three] as const)),
  )) {
    const { store, mark } = counting(600);
    const forgetting = {
      ...store,
      changesMark: async () => ({ ...mark }),
      changesAfter: async (id: number, most: number) =>
        (await store.changesAfter(id, most)).filter(row => row.id >= mark.floor),
      // As it was before anything was forgotten.
      changesBefore: async () => 5,
    };
    let turns = 0;
    const turn = async () => {
      if (++turns === inTurn) Object.assign(mark, { floor });
    };
    const page = await reader(forgetting).list(since, 1_000, { ...ASKER, turn });
    const begins = typeof since === 'object' ? since.id : since;
    if (page === 'gone') expect(begins).toBeLessThan(floor);
    else {
      expect(page).toMatchObject({ cursor: { id: 600 }, more: false });
      const names = told(page) as string[];
      const first = 601 - names.length;
      expect(names).toEqual(Array.from({ length: names.length }, (_, at) => `flagged d${first + at}.com`));
      if (begins !== undefined) expect(first - 1).toBe(begins);
    }
  }
});
