/** Who tells what updates changed, when several servers follow the same store. */

import { expect, onTestFinished, test } from 'vitest';
import { createChanges, recordChanges } from '../src/changes.ts';
import type { Catalog } from '../src/core/catalog.ts';
import type { Store } from '../src/core/ports.ts';
import { allAtOnce, type Steps } from '../src/core/steps.ts';
import { openSqliteStore } from '../src/store/sqlite/store.ts';
import { catalogOf } from './support/catalog.ts';
import { eventually } from './support/scale.ts';
import { temporaryFolder } from './support/service.ts';

const NOW = Date.UTC(2026, 10, 16);
const DAY_MS = 86_400_000;
const [first, second, third] = [
  await catalogOf(['a.com']),
  await catalogOf(['b.com']),
  await catalogOf(['b.com', 'c.com']),
];

async function openStore(): Promise<Store> {
  const store = await openSqliteStore(`${temporaryFolder()}/domain-risk.db`, error => {
    throw error;
  });
  onTestFinished(() => store.close());
  return store;
}

function server(store: Store, catalog: Catalog, patienceMs = 3_600_000, clock = () => NOW) {
  const recorder = recordChanges({
    ...{ store, catalog: () => catalog, clock, patienceMs },
    inTurns,
    onError(error) {
      throw error;
    },
  });
  onTestFinished(() => recorder.close());
  return recorder;
}

const inTurns = async <T>(steps: Steps<T>) => allAtOnce(steps);
const reader = (store: Store) =>
  createChanges({ store, overrides: () => new Map(), clock: () => NOW, inTurns });
const generation = async (store: Store) => (await store.changesMark())?.generation;

test('of servers that follow together one tells, whatever steps each of them took', async () => {
  const store = await openStore();
  const [one, other] = [server(store, first), server(store, first)];
  await eventually('it begins', async () => (await generation(store)) === first.generation);
  await Promise.all([one.record(first, second), other.record(first, second)]);
  await Promise.all([one.record(second, third), other.record(first, third)]);
  const page = await reader(store).list(0, 10);
  expect(page).toMatchObject({ cursor: 3, more: false });
  expect(page !== 'gone' && page.changes.map(({ domain, change }) => `${change} ${domain}`)).toEqual([
    'cleared a.com',
    'flagged b.com',
    'flagged c.com',
  ]);
});

test('after changes that no server has seen, whoever follows is told to begin anew', async () => {
  const store = await openStore();
  await server(store, first).record(first, second);
  await eventually('it begins', async () => (await generation(store)) !== undefined);
  await server(store, first).record(first, second);
  const { last } = (await store.changesMark())!;
  // Another version, or an update while none ran; it waits for those that may tell.
  const patient = server(store, third);
  await patient.record(third, second);
  expect(await reader(store).list(last, 10)).toMatchObject({ cursor: last });
  server(store, third, 1);
  await eventually('it begins anew', async () => (await generation(store)) === third.generation);
  expect(await reader(store).list(last, 10)).toBe('gone');
  const anew = await reader(store).list(undefined, 10);
  expect(anew).toEqual({ changes: [], cursor: last + 1, more: false });
  await patient.record(third, first);
  expect(await reader(store).list(last + 1, 10)).toMatchObject({ changes: { length: 3 } });
});

test('after a day of a clock that is far ahead whoever follows still finds what they have not read', async () => {
  const store = await openStore();
  const time = { now: NOW };
  const one = server(store, first, 3_600_000, () => time.now);
  await eventually('it begins', async () => (await generation(store)) === first.generation);
  await one.record(first, second);
  time.now = NOW + 366 * DAY_MS;
  for (const [before, after] of [
    [second, third],
    [third, second],
  ] as const)
    await one.record(before, after);
  expect(await reader(store).list(0, 10)).toMatchObject({ cursor: 4 });
  time.now += 2 * DAY_MS;
  await one.record(second, third);
  expect(await reader(store).list(0, 10)).toBe('gone');
});
