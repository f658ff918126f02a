/** Who writes what updates changed, when several servers follow the same store. */

import { expect, onTestFinished, test } from 'vitest';
import type { Catalog } from '../src/core/catalog.ts';
import { LEASE_MS } from '../src/core/lease.ts';
import { CHANGES_LEASE, type ListingChange } from '../src/core/listing-change.ts';
import type { Override } from '../src/core/override.ts';
import type { Store } from '../src/core/ports.ts';
import { allAtOnce, type Steps } from '../src/core/steps.ts';
import { type RecorderParts, recordChanges, writeChanges } from '../src/record.ts';
import { holdLease } from '../src/schedule.ts';
import { ACT } from './support/act.ts';
import { catalogOf } from './support/catalog.ts';
import { overrideOf } from './support/records.ts';
import { eventually } from './support/scale.ts';
import { temporaryFolder } from './support/service.ts';
import { storeAt } from './support/store.ts';

const NOW = Date.UTC(2026, 10, 16);
const DAY = 86_400_000;
const [first, second, third] = [
  await catalogOf(['a.com']),
  await catalogOf(['b.com']),
  await catalogOf(['b.com', 'c.com']),
];

const openStore = (): Promise<Store> => storeAt(`${temporaryFolder()}/domain-risk.db`);

interface ServerParts extends Partial<RecorderParts> {
  readonly mostKept?: number;
}

function server(store: RecorderParts['store'], begins: Catalog, { mostKept, ...parts }: ServerParts = {}) {
  let catalog = begins;
  const recorder = recordChanges({
    ...{ store, catalog: () => catalog, clock: () => NOW, patienceMs: 3_600_000 },
    hold: lease => holdLease({ store, clock: store.moment, renewMs: 1 }, lease),
    write: told => writeChanges(told, store, inTurns, mostKept),
    inTurns,
    onError(error) {
      throw error;
    },
    ...parts,
  });
  onTestFinished(() => recorder.close());
  return {
    ...recorder,
    follow(next: Catalog) {
      catalog = next;
      return recorder.look();
    },
  };
}

const inTurns = async <T>(steps: Steps<T>) => allAtOnce(steps);
const generation = async (store: Store) => (await store.changesMark())?.generation;
/** As whoever follows from there is told. */
async function told(store: Store, since: number): Promise<string[] | 'gone'> {
  const { floor, last } = (await store.changesMark())!;
  if (since < floor || since > last) return 'gone';
  const rows = await store.changesAfter(since, 10);
  return rows.filter(({ id }) => id <= last).map(({ domain, change }) => `${change} ${domain}`);
}
const begun = async (store: Store) => (await store.changesMark())!.floor;

test('of servers that follow together one tells, whatever steps each of them took', async () => {
  const store = await openStore();
  const servers = [server(store, first), server(store, first)];
  const [one, other] = servers as [(typeof servers)[0], (typeof servers)[0]];
  await Promise.all([one.look(), other.look()]);
  await Promise.all([one.follow(second), other.follow(second)]);
  await Promise.all([one.follow(third), other.follow(third)]);
  await one.look();
  expect(await generation(store)).toBe(third.generation);
  const since = await begun(store);
  expect(await told(store, since)).toEqual(['cleared a.com', 'flagged b.com', 'flagged c.com']);
  expect(await store.changesMark()).toMatchObject({ last: since + 3 });
});

test('what could not be written is written later, up to what is served then', async () => {
  const store = await openStore();
  const problems: unknown[] = [];
  let isLocked = false;
  const locked: RecorderParts['store'] = {
    ...store,
    async swapChangesMark(mark, was) {
      if (isLocked) throw new Error('database is locked');
      return store.swapChangesMark(mark, was);
    },
  };
  const one = server(locked, first, { lookMs: 5, onError: error => problems.push(error) });
  await one.look();
  isLocked = true;
  await one.follow(second);
  await one.follow(third);
  expect([problems.length > 0, await generation(store)]).toEqual([true, first.generation]);
  isLocked = false;
  await eventually('it is told', async () => (await generation(store)) === third.generation);
  expect(await told(store, await begun(store))).toEqual(['cleared a.com', 'flagged b.com', 'flagged c.com']);
});

