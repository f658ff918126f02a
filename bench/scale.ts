/**
 * `npm run bench:scale`: how far one PostgreSQL carries. What a batch costs is measured on a real one, the model that is
 * given these figures is compared with what some servers do on it, and then asked about 10, 100 and 1,000.
 */

import { availableParallelism } from 'node:os';
import { printTable } from '../src/commands/print.ts';
import type { Store } from '../src/core/ports.ts';
import { newKey } from '../src/operate.ts';
import { openConnections } from '../src/store/postgres/connect.ts';
import { COMMITS_AT_ONCE } from '../src/store/postgres/counting.ts';
import { count } from '../src/store/postgres/spender.ts';
import { openPostgresStore } from '../src/store/postgres/store.ts';
import { ACT } from '../test/support/act.ts';
import { startPostgres } from '../test/support/postgres.ts';
import { spendOne } from '../test/support/spend.ts';
import { type Cluster, type Costs, type Outcome, simulate } from './queueing.ts';
import { median } from './serving.ts';

const ROUNDS = Number(process.env.ROUNDS ?? 300);
const SECONDS = Number(process.env.SECONDS ?? 3);
/** Of the database that is simulated. */
const CORES = Number(process.env.CORES ?? 8);
const MANY = 200;
const DAY = '2026-11-19';
/** What one server answers (docs/figures.md), and how late its answers may be. */
const MOST_EACH = 20_000;
const MOST_P99_MS = 500;
const DEADLINE_MS = 800;
const SIMULATED_MS = 1_000;

type Keys = readonly string[];

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/** By one connection that does nothing else, each in turn with the others. */
async function measureCosts(url: string, keys: Keys, revision: number): Promise<Costs> {
  const [quick, durable] = [openConnections(url, 1), openConnections(url, 1)];
  await quick.run(session => session.query('SET synchronous_commit = off'));
  const groups = (many: number) =>
    keys.slice(0, many).map(keyId => ({ keyId, day: DAY, quota: null, revision, calls: 1 }));
  const cases = {
    way: () => quick.run(session => session.query({ name: 'way', text: 'SELECT 1', values: [] })),
    one: () => quick.run(session => count(session, groups(1))),
    many: () => quick.run(session => count(session, groups(MANY))),
    flushed: () => durable.run(session => count(session, groups(1))),
  };
  const times = { way: [], one: [], many: [], flushed: [] } as Record<keyof typeof cases, number[]>;
  for (let round = 0; round < ROUNDS; round++)
    for (const name of Object.keys(cases) as (keyof typeof cases)[])
      times[name].push(await timeOf(cases[name]));
  await Promise.all([quick.close(), durable.close()]);
  const [way, one, many, flushed] = [times.way, times.one, times.many, times.flushed].map(median);
  const keyMs = (many! - one!) / (MANY - 1);
  return { wayMs: way!, keyMs, batchMs: one! - way! - keyMs, flushMs: flushed! - one! };
}

/** Commits a second of so many real servers with one caller each, of one key or of one each. */
async function commitsOf(url: string, servers: number, keys: Keys, revision: number): Promise<number> {
  const stores = await Promise.all(Array.from({ length: servers }, () => openPostgresStore(url)));
  let commits = 0;
  const until = performance.now() + SECONDS * 1_000;
  const call = async (store: Store, keyId: string) => {
    while (performance.now() < until) {
      await spendOne(store, { keyId, day: DAY, quota: null }, revision);
      commits++;
    }
  };
  await Promise.all(stores.map((store, at) => call(store, keys[at % keys.length]!)));
  await Promise.all(stores.map(store => store.close()));
  return commits / SECONDS;
}

/** What was begun and not ended counts too. */
const percent = (share: number) => `${Math.min(100, 100 * share).toFixed(0)} %`;

