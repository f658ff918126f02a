import { expect, test } from 'vitest';
import type { Domain } from '../src/core/domain.ts';
import { makingCatalog } from '../src/core/folding.ts';
import { Infra } from '../src/core/infra.ts';
import type { Mail } from '../src/core/mail.ts';
import type { Override } from '../src/core/override.ts';
import { type Resolver, type Store, StoreUnavailable } from '../src/core/ports.ts';
import { takeSnapshot } from '../src/core/snapshot.ts';
import { allAtOnce } from '../src/core/steps.ts';
import type { Tables } from '../src/core/tables.ts';
import { type Answer, createLookup } from '../src/lookup.ts';
import { loadOverrides } from '../src/overrule.ts';

const TABLES: Tables = {
  providers: [],
  mailboxes: new Map(),
  protected: new Set(),
  suffixes: new Set(),
  relays: new Map(),
  free: { add: new Set(), remove: new Set() },
  roles: new Set(),
};
const FEED = {
  id: 'a',
  kind: 'disposable',
  family: 'verified',
  licence: 'MIT',
  origin: 'a',
  atLeast: 0,
} as const;
const MAIL: Mail = { state: 'mx', exchanges: [{ host: 'mx.spam.com', preference: 0 }], stale: false };

/** A running server: one lookup with what it remembers, a clock, and the override of spam.com. */
function server(facts: Partial<Override>, cached: Mail | undefined = MAIL) {
  const at = { now: 1_000 };
  const override: Override = {
    domain: 'spam.com',
    action: 'allow',
    below: true,
    note: null,
    author: null,
    createdAt: 0,
    expiresAt: null,
    ...facts,
  };
  const catalog = allAtOnce(
    makingCatalog([takeSnapshot(FEED, { version: '1', names: ['spam.com'] })], TABLES, 'g'),
  );
  const infra = new Infra(new Map(), new Map(), () => undefined);
  const overrides = new Map([[override.domain, override]]);
  const { lookup, last } = createLookup({
    catalog: () => catalog,
    overrides: () => overrides,
    resolver: { peek: () => cached, last: () => cached, prefetch: () => {} } as unknown as Resolver,
    clock: () => at.now,
    infra: () => infra,
    note: () => {},
    meet: () => true,
  });
  return {
    at,
    override,
    ask: (name: string) => (lookup(name as Domain, 'key') as Answer).verdict.reason,
    last: (name: string) => last(name as Domain).verdict.reason,
  };
}

test.each([
  ['the name itself, known from before', 'spam.com', MAIL],
  ['a name below it, known from before', 'x.spam.com', MAIL],
  ['a name that DNS has no answer for yet', 'spam.com', undefined],
])('an override that ends has ended on a running server at that instant: %s', (_, name, cached) => {
  const { at, ask, last } = server({ expiresAt: 2_000 }, cached);
  expect([ask(name), ask(name), last(name)]).toEqual(['safe', 'safe', 'safe']);
  at.now = 1_999;
  expect([ask(name), last(name)]).toEqual(['safe', 'safe']);
  at.now = 2_000;
  expect([ask(name), ask(name), last(name)]).toEqual(['disposable', 'disposable', 'disposable']);
});

test('an override without an end stands for as long as the server runs', () => {
  const { at, ask } = server({});
  expect(ask('spam.com')).toBe('safe');
  at.now = 1e15;
  expect(ask('spam.com')).toBe('safe');
});

/** As a store that is read has them: each time these, under the next mark. */
function loaded(list: () => { overrides: readonly Override[]; revision: number }) {
  let marks = 0;
  const readOverrides: Store['readOverrides'] = async () => ({ ...list(), mark: `mark ${++marks}` });
  return loadOverrides({
    store: { readOverrides, changedOverrides: async () => undefined },
    inTurns: async steps => allAtOnce(steps),
  });
}

test('a store that has gone back behind a call refuses that call, and is not read for ever', async () => {
  let reads = 0;
  const list = () => {
    reads++;
    return { overrides: [], revision: 7 };
  };
  const overrides = await loaded(list);
  await expect(overrides.reach(8)).rejects.toThrow(
    new StoreUnavailable('the store has gone back behind this call'),
  );
  expect(reads).toBeLessThan(10);
  await overrides.reach(7);
});

