/** Updates ask a server only for what is new, and are not kept from it by one that says wrong things. */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { AddedFeed } from '../src/core/added-feed.ts';
import type { Store } from '../src/core/ports.ts';
import { freshFeeds } from '../src/feeds/fresh.ts';
import { PACKING } from '../src/feeds/pack.ts';
import { actsOnFeeds } from '../src/operate/feeds.ts';
import { openSqliteStore } from '../src/store/sqlite/store.ts';
import { updateFeeds } from '../src/update.ts';
import { catalogOf } from './support/catalog.ts';
import { temporaryFolder } from './support/service.ts';
import { FEW_TABLES } from './support/versions.ts';

const DAY = 86_400_000;
const FIRST = Date.parse('2026-11-01T12:00:00Z');
const MODIFIED = 'Sun, 01 Nov 2026 10:00:00 GMT';
const ACTOR = { who: 'op', via: 'test' };
const listOf = (count: number, prefix = 'n') =>
  Array.from({ length: count }, (_, at) => `${prefix}${at}.com\n`).join('');

/** What each request was asked with. */
let asked: [unknown, unknown][];
let list: string;
let answer: (req: IncomingMessage, res: ServerResponse) => void;
const server = createServer((req, res) => {
  asked.push([req.headers['if-none-match'], req.headers['if-modified-since']]);
  answer(req, res);
});
const honest = (req: IncomingMessage, res: ServerResponse) => {
  const etag = `"${list.length}"`;
  if (req.headers['if-none-match'] === etag) res.writeHead(304).end();
  else res.writeHead(200, { etag, 'last-modified': MODIFIED }).end(list);
};

let store: Store;
const catalog = catalogOf([]);
let path: string;
let base: string;
const ends: (() => void | Promise<void>)[] = [];
beforeAll(async () => {
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  path = join(
    temporaryFolder(end => void ends.push(end)),
    'domain-risk.db',
  );
  store = await openSqliteStore(path, error => {
    throw error;
  });
  ends.unshift(
    () => store.close(),
    () => void server.close().closeAllConnections(),
  );
});
afterAll(async () => {
  for (const end of ends) await end();
});

let name: string;
let place: string;
/** Goes on from test to test: an update by a clock that is behind the last one is refused. */
let day = 0;
beforeEach(({ task }) => {
  name = `list-${task.id.replace(/[^0-9]/g, '')}`;
  place = `${base}/list.txt?secret=1`;
  asked = [];
  list = listOf(100);
  answer = honest;
});

/** As on the next day. */
async function update(options: { force?: boolean; days?: number; from?: Map<string, string> } = {}) {
  const { force = false, days = 1, from } = options;
  day += days;
  const added: AddedFeed = { name, place, kind: 'disposable', format: 'lines', verified: true, addedAt: 1 };
  if (!from) await actsOnFeeds({ store, clock: () => FIRST }).addFeed(added, ACTOR);
  const own = (await store.addedFeeds()).map(one => (one.name === name ? { ...one, place } : one));
  const id = from ? [...from.keys()][0]! : name;
  const [done] = await updateFeeds(
    {
      ...{ store, installed: [], tables: async () => FEW_TABLES, catalog: () => catalog, actor: ACTOR },
      sources: freshFeeds(from, own).filter(({ feed }) => feed.id === id),
      packing: PACKING,
      clock: () => FIRST + day * DAY,
    },
    { force, dryRun: false, evenHeld: true, progress: () => {} },
  );
  return done!;
}
const check = async () => (await store.feedChecks()).find(({ feed }) => feed === name);
const WHOLE = [undefined, undefined];
const CONDITIONAL = ['"790"', MODIFIED];

test('what has not changed is not sent again, and is as fresh as news', async () => {
  expect((await update()).outcome).toBe('accepted');
  const head = (await store.snapshots()).find(({ feed }) => feed === name)!;
  const { outcome, before, after } = await update();
  expect([outcome, after]).toEqual(['unchanged', before]);
  expect(asked).toEqual([WHOLE, CONDITIONAL]);
  expect(await check()).toMatchObject({ checkedAt: FIRST + 2 * DAY, problem: null, added: 100 });
  expect((await store.snapshots()).find(({ feed }) => feed === name)).toEqual(head);
  list = listOf(101);
  expect(await update()).toMatchObject({ outcome: 'accepted', after: { names: 101 } });
  await update();
  expect(asked.at(-1)).toEqual(['"799"', MODIFIED]);
  expect(JSON.stringify(await check())).not.toContain('secret');
});

test('a server that says for ever that nothing changed is asked for the whole list once a week', async () => {
  await update();
  list = listOf(110);
  answer = (req, res) => (req.headers['if-none-match'] ? res.writeHead(304).end() : honest(req, res));
  for (let at = 1; at < 7; at++) expect((await update()).outcome).toBe('unchanged');
  expect(await update()).toMatchObject({ outcome: 'accepted', after: { names: 110 } });
  expect(asked.map(([etag]) => etag !== undefined)).toEqual([false, ...Array(6).fill(true), false]);
});

test('"nothing changed" is no answer to whoever asked for the whole list', async () => {
  answer = (_, res) => res.writeHead(304).end();
  expect(await update()).toMatchObject({
    outcome: 'failed',
    problems: [expect.stringContaining('answered 304')],
  });
  expect((await check())?.checkedAt).toBeNull();
});

test.each<[string, () => unknown]>([
  [
    'comes from another address',
    () => {
      place = `${base}/other.txt`;
    },
  ],
  ['was rolled back', () => actsOnFeeds({ store, clock: () => FIRST + 9 * DAY }).rollBackFeed(name, ACTOR)],
  ['was removed and added again', () => actsOnFeeds({ store, clock: Date.now }).removeFeed(name, ACTOR)],
  [
    'cannot be read any more',
    () => {
      const db = new DatabaseSync(path);
      db.prepare("UPDATE snapshot SET body = 'broken' WHERE feed = ?").run(name);
      db.close();
    },
  ],
  [
    'now redirects to where the same words mean something else',
    () => {
      answer = (req, res) =>
        req.url!.includes('moved')
          ? honest(req, res)
          : res.writeHead(302, { location: `${base}/moved` }).end();
    },
  ],
])('a list that %s is asked for whole', async (_, happen) => {
  await update();
  await happen();
  await update();
  expect(asked.length).toBeGreaterThan(1);
  expect(asked.at(-1)).toEqual(WHOLE);
});

test('a list is asked for whole where an operator forces it, and a rotating one always', async () => {
  await update();
  await update({ force: true });
  const from = new Map([['castle', place]]);
  list = listOf(1_000);
  await update({ from });
  await update({ from });
  expect(asked).toEqual([WHOLE, WHOLE, WHOLE, WHOLE]);
});

test('what was refused is not taken for known: the server is asked with the version in use', async () => {
  await update();
  list = `${listOf(100)}gmail.com\n`;
  expect((await update()).outcome).toBe('refused');
  expect((await update()).outcome).toBe('refused');
  list = listOf(100);
  expect((await update()).outcome).toBe('unchanged');
  expect(asked).toEqual([WHOLE, CONDITIONAL, CONDITIONAL, CONDITIONAL]);
});

test('words of a server that are too long are not sent back', async () => {
  answer = (_, res) => res.writeHead(200, { etag: `"${'x'.repeat(10_000)}"` }).end(list);
  await update();
  expect((await update()).outcome).toBe('unchanged');
  expect(asked).toEqual([WHOLE, WHOLE]);
});
