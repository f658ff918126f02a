/**
 * `npm run bench:growth`: what a lookup costs when there is more of everything, each against the smallest of its kind in
 * the same run and in turn: connections, keys in use, counted days. Then catalogs of up to ten million names, and the
 * memory of a service that nobody asks. `ONLY=catalogs` leaves out the rest, `CATALOGS` says of how many
 * names.
 */

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { printTable } from '../src/commands/print.ts';
import { WINDOW_DAYS } from '../src/core/quota.ts';
import { newKey } from '../src/operate.ts';
import { KEY } from '../src/store/columns.ts';
import { megabytes } from '../test/support/vitals.ts';
import { printCatalogs } from './catalog-tables.ts';
import { type CatalogFigures, measureCatalog } from './catalogs.ts';
import { type Figures, put } from './load.ts';
import { makeKeys, middle, type Served, startService } from './serving.ts';

const ROUNDS = Number(process.env.ROUNDS ?? 3);
const SECONDS = Number(process.env.SECONDS ?? 3);
const PATHS = ['/v1/public/domain/mailinator.com'];
const CONNECTIONS = [1, 16, 64, 256, 1_000];
const USUAL = 64;
const KEYS = [1, 1_000, 100_000];
const MOST_KEYS = KEYS.at(-1)!;
const QUOTA = 2_000_000_000;
/** V8 looks for what it can give back when it was idle for 100 s. */
const IDLE_SECONDS = 130;
const CATALOGS = (process.env.CATALOGS ?? '200000,1000000,10000000').split(',').map(Number);

interface Case {
  readonly what: string;
  readonly served: Served;
  readonly authorizations: readonly string[];
  readonly connections: number;
}

const folders: string[] = [];
const services: Served[] = [];

async function serve(keys: number, fill: (db: DatabaseSync) => void = () => {}) {
  const folder = mkdtempSync(join(tmpdir(), 'domain-risk-growth-'));
  folders.push(folder);
  const env = { DATA_DIR: folder, DNS_SERVERS: '127.0.0.1:1', DNS_SENTINELS: '', PORT: '0' };
  const authorizations = (await makeKeys(env, [QUOTA])).map(key => key.authorization);
  const db = new DatabaseSync(join(folder, 'domain-risk.db'));
  authorizations.push(...addKeys(db, keys - 1));
  fill(db);
  db.close();
  const served = await startService(env);
  services.push(served);
  return { served, authorizations };
}

/** In one transaction: one by one they would take minutes. */
function addKeys(db: DatabaseSync, count: number): string[] {
  const insert = db.prepare(`INSERT INTO key (${KEY.names}) VALUES (${KEY.sqlite.places})`);
  db.exec('BEGIN');
  const secrets = Array.from({ length: count }, (_, at) => {
    const { key, secret } = newKey({ name: `key ${at}`, quota: QUOTA }, Date.now());
    insert.run(...KEY.sqlite.values(key));
    return `Bearer ${secret}`;
  });
  db.exec('COMMIT');
  return secrets;
}

/** A year of use for every key: the months, and the days that are kept. */
function addYear(db: DatabaseSync): void {
  const days = `WITH RECURSIVE ago(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM ago WHERE n < 365)`;
  db.exec(
    `${days} INSERT INTO usage_day (key_id, day, used) SELECT id, date('now', '-' || n || ' days'), 7 FROM key, ago WHERE n < ${WINDOW_DAYS}`,
  );
  db.exec(
    `${days} INSERT OR IGNORE INTO usage (key_id, month, used) SELECT id, strftime('%Y-%m', date('now', '-' || n || ' days')), 7 FROM key, ago`,
  );
}

/** In turn, the first of them the measure. */
async function compare(cases: readonly Case[]): Promise<string[][]> {
  const all = cases.map((): Figures[] => []);
  for (let round = 0; round < ROUNDS; round++)
    for (const [at, { served, authorizations, connections }] of cases.entries())
      all[at]!.push(
        await put({ url: served.url, paths: PATHS, authorizations, seconds: SECONDS, connections }),
      );
  const [first, ...rest] = all.map(middle);
  return [first!, ...rest].map(({ perSecond, p50, p99 }, at) => [
    ...[cases[at]!.what, perSecond.toFixed(0), (perSecond / first!.perSecond).toFixed(2)],
    ...[p50.toFixed(2), p99.toFixed(2)],
  ]);
}

/** Resident memory of a process that was left alone, in MiB. */
async function idle(pid: number): Promise<number> {
  await pause(IDLE_SECONDS * 1_000);
  return megabytes(pid);
}

async function catalogs(): Promise<void> {
  const all: CatalogFigures[] = [];
  for (const names of CATALOGS) all.push(await measureCatalog(names));
  printCatalogs(all);
}

/** Of callers and what they have counted. */
async function calls(): Promise<void> {
  const many = await serve(MOST_KEYS);
  const year = await serve(1_000, addYear);
  const young = await serve(1_000);
  const rows = [
    ...(await compare(
      CONNECTIONS.map(connections => ({
        ...{ what: `${connections} connections`, served: many.served, connections },
        authorizations: many.authorizations.slice(0, 1),
      })),
    )),
    ...(await compare(
      KEYS.map(keys => ({
        ...{ what: `${keys} keys in use`, served: many.served, connections: USUAL },
        authorizations: many.authorizations.slice(0, keys),
      })),
    )),
    ...(await compare([
      { what: '1,000 keys, nothing counted before', ...young, connections: USUAL },
      { what: '1,000 keys, a year of use before', ...year, connections: USUAL },
    ])),
  ];
  process.stdout.write(
    `${ROUNDS} rounds of ${SECONDS} s each in turn, medians; a listed name, ${USUAL} connections unless told\n\n`,
  );
  printTable(['CASE', 'PER SECOND', 'TO THE FIRST', 'P50 MS', 'P99 MS'], rows);
  for (const one of services.splice(0)) one.end();
}

/** A service that nobody asks, above a bare one. */
async function idling(): Promise<void> {
  const fresh = await serve(1);
  const bare = spawn(process.execPath, ['-e', "require('node:http').createServer().listen(0)"]);
  const [ours, theirs] = await Promise.all([idle(fresh.served.pid), idle(bare.pid!)]);
  bare.kill();
  process.stdout.write(
    `\nIdle for ${IDLE_SECONDS} s: ${ours.toFixed(0)} MiB, ${(ours - theirs).toFixed(0)} above bare node:http (${theirs.toFixed(0)})\n`,
  );
  for (const one of services.splice(0)) one.end();
}

try {
  if (process.env.ONLY !== 'catalogs') {
    await calls();
    await idling();
  }
  await catalogs();
} finally {
  for (const one of services) one.end();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}
