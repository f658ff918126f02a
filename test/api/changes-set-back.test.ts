/** `GET /v1/public/changes` where the database was set back to an older copy of itself, on both stores. */

import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CHANGES_LEASE } from '../../src/core/listing-change.ts';
import { acceptCastle, ONLY_UPDATES } from '../support/accepting.ts';
import { ask, expectError } from '../support/answers.ts';
import { catalogOf } from '../support/catalog.ts';
import { hasPostgres, type OwnPostgres, startPostgres } from '../support/postgres.ts';
import { eventually } from '../support/scale.ts';
import { startTestService, type TestService, temporaryFolder } from '../support/service.ts';

const PATH = '/v1/public/changes';
const HOUR = 3_600_000;
const catalog = await catalogOf([]);

/** Where a store is that nobody has open. */
interface Place {
  readonly folder: string;
  readonly env: Record<string, string>;
  copy(): Promise<void>;
  putBack(): Promise<void>;
}

function file(): Place {
  const folder = temporaryFolder();
  const [path, kept] = [join(folder, 'domain-risk.db'), join(folder, 'kept.db')];
  return {
    ...{ folder, env: {} },
    copy: async () => copyFileSync(path, kept),
    async putBack() {
      for (const end of ['', '-wal', '-shm']) rmSync(path + end, { force: true });
      copyFileSync(kept, path);
    },
  };
}

async function database(postgres: OwnPostgres): Promise<Place> {
  const url = await postgres.newDatabase();
  const name = new URL(url).pathname.slice(1);
  const make = (to: string, from: string) => postgres.query(`CREATE DATABASE ${to} TEMPLATE ${from}`);
  return {
    ...{ folder: temporaryFolder(), env: { DATABASE_URL: url } },
    copy: async () => void (await make(`${name}_kept`, name)),
    async putBack() {
      await postgres.query(`DROP DATABASE ${name} WITH (FORCE)`);
      await make(name, `${name}_kept`);
    },
  };
}

interface Page {
  readonly changes: { readonly domain: string; readonly change: string }[];
  readonly cursor: string;
}
const told = ({ changes }: Page) => changes.map(({ domain, change }) => `${change} ${domain}`);

function follower(place: Place) {
  let now = Date.UTC(2026, 10, 16, 12);
  let service: TestService;
  let secret = '';
  async function page(query = ''): Promise<Page> {
    const { status, body } = await ask(service.port, PATH + query, { key: secret });
    expect(status, body).toBe(200);
    return JSON.parse(body);
  }
  return {
    page,
    /** The server, with the list that its store has. */
    async start(listed?: string) {
      const { folder, env } = place;
      service = await startTestService({
        ...{ folder, catalog, clock: () => now, ticks: () => performance.now(), followMs: 20 },
        env: { ...ONLY_UPDATES, ...env },
      });
      secret = (await service.key()).secret;
      if (!listed)
        return eventually('it has begun', async () => (await service.store.changesMark()) !== undefined);
      await eventually('its list is followed', async () => {
        const answer = await ask(service.port, `/v1/public/domain/${listed}?explain=true`, { key: secret });
        return JSON.parse(answer.body).evidence.lists.length > 0;
      });
      await page();
    },
    stop: () => service.close(),
    /** A list as an update brings it, an hour later, told. */
    async accept(names: readonly string[]) {
      now += HOUR;
      const { store } = service;
      const { last } = (await store.changesMark())!;
      await acceptCastle(store, names, now);
      await eventually('it is told', async () => (await store.changesMark())!.last > last);
      // A server that ends before leaves it to nobody for as long as it lasts.
      await eventually('it is done', async () => (await store.lease(CHANGES_LEASE))!.holder === null);
    },
    async status(cursor: string) {
      const answer = await ask(service.port, `${PATH}?since=${cursor}`, { key: secret });
      if (answer.status !== 200) expectError(answer, 410, 'gone');
      return answer.status;
    },
  };
}

async function setBack(place: Place): Promise<void> {
  const { start, stop, accept, page, status } = follower(place);
  await start();
  const { cursor: begun } = await page();
  await accept(['a.com', 'b.com']);
  const [{ cursor: first }, { cursor: known }] = [await page('?limit=1'), await page()];
  await stop();
  await place.copy();
  await start('a.com');
  await accept(['a.com', 'b.com', 'lost-1.com', 'lost-2.com', 'lost-3.com']);
  const lost = [(await page(`?since=${known}&limit=1`)).cursor, (await page(`?since=${known}`)).cursor];
  expect(new Set([begun, first, known, ...lost]).size).toBe(5);
  await stop();

  await place.putBack();
  await start('a.com');
  // Nothing has happened since: whoever stands there has seen all.
  expect(await page(`?since=${known}`)).toEqual({ changes: [], cursor: known, more: false });
  expect(await Promise.all(lost.map(status))).toEqual([410, 410]);
  await accept(['a.com', 'new-1.com', 'new-2.com', 'new-3.com', 'new-4.com']);
  const since = ['cleared b.com', ...[1, 2, 3, 4].map(at => `flagged new-${at}.com`)];
  expect(await Promise.all(lost.map(status))).toEqual([410, 410]);
  for (const cursor of [known, known.replace(/\..*/, '')])
    expect(told(await page(`?since=${cursor}`))).toEqual(since);
  expect(told(await page(`?since=${first}`))).toEqual(['flagged b.com', ...since]);
  expect(told(await page(`?since=${begun}`))).toEqual(['flagged a.com', 'flagged b.com', ...since]);
  // Also once more have been told than were lost, and after another start.
  const { cursor: newest } = await page();
  await stop();
  await start('a.com');
  expect(await page(`?since=${newest}`)).toEqual({ changes: [], cursor: newest, more: false });
  expect(await Promise.all(lost.map(status))).toEqual([410, 410]);
}

const NAME = 'whoever has seen changes that are lost is told so, whoever has not goes on';

test(`the embedded store was set back: ${NAME}`, () => setBack(file()));

describe.runIf(hasPostgres(true))('PostgreSQL', () => {
  let postgres: OwnPostgres;
  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(() => postgres?.close());

  test(`the shared store was set back: ${NAME}`, async () => setBack(await database(postgres)));
});