test('one that has lost its lease to another writes no row among those of that one', async () => {
  const store = await openStore();
  await server(store, first).look();
  const was = (await store.changesMark())!;
  const leaseOf = (holder: string) => ({ name: CHANGES_LEASE, holder, until: NOW, dueAt: 0 });
  await store.swapLease(leaseOf('one'), undefined);
  const taken: RecorderParts['store'] = {
    ...store,
    async writeChanges(...args) {
      // It was stopped here for longer than a lease lasts.
      await store.swapLease(leaseOf('other'), leaseOf('one'));
      return store.writeChanges(...args);
    },
  };
  const write = (after: Catalog, holder: string, into: RecorderParts['store']) =>
    writeChanges({ before: first, after, was, now: NOW, holder }, into, inTurns);
  expect(await write(second, 'one', taken)).toBe(false);
  expect(await store.changesAfter(was.last, 10)).toEqual([]);
  expect(await write(third, 'other', store)).toBe(true);
  expect(await told(store, was.last)).toEqual(['cleared a.com', 'flagged b.com', 'flagged c.com']);
});

test('one that writes for longer than its lease lasts keeps it', async () => {
  const store = await openStore();
  let now = NOW;
  const one = server({ ...store, moment: async () => now }, first, {
    async write(told) {
      now += LEASE_MS;
      const isRenewed = async () => (await store.lease(CHANGES_LEASE))!.until === now + LEASE_MS;
      await eventually('it is renewed', isRenewed);
      return writeChanges(told, store, inTurns);
    },
  });
  await one.look();
  await one.follow(second);
  expect(await generation(store)).toBe(second.generation);
  expect(await store.lease(CHANGES_LEASE)).toMatchObject({ holder: null });
});

test('after changes that no server has seen, whoever follows is told to begin anew', async () => {
  const store = await openStore();
  const one = server(store, first);
  await one.look();
  await one.follow(second);
  one.close();
  const { last } = (await store.changesMark())!;
  // Another version, or an update while none ran; it waits for those that may tell.
  const patient = server(store, first);
  await patient.follow(third);
  expect(await told(store, last)).toEqual([]);
  patient.close();
  const other = server(store, first, { patienceMs: 1 });
  await other.follow(third);
  await eventually('it begins anew', async () => (await generation(store)) === third.generation);
  expect(await told(store, last)).toBe('gone');
  expect(await told(store, await begun(store))).toEqual([]);
  await other.follow(first);
  expect(await told(store, await begun(store))).toHaveLength(3);
});

test('servers that differ for good do not have everybody begin anew for ever', async () => {
  const store = await openStore();
  const servers = [first, second].map(catalog => server(store, catalog, { patienceMs: 0 }));
  for (const one of servers) await one.look();
  const marks = new Set<number>();
  for (let look = 0; look < 20; look++) {
    for (const one of servers) await one.look();
    marks.add(await begun(store));
  }
  expect(marks.size).toBeLessThanOrEqual(3);
  expect(await begun(store)).toBe(NOW * 100 + 2);
});

test('of more changes than are kept the last are told, and whoever followed is told to begin anew', async () => {
  const store = await openStore();
  const one = server(store, first, { mostKept: 3 });
  await one.look();
  const since = await begun(store);
  await one.follow(await catalogOf(['b.com', 'c.com', 'd.com', 'e.com']));
  expect(await told(store, since)).toBe('gone');
  expect(await told(store, since + 2)).toEqual(['flagged c.com', 'flagged d.com', 'flagged e.com']);
  // By the one before these it is known who stands there.
  expect((await store.changesAfter(0, 1))[0]).toMatchObject({ id: since + 2, domain: 'b.com' });
});

