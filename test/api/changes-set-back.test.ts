/** `GET /v1/public/changes` where the database was set back to an older copy of itself, on both stores. */

import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Catalog } from '../../src/core/catalog.ts';
import { CHANGES_LEASE } from '../../src/core/listing-change.ts';
import { allAtOnce, type Steps } from '../../src/core/steps.ts';
import { writeChanges } from '../../src/record.ts';
import { openSqliteStoreHere } from '../../src/store/sqlite/here.ts';
import { ACT } from '../support/act.ts';
import { ask, expectError } from '../support/answers.ts';
import { catalogOf } from '../support/catalog.ts';
import { hasPostgres, type OwnPostgres, startPostgres } from '../support/postgres.ts';
import { eventually } from '../support/scale.ts';
import { startTestService, type TestService, temporaryFolder } from '../support/service.ts';

const PATH = '/v1/public/changes';
const HOUR = 3_600_000;
const inTurns = async <T>(steps: Steps<T>) => allAtOnce(steps);

/** Where a store is that nobody has open. */
interface Place {
  readonly folder: string;
  readonly env: Record<string, string>;
  copy(): Promise<void>;
  putBack(): Promise<void>;
}

/** `back` brings the copy there. */
function file(back: (kept: string, path: string) => void | Promise<void>): Place {
  const folder = temporaryFolder();
  const [path, kept] = [join(folder, 'domain-risk.db'), join(folder, 'kept.db')];
  return {
    ...{ folder, env: {} },
    copy: async () => copyFileSync(path, kept),
    async putBack() {
      for (const end of ['', '-wal', '-shm']) rmSync(path + end, { force: true });
      await back(kept, path);
    },
  };
}

async function restore(kept: string, path: string): Promise<void> {
  const store = await openSqliteStoreHere(path);
  await store.restore(kept, ACT);
  await store.close();
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

/** Servers one after the other, and a caller. What lists change is told by hand, as a server with both of them would. */
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
    async start(catalog: Catalog) {
      const { folder, env } = place;
      service = await startTestService({
        folder,
        env,
        catalog,
        clock: () => now,
        ticks: () => performance.now(),
        followMs: HOUR,
      });
      secret = (await service.key()).secret;
      await eventually('it has begun', async () => (await service.store.changesMark()) !== undefined);
    },
    stop: () => service.close(),
    async tell(before: Catalog, after: Catalog) {
      now += HOUR;
      const { store } = service;
      const mine = { name: CHANGES_LEASE, holder: 'me', until: now, dueAt: 0 };
      // The server, which looks for itself when it starts, may come between.
      await eventually('it is told', async () => {
        if (!(await store.swapLease(mine, await store.lease(CHANGES_LEASE)))) return false;
        const was = (await store.changesMark())!;
        expect(was.generation).toBe(before.generation);
        return writeChanges({ before, after, was, now, holder: 'me' }, store, inTurns);
      });
    },
    async status(cursor: string) {
      const answer = await ask(service.port, `${PATH}?since=${cursor}`, { key: secret });
      if (answer.status !== 200) expectError(answer, 410, 'gone');
      return answer.status;
    },
  };
}

async function setBack(place: Place): Promise<void> {
  const { start, stop, tell, page, status } = follower(place);
  const [none, old] = [await catalogOf([]), await catalogOf(['a.com', 'b.com'])];
  await start(none);
  const { cursor: begun } = await page();
  await tell(none, old);
  const [{ cursor: first }, { cursor: known }] = [await page('?limit=1'), await page()];
  await stop();
  await place.copy();
  await start(old);
  await tell(old, await catalogOf(['a.com', 'b.com', 'lost-1.com', 'lost-2.com', 'lost-3.com']));
  const lost = [(await page(`?since=${known}&limit=1`)).cursor, (await page(`?since=${known}`)).cursor];
  expect(new Set([begun, first, known, ...lost]).size).toBe(5);
  await stop();

  await place.putBack();
  await start(old);
  // Nothing has happened since: whoever stands there has seen all.
  expect(await page(`?since=${known}`)).toEqual({ changes: [], cursor: known, more: false });
  const areGone = async () => expect(await Promise.all(lost.map(status))).toEqual([410, 410]);
  await areGone();
  const next = await catalogOf(['a.com', 'new-1.com', 'new-2.com', 'new-3.com', 'new-4.com']);
  await tell(old, next);
  // More have been told now than were lost.
  await areGone();
  const since = ['cleared b.com', ...[1, 2, 3, 4].map(at => `flagged new-${at}.com`)];
  for (const cursor of [known, known.replace(/\..*/, '')])
    expect(told(await page(`?since=${cursor}`))).toEqual(since);
  expect(told(await page(`?since=${first}`))).toEqual(['flagged b.com', ...since]);
  expect(told(await page(`?since=${begun}`))).toEqual(['flagged a.com', 'flagged b.com', ...since]);
  const { cursor: newest } = await page();
  await stop();
  await start(next);
  expect(await page(`?since=${newest}`)).toEqual({ changes: [], cursor: newest, more: false });
  await areGone();
}

const NAME = 'whoever has seen changes that are lost is told so, whoever has not goes on';

test(`the file of the embedded store was put back: ${NAME}`, () => setBack(file(copyFileSync)));

test(`a backup was restored into a new store: ${NAME}`, () => setBack(file(restore)));

describe.runIf(hasPostgres(true))('PostgreSQL', () => {
  let postgres: OwnPostgres;
  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(() => postgres?.close());

  test(`the shared store was set back: ${NAME}`, async () => setBack(await database(postgres)));
});
