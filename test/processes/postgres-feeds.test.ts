/** Updates of lists where several servers share a PostgreSQL: all follow, one at a time updates, and a crash leaves a whole. */

import { writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { AddedFeed } from '../../src/core/added-feed.ts';
import type { Store } from '../../src/core/ports.ts';
import { freshFeeds } from '../../src/feeds/fresh.ts';
import { PACKING } from '../../src/feeds/pack.ts';
import { FEED_IDS } from '../../src/feeds/sources.ts';
import { PERIODS, scheduleUpdates } from '../../src/schedule.ts';
import { type Updated, updateFeeds } from '../../src/update.ts';
import { ACT } from '../support/act.ts';
import { catalogOf } from '../support/catalog.ts';
import { selfSigned } from '../support/certificate.ts';
import { KILLS, killImport, type Rows, WITHIN_MS } from '../support/killed-import.ts';
import { hasPostgres, type Postgres, startPostgres } from '../support/postgres.ts';
import { runJson } from '../support/process.ts';
import { eventually, randomFrom, SEED, sized } from '../support/scale.ts';
import { startTestService, type TestService, temporaryFolder } from '../support/service.ts';
import { FEW_TABLES } from '../support/versions.ts';

/** What is of no matter here: following an update builds the catalog of all lists anew. */
const OTHERS = FEED_IDS.filter(id => id !== 'castle');
const DAYS = sized(2, 30);
const SERVERS = sized(2, 4);
const TOKEN = 'a-token-of-an-operator-0123456789abcdef';
const LINES = 1_000;
/** Smaller than in life, so that a month of them passes quickly. */
const LIMITS = { deadlineMs: sized(1_000, 2_000), mostBytes: 2 ** 20 };
const MOST_GROWTH = 32 * 2 ** 20;

const listOf = (count: number) => Array.from({ length: count }, (_, at) => `n${at}.com\n`).join('');
const plain = { 'content-type': 'text/plain' };
type Answer = (req: IncomingMessage, res: ServerResponse) => unknown;

/** What the gate and the limits of a download are for, with what comes of each. */
const BAD: readonly (readonly [string, Updated['outcome'], Answer])[] = [
  ['empty', 'refused', (_, res) => res.end('# nothing\n')],
  ['a fifth smaller', 'refused', (_, res) => res.end(listOf(0.79 * LINES))],
  ['half as large again', 'refused', (_, res) => res.end(listOf(1.6 * LINES))],
  ['naming a canary', 'refused', (_, res) => res.end(`${listOf(LINES)}gmail.com\n`)],
  ['of unusable lines', 'refused', (_, res) => res.end(listOf(LINES) + '* no name\n'.repeat(20))],
  ['a web page', 'failed', (_, res) => res.writeHead(200, { 'content-type': 'text/html' }).end('<html>')],
  ['a login page as text', 'failed', (_, res) => res.writeHead(200, plain).end('<!doctype html>Log in')],
  ['too large', 'failed', (_, res) => res.end('a.com\n'.repeat(2 ** 18))],
  ['too slow', 'failed', (_, res) => res.writeHead(200, plain).write('a.com\n')],
  ['silent', 'failed', () => {}],
  ['cut short', 'failed', (_, res) => res.writeHead(200, { 'content-length': 9e4 }).end('a.com\n')],
  ['reset', 'failed', req => req.socket.destroy()],
  ['broken', 'failed', (_, res) => res.writeHead(500).end(listOf(LINES))],
  [
    'moved to where it may not',
    'failed',
    (_, res) => res.writeHead(302, { location: 'https://10.0.0.1/' }).end(),
  ],
  [
    'moved to one whom nobody believes',
    'failed',
    (_, res) => res.writeHead(302, { location: stranger }).end(),
  ],
];
let stranger = '';

async function listen(answer: Answer, trusted: boolean): Promise<string> {
  const certificate = selfSigned();
  if (trusted) {
    const before = getCACertificates('default');
    setDefaultCACertificates([...before, certificate.cert]);
    onTestFinished(() => setDefaultCACertificates(before));
  }
  const server = createServer(certificate, (req, res) => void answer(req, res));
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => void server.close().closeAllConnections());
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Lists are mostly outside of the heap. */
function memoryUsed(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

const snapshotOf = async ({ base }: TestService): Promise<string> => {
  const response = await fetch(`${base}/admin/feeds`, { headers: { authorization: `Bearer ${TOKEN}` } });
  return ((await response.json()) as { snapshot: string }).snapshot;
};

describe.runIf(hasPostgres(true))('servers on one PostgreSQL', () => {
  let postgres: Postgres;
  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(() => postgres?.close());

  test('all follow an update of a feed, and all go back when it is removed', async () => {
    const env = { DATABASE_URL: await postgres.newDatabase(), FEEDS_OFF: OTHERS.join() };
    const catalog = await catalogOf(['other.com']);
    const servers = await Promise.all([1, 2].map(() => startTestService({ env, catalog, followMs: 50 })));
    const { secret } = await servers[0]!.key();
    const answers = () =>
      Promise.all(
        servers.map(async server => {
          const response = await server.get('/v1/public/domain/castle-7.com?explain=true', secret);
          return (await response.json()) as { reason: string; evidence: { snapshot: string } };
        }),
      );
    const before = await answers();
    expect(before.map(({ reason }) => reason)).toEqual(['undeliverable', 'undeliverable']);

    const list = join(temporaryFolder(), 'castle.txt');
    writeFileSync(list, Array.from({ length: 1_000 }, (_, at) => `castle-${at}.com\n`).join(''));
    const done = await runJson(['feeds', 'update', '--from', `castle=${list}`], { env });
    expect(done).toMatchObject({ feeds: [{ feed: 'castle', outcome: 'accepted', before: null }] });
    await eventually('both follow', async () =>
      (await answers()).every(({ reason }) => reason === 'disposable'),
    );
    const [one, other] = await answers();
    expect(one!.evidence.snapshot).toBe(other!.evidence.snapshot);
    expect(one!.evidence.snapshot).not.toBe(before[0]!.evidence.snapshot);

    await runJson(['feeds', 'remove', 'castle'], { env });
    await eventually('both go back', async () =>
      (await answers()).every(({ reason }) => reason === 'undeliverable'),
    );
    await Promise.all(servers.map(server => server.close()));
  });

  test(`killed ${KILLS} times in the middle of an import (seed ${SEED}), the store holds the old version or the new one, whole`, {
    timeout: sized(180_000, 600_000),
  }, async () => {
    const random = randomFrom(SEED);
    for (let kill = 0; kill < KILLS; kill++) {
      const url = await postgres.newDatabase();
      const others =
        'SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()';
      const rows: Rows = async statement => {
        // What was under way when its client died may end after it.
        await eventually(
          'nobody is connected',
          async () => (await postgres.query(others, [], url)).length === 0,
        );
        return postgres.query(statement.replace('FROM ', 'FROM domain_risk.'), [], url);
      };
      await killImport(url, WITHIN_MS * random(), rows);
    }
  });

  test(`over ${DAYS} days of bad servers (seed ${SEED}) one of ${SERVERS} updates once a day, and all follow`, {
    timeout: sized(120_000, 600_000),
  }, async () => {
    const random = randomFrom(SEED);
    const bad = BAD.map(one => ({ one, at: random() })).toSorted((a, b) => a.at - b.at);
    let day = 0;
    const modeOf = (of: number) => (of % 2 === 1 ? bad[((of - 1) / 2) % bad.length]!.one : undefined);
    stranger = await listen((_, res) => res.end(listOf(LINES)), false);
    let fetches = 0;
    const base = await listen((req, res) => {
      if (req.url === '/steady.txt') {
        fetches++;
        return res.end(listOf(LINES + day));
      }
      const mode = modeOf(day);
      if (mode) return mode[2](req, res);
      const etag = `"${Math.floor(day / 4)}"`;
      if (req.headers['if-none-match'] === etag) return res.writeHead(304).end();
      return res.writeHead(200, { etag }).end(listOf(LINES + Math.floor(day / 4)));
    }, true);
    const env = { DATABASE_URL: await postgres.newDatabase(), ADMIN_TOKEN: TOKEN, FEEDS_OFF: OTHERS.join() };
    const catalog = await catalogOf(['other.com']);
    const services: TestService[] = [];
    for (let at = 0; at < SERVERS; at++)
      services.push(await startTestService({ env, catalog, followMs: 50 }));
    const { store } = services[0]!;
    let now = Date.UTC(2026, 10, 16);
    for (const name of ['wild', 'steady']) {
      const feed = { kind: 'disposable', format: 'lines', verified: true, addedAt: now } as const;
      await store.addFeed({ ...feed, name, place: `${base}/${name}.txt` }, 9, ACT);
    }

    let begun = 0;
    let done: readonly Updated[] = [];
    const looks = services.map(() => 0);
    const update = async (by: Store) => {
      begun++;
      const added: readonly AddedFeed[] = await by.addedFeeds();
      const sources = freshFeeds(new Map(), added, LIMITS).filter(({ feed }) => feed.isOwn);
      return updateFeeds(
        {
          ...{ store: by, sources, installed: [], tables: async () => FEW_TABLES },
          ...{ catalog: async () => catalog, packing: PACKING, clock: () => now },
          actor: { who: 'domain-risk', via: 'FEEDS_UPDATE' },
        },
        { force: false, dryRun: false, progress: () => {} },
      );
    };
    const problems: unknown[] = [];
    for (const [at, service] of services.entries()) {
      const lease: Store['lease'] = name => {
        looks[at]!++;
        return service.store.lease(name);
      };
      const schedule = scheduleUpdates({
        store: { lease, swapLease: service.store.swapLease },
        ...{ everyMs: PERIODS.daily, clock: () => now, chance: () => 0.5, firstMs: 1, lookMs: 5 },
        update: () => update(service.store),
        tell: {
          updated: updated => {
            done = updated;
          },
          failed: error => void problems.push(error),
        },
      });
      onTestFinished(() => schedule.close());
    }
    const allLooked = async () => {
      const before = [...looks];
      await eventually('all look again', () => looks.every((count, at) => count > before[at]! + 1));
    };

    let shown = catalog.generation;
    let wild: string | undefined;
    let slowest = 0;
    let memory = 0;
    for (let days = 1; days <= DAYS; days++) {
      await eventually('it is updated', () => {
        expect(problems).toEqual([]);
        return begun === days && done.length === 2;
      });
      const at = performance.now();
      const mode = modeOf(day);
      const outcome = done.find(({ feed }) => feed === 'wild')!.outcome;
      if (mode) expect([mode[0], outcome]).toEqual([mode[0], mode[1]]);
      else expect(['accepted', 'unchanged']).toContain(outcome);
      expect(done.find(({ feed }) => feed === 'steady')!.outcome).toBe('accepted');
      const heads = new Map((await store.snapshots()).map(head => [head.feed, head.digest]));
      if (mode) expect(heads.get('wild')).toBe(wild);
      wild = heads.get('wild');
      await eventually('all servers follow', async () => {
        const seen = new Set(await Promise.all(services.map(snapshotOf)));
        return seen.size === 1 && !seen.has(shown);
      });
      shown = await snapshotOf(services[0]!);
      slowest = Math.max(slowest, performance.now() - at);
      await allLooked();
      now += PERIODS.daily / 2;
      await allLooked();
      expect([begun, fetches]).toEqual([days, days]);
      if (days === Math.ceil(DAYS / 3)) memory = memoryUsed();
      done = [];
      day++;
      now += PERIODS.daily / 2;
    }
    const growth = memoryUsed() - memory;
    process.stdout.write(
      `${begun} updates in ${DAYS} days, all on the same lists after ${Math.round(slowest)} ms at most, memory ${Math.round(growth / 2 ** 20)} MiB more\n`,
    );
    expect(slowest).toBeLessThan(60_000);
    expect(growth).toBeLessThan(MOST_GROWTH);
  });
});