test('a cursor of an earlier store is none of a new one, however many changes it has', async () => {
  const [earlier, store] = [await openStore(), await openStore()];
  await server(earlier, first, { clock: () => NOW - 1 }).look();
  const cursor = await begun(earlier);
  const one = server(store, first);
  await one.look();
  await one.follow(third);
  for (const since of [cursor, cursor + 1, 0, 2]) expect(await told(store, since)).toBe('gone');
});

test.each([-2, 2])(
  'what a server tells whose clock is %s days off is dated by that of the store',
  async days => {
    const store = await openStore();
    const shared = { ...store, moment: async () => (await store.moment()) - days * DAY };
    const one = server(shared, first, { clock: () => NOW + days * DAY });
    await one.look();
    await one.follow(second);
    const [row] = await store.changesAfter(await begun(store), 1);
    expect(Math.abs(row!.at - NOW)).toBeLessThan(10_000);
  },
);

test('one update by a clock that is a month ahead takes nothing away; what a second day says counts', async () => {
  const store = await openStore();
  let now = NOW;
  const one = server(store, first, { clock: () => now });
  await one.look();
  const since = await begun(store);
  await one.follow(second);
  now += 31 * DAY;
  await one.follow(third);
  expect(await told(store, since)).toEqual(['cleared a.com', 'flagged b.com', 'flagged c.com']);
  now += DAY + 1;
  await one.follow(first);
  expect(await told(store, since)).toBe('gone');
});

/** As docs/lists.md says that a copy is kept: the last that was told of a name, or of one above it, counts. */
class Copy {
  readonly #words = new Map<string, { at: number; isFlagged: boolean }>();
  #count = 0;

  take({ domain, change }: ListingChange): void {
    this.#words.set(domain, { at: ++this.#count, isFlagged: change === 'flagged' });
  }

