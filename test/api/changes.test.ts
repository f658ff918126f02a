/** `GET /v1/public/changes`, status by status, on a service that follows its store. */

import { beforeAll, expect, test, vi } from 'vitest';
import { takeSnapshot, textOf } from '../../src/core/snapshot.ts';
import { PACKING } from '../../src/feeds/pack.ts';
import { SOURCES } from '../../src/feeds/sources.ts';
import { ACT } from '../support/act.ts';
import { ask, expectError } from '../support/answers.ts';
import { catalogOf } from '../support/catalog.ts';
import { eventually } from '../support/scale.ts';
import { sharedService } from '../support/service.ts';

const HOUR = 3_600_000;
const FIRST = Date.UTC(2026, 10, 16, 12);
let now = FIRST;
const empty = await catalogOf([]);
const shared = sharedService({
  hasThreads: true,
  catalog: empty,
  clock: () => now,
  ticks: () => performance.now(),
  followMs: 20,
  // Nothing is installed but what updates bring.
  env: { FEEDS_OFF: SOURCES.feeds.map(({ feed }) => feed.id).join() },
});
const PATH = '/v1/public/changes';
const castle = { ...SOURCES.updated.find(({ id }) => id === 'castle')!, atLeast: 1 };

/** As an update brings it. */
async function put(names: readonly string[]): Promise<void> {
  const { store } = shared();
  const snapshot = takeSnapshot(castle, { version: String(now), names });
  const { digest, version } = snapshot;
  const body = await PACKING.pack(textOf(snapshot));
  const was = (await store.snapshot('castle'))?.digest ?? null;
  const head = { feed: 'castle', version, digest, names: names.length, acceptedAt: now };
  expect(await store.acceptSnapshot({ ...head, body }, was, ACT)).toBe(true);
}

/** Waits until the service has followed and told. */
async function accept(names: readonly string[]): Promise<void> {
  const { store } = shared();
  const before = (await store.changesMark())?.generation;
  await put(names);
  await eventually('the change is told', async () => (await store.changesMark())?.generation !== before);
}

interface Page {
  readonly changes: { readonly domain: string; readonly change: string; readonly at: string }[];
  readonly cursor: string;
  readonly more: boolean;
}
let secret = '';
/** Where the numbers of this store begin. */
let first = 0;
/** As versions gave it that had not the moment in it. */
const c = (number: number) => `c${first + number}`;
const cursorOf = (number: number, at: number) => `${c(number)}.${at}`;
async function page(query = ''): Promise<Page> {
  const { status, body } = await ask(shared().port, PATH + query, { key: secret });
  expect(status, body).toBe(200);
  return JSON.parse(body);
}
const told = ({ changes }: Page) => changes.map(({ domain, change }) => `${change} ${domain}`);

beforeAll(async () => {
  secret = (await shared().key()).secret;
  // With other tables than those of the catalog that the test gave it.
  const isBegun = (generation = empty.generation) => generation !== empty.generation;
  await eventually('it has begun', async () => isBegun((await shared().store.changesMark())?.generation));
  first = (await shared().store.changesMark())!.floor;
});

test('200: what came and went is told once to whoever follows, page by page, and counted', async () => {
  const { port, key, used } = shared();
  expect(await page()).toEqual({ changes: [], cursor: cursorOf(0, 0), more: false });
  await accept(['a.com', 'b.com', 'c.com']);
  const begun = await page();
  expect(begun).toEqual({
    changes: ['a.com', 'b.com', 'c.com'].map(domain => ({
      ...{ domain, change: 'flagged', at: '2026-11-16T12:00:00Z', feeds: ['castle'] },
    })),
    cursor: cursorOf(3, now),
    more: false,
  });
  now += 20 * HOUR;
  await accept(['b.com', 'c.com', 'd.com']);
  for (const since of [begun.cursor, c(3)])
    expect(told(await page(`?since=${since}`))).toEqual(['cleared a.com', 'flagged d.com']);
  const part = await page(`?since=${c(2)}&limit=2`);
  const two = ['flagged c.com', 'cleared a.com'];
  expect([told(part), part.cursor, part.more]).toEqual([two, cursorOf(4, now), true]);
  const rest = await page(`?since=${part.cursor}&limit=2`);
  expect([told(rest), rest.cursor, rest.more]).toEqual([['flagged d.com'], cursorOf(5, now), false]);
  for (const since of [rest.cursor, c(5)])
    expect(await page(`?since=${since}`)).toEqual({ changes: [], cursor: rest.cursor, more: false });
  now += 5 * HOUR;
  // The last 24 hours only.
  expect(told(await page())).toEqual(['cleared a.com', 'flagged d.com']);
  const made = await key({ quota: 5 });
  const answer = await ask(port, PATH, { key: made.secret });
  expect(answer.headers.get('x-ratelimit-remaining')).toBe('4');
  expect(answer.headers.get('cache-control')).toBe('private, max-age=60');
  expect(await used(made.key)).toBe(1);
});