/** What is predicted of this very machine, beside what it does. */
async function compare(url: string, keys: Keys, revision: number, costs: Costs): Promise<void> {
  const rows: string[][] = [];
  for (const servers of [1, 4, 8])
    for (const hotShare of [1, 0]) {
      const real = await commitsOf(url, servers, hotShare === 1 ? keys.slice(0, 1) : keys, revision);
      const cluster = { servers, atOnce: COMMITS_AT_ONCE, cores: availableParallelism() };
      const { perSecond } = simulate(costs, cluster, { callersEach: 1, hotShare }, SIMULATED_MS);
      const what = hotShare === 1 ? 'one hot key' : 'a key each';
      rows.push([`${servers}`, what, real.toFixed(0), perSecond.toFixed(0), (perSecond / real).toFixed(2)]);
    }
  process.stdout.write('\nCommits a second, one caller for each server\n\n');
  printTable(['SERVERS', 'KEYS', 'MEASURED', 'MODEL', 'RATIO'], rows);
}

const isGood = ({ p99, slowest }: Outcome) => p99 <= MOST_P99_MS && slowest <= DEADLINE_MS;

/** The highest load by the clock at which answers come in time, to a twentieth. */
function carried(costs: Costs, cluster: Cluster, hotShare: number) {
  const at = (offered: number) => ({
    offered,
    outcome: simulate(costs, cluster, { perSecond: offered, hotShare }, SIMULATED_MS),
  });
  const highest = at(cluster.servers * MOST_EACH);
  if (isGood(highest.outcome)) return highest;
  let least = at(cluster.servers);
  let most = highest.offered;
  while (most / least.offered > 1.05) {
    const middle = at(Math.sqrt(most * least.offered));
    if (isGood(middle.outcome)) least = middle;
    else most = middle.offered;
  }
  return least;
}

function predict(costs: Costs): void {
  const rows: string[][] = [];
  for (const [what, hotShare] of [
    ['100,000 keys', 0],
    ['a tenth of all calls with one key', 0.1],
    ['one hot key', 1],
  ] as const)
    for (const servers of [1, 10, 100, 1_000]) {
      const { offered, outcome } = carried(
        costs,
        { servers, atOnce: COMMITS_AT_ONCE, cores: CORES },
        hotShare,
      );
      rows.push([
        ...[what, `${servers}`, `${servers * 10}`, offered.toFixed(0)],
        ...[outcome.p50.toFixed(1), outcome.p99.toFixed(0), outcome.callsPerCommit.toFixed(1)],
        ...[percent(outcome.coresBusy), percent(outcome.logBusy), percent(outcome.rowBusy)],
        isGood(outcome) ? '' : 'too late',
      ]);
    }
  process.stdout.write(
    `\nCalls a second that one PostgreSQL of ${CORES} cores carries with p99 of counting below ${MOST_P99_MS} ms; a server makes ${MOST_EACH} at the most\n\n`,
  );
  const names = ['KEYS', 'SERVERS', 'CONNECTIONS', 'PER SECOND', 'P50 MS', 'P99 MS', 'CALLS/COMMIT'];
  printTable([...names, 'CORES', 'LOG', 'HOT ROW', ''], rows);
}

const postgres = await startPostgres();
try {
  const url = await postgres.newDatabase();
  const store = await openPostgresStore(url);
  const made = Array.from({ length: MANY }, () => newKey({ name: 'bench' }, Date.now()).key);
  for (const key of made) await store.createKey(key, ACT);
  const revision = await store.revision();
  await store.close();
  const keys = made.map(key => key.id);
  const costs = await measureCosts(url, keys, revision);
  const shown = Object.entries(costs).map(([name, ms]) => [name.replace('Ms', ''), ms.toFixed(3)]);
  process.stdout.write(`Medians of ${ROUNDS}, one connection\n\n`);
  printTable(['OF', 'MS'], shown);
  await compare(url, keys, revision, costs);
  predict(costs);
} finally {
  await postgres.close();
}
