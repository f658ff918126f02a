/**
 * Counting on PostgreSQL: batches against one statement per call, both in one run and in turn, by several processes
 * on one database, with one hot key and with many. What counts is the ratio, and how many calls share a commit.
 */

import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { printTable } from '../src/commands/print.ts';
import { openStore } from '../src/compose.ts';
import { readConfig } from '../src/config.ts';
import { newKey } from '../src/operate.ts';
import { openConnections } from '../src/store/postgres/connect.ts';
import { COUNT, count, countValues } from '../src/store/postgres/spender.ts';
import { openPostgresStore } from '../src/store/postgres/store.ts';
import { ACT } from '../test/support/act.ts';
import { type OwnPostgres, startPostgres } from '../test/support/postgres.ts';
import { spendOne } from '../test/support/spend.ts';
import { type Figures, put } from './load.ts';
import { pinProcess } from './pinned.ts';
import { median, middle, type Served, startService } from './serving.ts';

const SECONDS = Number(process.env.SECONDS ?? 3);
const ROUNDS = Number(process.env.ROUNDS ?? 3);
/** Calls in flight, over all processes. */
const CALLERS = 128;
const DAY = '2026-11-15';

interface Task {
  readonly url: string;
  readonly how: 'batched' | 'one statement per call';
  readonly keys: readonly string[];
  readonly callers: number;
  readonly revision: number;
}

interface Done {
  readonly calls: number;
  readonly waits: readonly number[];
}

/** In a process of its own, as a server would be: as many calls as it can make in that time. */
async function work({ url, how, keys, callers, revision }: Task): Promise<Done> {
  const store = await openPostgresStore(url);
  const pool = openConnections(url, 10);
  const waits: number[] = [];
  let next = 0;
  const spend = () => {
    const keyId = keys[next++ % keys.length]!;
    const one = { keyId, day: DAY, quota: null };
    if (how === 'batched') return spendOne(store, one, revision);
    return pool.run(client => count(client, [{ ...one, revision, calls: 1 }]), 60_000);
  };
  const until = performance.now() + SECONDS * 1_000;
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (performance.now() < until) {
        const started = performance.now();
        await spend();
        waits.push(performance.now() - started);
      }
    }),
  );
  await store.close();
  await pool.close();
  const sorted = waits.toSorted((a, b) => a - b);
  return { calls: waits.length, waits: [0.5, 0.99].map(part => sorted[Math.floor(part * sorted.length)]!) };
}

function inProcess(task: Task): Promise<Done> {
  const child: ChildProcess = fork(import.meta.filename, ['worker']);
  child.send(task);
  return new Promise((resolve, reject) => {
    child.once('message', message => resolve(message as Done));
    child.once('exit', code => code !== 0 && reject(new Error(`a process ended with ${code}`)));
  });
}

async function main(): Promise<void> {
  const postgres = await startPostgres();
  try {
    const url = await postgres.newDatabase();
    const store = await openPostgresStore(url);
    const keys = Array.from({ length: 200 }, () => newKey({ name: 'bench' }, Date.now()).key);
    for (const key of keys) await store.createKey(key, ACT);
    const revision = await store.revision();
    await store.close();
    const commits = async () =>
      Number(
        (
          await postgres.query(
            'SELECT xact_commit AS n FROM pg_stat_database WHERE datname = current_database()',
            [],
            url,
          )
        )[0]?.n,
      );

    async function measure(how: Task['how'], processes: number, hot: number) {
      const ids = keys.slice(0, hot).map(key => key.id);
      const task = { url, how, keys: ids, callers: CALLERS / processes, revision };
      const before = await commits();
      const done = await Promise.all(Array.from({ length: processes }, () => inProcess(task)));
      const calls = done.reduce((sum, one) => sum + one.calls, 0);
      // The statistics arrive up to a second late.
      await new Promise(resolve => setTimeout(resolve, 1_200));
      return {
        perSecond: calls / SECONDS,
        perCommit: calls / ((await commits()) - before),
        p50: median(done.map(one => one.waits[0]!)),
        p99: Math.max(...done.map(one => one.waits[1]!)),
      };
    }

    type Measured = Awaited<ReturnType<typeof measure>>;
    const rows: string[][] = [];
    for (const [processes, hot] of [
      [1, 1],
      [2, 1],
      [4, 1],
      [2, 200],
    ] as const) {
      const batched: Measured[] = [];
      const single: Measured[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        single.push(await measure('one statement per call', processes, hot));
        batched.push(await measure('batched', processes, hot));
      }
      const middle = (all: readonly Measured[], of: keyof Measured) => median(all.map(one => one[of]));
      rows.push([
        `${processes} × ${hot === 1 ? 'one hot key' : `${hot} keys`}`,
        middle(batched, 'perSecond').toFixed(0),
        middle(single, 'perSecond').toFixed(0),
        (middle(batched, 'perSecond') / middle(single, 'perSecond')).toFixed(1),
        middle(batched, 'perCommit').toFixed(1),
        middle(single, 'perCommit').toFixed(1),
        middle(batched, 'p50').toFixed(1),
        middle(batched, 'p99').toFixed(1),
        middle(single, 'p50').toFixed(1),
        middle(single, 'p99').toFixed(1),
      ]);
    }
    process.stdout.write(
      `counts on PostgreSQL with fsync, ${CALLERS} callers in all, ${ROUNDS} rounds of ${SECONDS} s each in turn, medians\n\n`,
    );
    printTable(
      [
        'SERVERS × KEYS',
        'BATCHED/S',
        'SINGLE/S',
        'RATIO',
        'CALLS/COMMIT',
        'SINGLE',
        'P50 MS',
        'P99 MS',
        'SINGLE P50',
        'SINGLE P99',
      ],
      rows,
    );
    // Before another key moves the revision: nothing would be counted.
    await explain(
      url,
      keys.map(key => key.id),
      revision,
    );
    await overHttp(url, postgres);
  } finally {
    await postgres.close();
  }
}