test('304: an unchanged page is counted too', async () => {
  const { port, key, used } = shared();
  const made = await key();
  const etag = (await ask(port, PATH, { key: made.secret })).headers.get('etag')!;
  const again = await ask(port, PATH, { key: made.secret, headers: [`If-None-Match: ${etag}`] });
  expect([again.status, again.body, again.headers.get('etag')]).toEqual([304, '', etag]);
  expect(await used(made.key)).toBe(2);
});

test('401, 403, 405, 429: the doors are those of every call, and nothing is counted there', async () => {
  const { port, key, used } = shared();
  expectError(await ask(port, PATH), 401, 'unauthorized');
  const bound = await key({ origins: ['https://a.example'] });
  expectError(await ask(port, PATH, { key: bound.secret }), 403, 'forbidden');
  expectError(await ask(port, PATH, { key: secret, method: 'POST' }), 405, 'method_not_allowed');
  const spent = await key({ quota: 0 });
  expectError(await ask(port, PATH, { key: spent.secret }), 429, 'quota_exceeded');
  expect([await used(bound.key), await used(spent.key)]).toEqual([0, 0]);
});

test.each([
  'since=',
  'since=5',
  'since=cx',
  'since=c-1',
  'since=c1.',
  'since=c1.x',
  `since=c1.${'9'.repeat(16)}`,
  `since=c${'9'.repeat(16)}`,
  'limit=0',
  'limit=1001',
])('422: ?%s is counted, and told with its rule', async query => {
  const { port, key, used } = shared();
  const made = await key();
  const answer = await ask(port, `${PATH}?${query}`, { key: made.secret });
  expectError(answer, 422, 'validation_error');
  expect(JSON.parse(answer.body).detail).toMatch(/^(?:since|limit) must be/);
  expect(await used(made.key)).toBe(1);
});

test('410: what is not known, or no longer, is gone, with the way out; 30 days are kept', async () => {
  const { port } = shared();
  const isGone = async (cursor: string) => {
    const answer = await ask(port, `${PATH}?since=${cursor}`, { key: secret });
    if (answer.status === 200) return false;
    expectError(answer, 410, 'gone');
    expect(JSON.parse(answer.body).detail).toMatch(/discard your copy, .* the last 24 hours/);
    return true;
  };
  expect([await isGone(c(0)), await isGone(c(5)), await isGone(c(6))]).toEqual([false, false, true]);
  const [begun, third, other] = [cursorOf(0, 0), cursorOf(3, FIRST), cursorOf(3, FIRST + 1)];
  expect([await isGone(begun), await isGone(third), await isGone(other)]).toEqual([false, false, true]);
  // The three of the first day are older than 30 days now, the others are not.
  now += 28 * 24 * HOUR;
  await accept(['c.com', 'd.com']);
  now += 25 * HOUR;
  expect(await isGone(c(0))).toBe(false);
  await accept(['d.com']);
  expect([await isGone(c(2)), await isGone(c(3))]).toEqual([true, false]);
  expect([await isGone(third), await isGone(other)]).toEqual([false, true]);
  const rest = ['cleared a.com', 'flagged d.com', 'cleared b.com', 'cleared c.com'];
  expect(told(await page(`?since=${c(3)}`))).toEqual(rest);
});

test('200: lists are followed while what they changed is still written, which is told in the end', async () => {
  const { store } = shared();
  const { cursor: since } = await page();
  const { promise, resolve } = Promise.withResolvers<void>();
  const write = store.writeChanges;
  const spy = vi.spyOn(store, 'writeChanges').mockImplementation(async (...args) => {
    await promise;
    return write(...args);
  });
  const isFollowed = async (name: string) => {
    const { body } = await ask(shared().port, `/v1/public/domain/${name}?explain=true`, { key: secret });
    return JSON.parse(body).evidence.lists.length > 0;
  };
  for (const name of ['e.com', 'f.com']) {
    await put(['d.com', name]);
    await eventually('it is followed', () => isFollowed(name));
  }
  expect(told(await page(`?since=${since}`))).toEqual([]);
  resolve();
  spy.mockRestore();
  const all = async () => told(await page(`?since=${since}`));
  await eventually('it is told', async () => (await all()).length === 3);
  expect(await all()).toEqual(['flagged e.com', 'cleared e.com', 'flagged f.com']);
});

test('200: what an operator allows is told as cleared, and as flagged again when that ends; what is denied is not of the lists', async () => {
  const { store } = shared();
  const { cursor } = await page();
  const override = (domain: string, action: 'allow' | 'deny') =>
    store.setOverride(
      { domain, action, below: true, note: null, author: null, createdAt: now, expiresAt: null },
      ACT,
    );
  const since = async () => told(await page(`?since=${cursor}`));
  await override('a.com', 'deny');
  await override('d.com', 'allow');
  await eventually('it is told', async () => (await since()).length === 1);
  await store.removeOverride('d.com', ACT);
  await store.removeOverride('a.com', ACT);
  await eventually('the end is told', async () => (await since()).length === 2);
  expect(await since()).toEqual(['cleared d.com', 'flagged d.com']);
});
