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

test('a store that has gone back behind a call refuses that call, and is not read for ever', async () => {
  let reads = 0;
  const listOverrides: Store['listOverrides'] = async () => {
    reads++;
    return { overrides: [], revision: 7 };
  };
  const overrides = await loadOverrides({ listOverrides } as Store);
  await expect(overrides.reach(8)).rejects.toThrow(
    new StoreUnavailable('the store has gone back behind this call'),
  );
  expect(reads).toBeLessThan(10);
  await overrides.reach(7);
});

test('a store that is behind a call for a moment is read again, and the call gets the override of its revision', async () => {
  const { override } = server({});
  let revision = 6;
  const listOverrides: Store['listOverrides'] = async () => {
    revision++;
    return { overrides: revision < 9 ? [] : [override], revision };
  };
  const overrides = await loadOverrides({ listOverrides } as Store);
  expect([overrides.revision(), overrides.current().size]).toEqual([7, 0]);
  await overrides.reach(9);
  expect([overrides.revision(), overrides.current().get('spam.com')]).toEqual([9, override]);
});

test('a store that was set back to an older revision is followed there', async () => {
  let revision = 7;
  const listOverrides: Store['listOverrides'] = async () => ({ overrides: [], revision });
  const overrides = await loadOverrides({ listOverrides } as Store);
  expect(overrides.revision()).toBe(7);
  revision = 5;
  await overrides.reach(5);
  expect(overrides.revision()).toBe(5);
});

test('overrides of a store that was never changed are read all the same', async () => {
  const { override } = server({});
  const listOverrides: Store['listOverrides'] = async () => ({ overrides: [override], revision: 0 });
  const overrides = await loadOverrides({ listOverrides } as Store);
  expect([...overrides.current().keys()]).toEqual(['spam.com']);
});

test('overrides are read once for all calls of a revision, and not for those that come later', async () => {
  let reads = 0;
  let revision = 1;
  const listOverrides: Store['listOverrides'] = async () => {
    reads++;
    return { overrides: [], revision };
  };
  const overrides = await loadOverrides({ listOverrides } as Store);
  revision = 2;
  await Promise.all([overrides.reach(2), overrides.reach(2), overrides.reach(2)]);
  await overrides.reach(2);
  expect(reads).toBe(2);
});