/** Whole servers against one on SQLite, all on one core, with the database and the load on the other. */
async function overHttp(url: string, { folder: ofPostgres }: OwnPostgres): Promise<void> {
  // Before there is a backend for them: each takes over where its parent runs.
  pinProcess(Number(readFileSync(join(ofPostgres, 'data', 'postmaster.pid'), 'utf8').split('\n')[0]), 1);
  const folder = mkdtempSync(join(tmpdir(), 'domain-risk-bench-'));
  const { key, secret } = newKey({ name: 'http' }, Date.now());
  const common = { PORT: '0', DNS_SERVERS: '127.0.0.1:1', DNS_SENTINELS: '' };
  const sqlite = { ...common, DATABASE_URL: `sqlite:${folder}/domain-risk.db` };
  const shared = { ...common, DATABASE_URL: url };
  for (const env of [sqlite, shared]) {
    const store = await openStore(readConfig(env), error => {
      throw error;
    });
    await store.createKey(key, ACT);
    await store.close();
  }
  const places = [sqlite, shared, shared, shared, shared];
  const [alone, ...all] = await Promise.all(places.map(env => startService(env)));
  const measure = async (servers: readonly Served[]) => {
    const load = { paths: ['/v1/public/domain/mailinator.com'], authorizations: [`Bearer ${secret}`] };
    const each = { ...load, seconds: SECONDS, connections: 64 / servers.length };
    const figures = await Promise.all(servers.map(server => put({ ...each, url: server.url })));
    return {
      perSecond: figures.reduce((sum, figure) => sum + figure.perSecond, 0),
      p50: Math.max(...figures.map(figure => figure.p50)),
      p99: Math.max(...figures.map(figure => figure.p99)),
    };
  };
  const rows = [
    { name: 'one on SQLite', servers: [alone!], rounds: [] as Figures[] },
    ...[1, 2, 4].map(count => ({
      ...{ name: `${count} on PostgreSQL`, servers: all.slice(0, count), rounds: [] as Figures[] },
    })),
  ];
  // The first round only warms up.
  for (let round = 0; round <= ROUNDS; round++)
    for (const row of rows) row.rounds.push(await measure(row.servers));
  await Promise.all([alone!, ...all].map(server => server.end()));
  rmSync(folder, { recursive: true, force: true });
  process.stdout.write('\nover HTTP, one hot key, 64 connections in all, all servers on one core\n\n');
  const figures = rows.map(({ name, rounds }) => ({ name, ...middle(rounds.slice(1)) }));
  printTable(
    ['SERVERS', 'PER SECOND', 'OF SQLITE', 'P50 MS', 'P99 MS'],
    figures.map(({ name, perSecond, p50, p99 }) => [
      ...[name, perSecond.toFixed(0), (perSecond / figures[0]!.perSecond).toFixed(2)],
      ...[p50.toFixed(1), p99.toFixed(1)],
    ]),
  );
}

/** What the database does for one batch: indexes only, one update per key, whatever the number of calls. */
async function explain(url: string, keys: readonly string[], revision: number): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('SET search_path = domain_risk');
  for (const [title, ids] of [
    ['64 calls of one hot key', keys.slice(0, 1)],
    ['64 calls each of 50 keys', keys.slice(0, 50)],
  ] as const) {
    const groups = ids.map(keyId => ({ keyId, day: DAY, quota: 1e9, revision, calls: 64 }));
    const { rows } = await client.query(
      `EXPLAIN (ANALYZE, BUFFERS, COSTS OFF) ${COUNT}`,
      countValues(groups),
    );
    process.stdout.write(`\n${title}\n\n${rows.map(row => row['QUERY PLAN']).join('\n')}\n`);
  }
  await client.end();
}

if (process.argv[2] === 'worker') {
  process.once('message', async (task: Task) => {
    process.send!(await work(task), () => process.exit(0));
  });
} else {
  await main();
}