  isFlagged(name: string): boolean {
    const labels = name.split('.');
    const words = labels.flatMap((_, at) => this.#words.get(labels.slice(at).join('.')) ?? []);
    return words.toSorted((a, b) => b.at - a.at)[0]?.isFlagged ?? false;
  }
}

test('a copy that is kept by changes has what is flagged where lists have a name and one above it, also months later', async () => {
  const store = await openStore();
  let now = NOW;
  const one = server(store, await catalogOf(['stays.com']), { clock: () => now });
  await one.look();
  let since = await begun(store);
  const copy = new Copy();
  const names = [
    'shop.com',
    'mail.shop.com',
    'x.mail.shop.com',
    'other.com',
    'in.other.com',
    'x.in.other.com',
  ];
  const follow = async (...listed: string[]) => {
    await one.follow(await catalogOf(['stays.com', ...listed]));
    const rows = await store.changesAfter(since, 100);
    since = rows.at(-1)?.id ?? since;
    rows.forEach(row => void copy.take(row));
    return names.filter(name => copy.isFlagged(name));
  };
  expect(await follow('shop.com', 'in.other.com')).toEqual(names.filter(name => name !== 'other.com'));
  now += 40 * DAY;
  // One comes below a listed name, another makes way for the name above it.
  expect(await follow('shop.com', 'mail.shop.com', 'other.com')).toEqual(names);
  // No change is kept for so long.
  for (let update = 0; update < 6; update++) {
    now += 14 * DAY;
    await follow('shop.com', 'mail.shop.com', 'other.com', `n${update}.com`);
  }
  expect((await store.changesAfter(0, 1))[0]!.at).toBeGreaterThan(NOW + 40 * DAY);
  expect(await follow('mail.shop.com')).toEqual(['mail.shop.com', 'x.mail.shop.com']);
  expect(await follow()).toEqual([]);
  // One that was cleared long ago is flagged with the one above it.
  expect(await follow('shop.com')).toEqual(names.slice(0, 3));
});

const overrideIn = (store: Store, domain: string, facts: Partial<Override> = {}) =>
  store.setOverride(overrideOf(domain, { action: 'allow', below: true, ...facts }), ACT);

test.each([1, 4])(
  'the end of an override is told also where more has changed since than is kept, %d at a time',
  async size => {
    const store = await openStore();
    const one = server(store, await catalogOf(['ay.com']), { mostKept: 12 });
    await one.look();
    let since = await begun(store);
    const copy = new Copy();
    const follow = async () => {
      expect(since).toBeGreaterThanOrEqual((await store.changesMark())!.floor);
      const rows = await store.changesAfter(since, 100);
      since = rows.at(-1)?.id ?? since;
      rows.forEach(row => void copy.take(row));
      return rows.map(({ domain, change }) => `${change} ${domain}`);
    };
    await overrideIn(store, 'ay.com');
    await one.look();
    expect(await follow()).toEqual(['cleared ay.com']);
    for (let update = 0; update < 24 / size; update++) {
      const others = Array.from({ length: size }, (_, at) => `n${update}-${at}.com`);
      await one.follow(await catalogOf(['ay.com', ...others]));
      await follow();
      // Whenever it ends, it must be known that it stood.
      const { floor } = (await store.changesMark())!;
      const kept = await store.changesAfter(floor, 100);
      expect(kept.map(({ domain }) => domain)).toContain('ay.com');
      expect(kept.length).toBeLessThanOrEqual(12);
    }
    await store.removeOverride('ay.com', ACT);
    await one.look();
    expect(await follow()).toEqual(['flagged ay.com']);
    expect(copy.isFlagged('x.ay.com')).toBe(true);
  },
);

test("the end of an override is told when it has come by the database's clock, though this server's is ahead", async () => {
  const store = await openStore();
  const behind = { ...store, moment: async () => Date.now() - 1_500 };
  let now = NOW;
  const one = server(behind, await catalogOf(['ay.com']), { clock: () => now });
  await one.look();
  await overrideIn(store, 'ay.com', { expiresAt: NOW + 10 });
  await one.look();
  const since = await begun(store);
  for (const later of [500, 3_000]) {
    now = NOW + later;
    await one.look();
  }
  expect(await told(store, since)).toEqual(['cleared ay.com', 'flagged ay.com']);
});

test('what lists did while an override stood is told when that ends, by whichever server runs then', async () => {
  const store = await openStore();
  let now = NOW;
  const start = (catalog: Catalog) => server(store, catalog, { clock: () => now });
  const one = start(await catalogOf(['dx.com', 'old.com']));
  await one.look();
  let since = await begun(store);
  const copy = new Copy();
  const follow = async () => {
    const rows = await store.changesAfter(since, 100);
    since = rows.at(-1)?.id ?? since;
    rows.forEach(row => void copy.take(row));
    return rows.map(({ domain, change }) => `${change} ${domain}`);
  };
  await overrideIn(store, 'ay.com', { expiresAt: NOW + 10 });
  await overrideIn(store, 'old.com', { below: false });
  await overrideIn(store, 'dx.com', { action: 'deny' });
  await one.look();
  expect(await follow()).toEqual(['cleared old.com']);
  const next = await catalogOf(['ay.com', 'below.ay.com', 'old.com']);
  await one.follow(next);
  // A denied name is withdrawn by the lists all the same.
  expect(await follow()).toEqual(['cleared dx.com', 'cleared ay.com', 'cleared below.ay.com']);
  expect(['ay.com', 'x.below.ay.com', 'old.com'].map(name => copy.isFlagged(name))).toEqual([
    false,
    false,
    false,
  ]);
  await store.removeOverride('dx.com', ACT);
  await one.look();
  expect(await follow()).toEqual([]);
  one.close();
  now += 10;
  await store.removeOverride('old.com', ACT);
  await start(next).look();
  expect(await follow()).toEqual(['flagged ay.com', 'flagged old.com', 'flagged below.ay.com']);
  expect(['x.below.ay.com', 'old.com', 'dx.com'].map(name => copy.isFlagged(name))).toEqual([
    true,
    true,
    false,
  ]);
  // Nothing is told twice.
  await start(next).look();
  expect(await follow()).toEqual([]);
});