test('a store that is behind a call for a moment is read again, and the call gets the override of its revision', async () => {
  const { override } = server({});
  let revision = 6;
  const list = () => {
    revision++;
    return { overrides: revision < 9 ? [] : [override], revision };
  };
  const overrides = await loaded(list);
  expect([overrides.revision(), overrides.current().size]).toEqual([7, 0]);
  await overrides.reach(9);
  expect([overrides.revision(), overrides.current().get('spam.com')]).toEqual([9, override]);
});

test('a store that was set back to an older revision is followed there', async () => {
  let revision = 7;
  const list = () => ({ overrides: [], revision });
  const overrides = await loaded(list);
  expect(overrides.revision()).toBe(7);
  revision = 5;
  await overrides.reach(5);
  expect(overrides.revision()).toBe(5);
});

test('overrides of a store that was never changed are read all the same', async () => {
  const { override } = server({});
  const list = () => ({ overrides: [override], revision: 0 });
  const overrides = await loaded(list);
  expect([...overrides.current().keys()]).toEqual(['spam.com']);
});

test('overrides are read once for all calls of a revision, and not for those that come later', async () => {
  let reads = 0;
  let revision = 1;
  const list = () => {
    reads++;
    return { overrides: [], revision };
  };
  const overrides = await loaded(list);
  revision = 2;
  await Promise.all([overrides.reach(2), overrides.reach(2), overrides.reach(2)]);
  await overrides.reach(2);
  expect(reads).toBe(2);
});

test('overrides are not read again where only a key or a few of them have changed, and all where nobody knows which', async () => {
  const { override } = server({});
  const of = (name: string, more: Partial<Override> = {}) => ({
    ...override,
    domain: `${name}.com`,
    ...more,
  });
  let state = { mark: 'first', revision: 1, overrides: [of('a'), of('b', { expiresAt: 70 })] };
  let changed: { overrides: Override[]; gone: string[] } | undefined = { overrides: [], gone: [] };
  const asked: string[] = [];
  const overrides = await loadOverrides({
    store: {
      async readOverrides(known) {
        asked.push(`all but ${known}`);
        return state;
      },
      async changedOverrides(known) {
        asked.push(`since ${known}`);
        return changed && { ...state, ...changed };
      },
    },
    inTurns: async steps => allAtOnce(steps),
  });
  const held = () => [...overrides.current().values()];
  const before = overrides.current();
  state = { ...state, revision: 2 };
  await overrides.reach(2);
  expect([overrides.revision(), overrides.current() === before]).toEqual([2, true]);
  state = { mark: 'second', revision: 3, overrides: [] };
  changed = { overrides: [of('a', { action: 'deny', expiresAt: 50 }), of('c')], gone: ['b.com', 'd.com'] };
  await overrides.reach(3);
  expect(held()).toEqual([of('a', { action: 'deny', expiresAt: 50 }), of('c')]);
  expect([overrides.current() === before, before.size, overrides.nextEnd(0)]).toEqual([false, 2, 50]);
  state = { mark: 'third', revision: 4, overrides: [of('e')] };
  changed = undefined;
  await overrides.reach(4);
  expect(held()).toEqual([of('e')]);
  expect(asked).toEqual([
    'all but undefined',
    'since first',
    'since first',
    'since second',
    'all but undefined',
  ]);
});

test('thousands of overrides are made in steps, and put in place in one go: a call has all of its revision or waits', async () => {
  const { override } = server({});
  const many = (count: number, expiresAt: number | null) =>
    Array.from({ length: count }, (_, at) => ({ ...override, domain: `d${at}.com`, expiresAt }));
  let state = { mark: 'first', revision: 1, overrides: many(1_000, null) };
  let steps = 0;
  let seen: number[] = [];
  const overrides = await loadOverrides({
    store: { readOverrides: async () => state, changedOverrides: async () => undefined },
    async inTurns(making) {
      for (let step = making.next(); ; step = making.next()) {
        if (step.done) return step.value;
        steps++;
        if (state.revision === 2) seen = [overrides.revision(), overrides.current().size];
      }
    },
  });
  expect(steps).toBeGreaterThanOrEqual(10);
  state = {
    mark: 'second',
    revision: 2,
    overrides: [...many(2_000, 5_000), { ...override, expiresAt: 7_000 }],
  };
  await overrides.reach(2);
  expect(seen).toEqual([1, 1_000]);
  expect([overrides.revision(), overrides.current().size]).toEqual([2, 2_001]);
  expect([4_999, 5_000, 7_000].map(overrides.nextEnd)).toEqual([5_000, 7_000, Number.POSITIVE_INFINITY]);
});
