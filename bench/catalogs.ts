/**
 * Catalogs of ten long lists, each measured in processes of its own: what the first start takes, which reads the lists,
 * and the next one, which has the file; memory, lookups, and how long a service's loop is held in one piece while it
 * starts, follows an update, tells what that changed, and makes the first filter.
 */

import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { pino } from 'pino';
import { buildCatalog, followFeeds } from '../src/assemble.ts';
import { readConfig } from '../src/config.ts';
import { type AddedFeed, feedOf } from '../src/core/added-feed.ts';
import type { Catalog } from '../src/core/catalog.ts';
import { sealing, textOf } from '../src/core/snapshot.ts';
import { allAtOnce } from '../src/core/steps.ts';
import { PACKING } from '../src/feeds/pack.ts';
import { openShelf } from '../src/feeds/shelf.ts';
import { FEED_IDS, sourcesWithout } from '../src/feeds/sources.ts';
import { newKey } from '../src/operate.ts';
import { startService } from '../src/service.ts';
import { openSqliteStore } from '../src/store/sqlite/store.ts';
import { ACT } from '../test/support/act.ts';
import { Aside } from './aside.ts';
import { HoldWatch, IdleWatch } from './holds.ts';
import { median } from './serving.ts';

const FEEDS = 10;
const LOOKUPS = 200_000;
const ROUNDS = 5;
/** Services, one after the other: what a machine adds does not come at the same place in each. */
const SERVED = 3;
const FIRST_DAY = 20_700;

const addedOf = (at: number): AddedFeed => ({
  ...{ name: `list-${at}`, place: '/list', kind: 'disposable', format: 'lines', verified: at % 2 === 0 },
  addedAt: 0,
});
const SOURCES = sourcesWithout(FEED_IDS);
const configIn = (folder: string) =>
  readConfig({
    ...{ PORT: '0', DATA_DIR: folder, FEEDS_OFF: FEED_IDS.join(), FEEDS_UPDATE: 'off' },
    ...{ DNS_SERVERS: '127.0.0.1:1', DNS_SENTINELS: '' },
  });

const TOPS = ['com', 'net', 'org', 'xyz', 'info', 'site', 'co.uk', 'com'];

/** As long as listed names are, 14.3 characters, each twelfth below another one; no two are the same. */
function nameOf(at: number): string {
  const word = `${Math.imul(at + 1, 0x9e3779b1) >>> 0}`.padStart(10, '0').slice(0, at % 6);
  return `${at % 12 === 0 ? 'in.' : ''}${at.toString(36).padStart(5, '0')}-${word}x.${TOPS[at % TOPS.length]}`;
}

function listOf(feed: number, names: number): string[] {
  const each = names / FEEDS;
  return Array.from({ length: each }, (_, at) => nameOf(feed * each + at));
}

function open(folder: string) {
  return openSqliteStore(join(folder, 'domain-risk.db'), error => {
    throw error;
  });
}

const storedIn = (store: Awaited<ReturnType<typeof open>>, folder: string) => ({
  ...{ store, unpack: PACKING.unpack, shelf: { ...openShelf(folder, 'bench'), atLeast: 0 } },
  onError(error: unknown) {
    throw error;
  },
});

async function accept(folder: string, at: number, names: readonly string[]): Promise<void> {
  const store = await open(folder);
  const added = addedOf(at);
  await store.addFeed(added, FEEDS, ACT);
  const feed = feedOf(added);
  const since = Uint16Array.from(names, (_, at) => FIRST_DAY + Math.floor((10 * at) / names.length));
  const dropped = { malformed: 0, suffix: 0, specialUse: 0, duplicate: 0 };
  const more = { doubtful: new Map(), moved: new Map(), flagged: new Map(), labels: new Map(), dropped };
  const snapshot = allAtOnce(sealing(feed, { version: '1', names, since, ...more }));
  const { version, digest } = snapshot;
  const was = (await store.snapshots()).find(head => head.feed === feed.id)?.digest ?? null;
  const head = { feed: feed.id, version, digest, names: names.length, acceptedAt: Date.now() };
  await store.acceptSnapshot({ ...head, body: await PACKING.pack(textOf(snapshot)) }, was, ACT);
  await store.close();
}

/** One in fifty of a list more with each update. */
const newIn = (names: number, updates: number) =>
  Array.from({ length: (updates * names) / FEEDS / 50 }, (_, at) => nameOf(names + at));

const STAGES = {
  /** Ten lists into a store. */
  async fill(folder: string, names: number) {
    for (let at = 0; at < FEEDS; at++) await accept(folder, at, listOf(at, names));
    return {};
  },

  /** Some names more on one of them. */
  async change(folder: string, names: number, updates: number) {
    await accept(folder, 0, [...listOf(0, names), ...newIn(names, updates)]);
    return {};
  },

  /** The lists as texts; then a server that keeps the file. */
  async first(folder: string) {
    const store = await open(folder);
    const stored = storedIn(store, folder);
    const startedAt = performance.now();
    const catalog = await buildCatalog(SOURCES, () => {}, { ...stored, shelf: undefined });
    const seconds = (performance.now() - startedAt) / 1_000;
    const keeping = followFeeds({
      ...{ sources: SOURCES, stored, catalog: () => catalog, make: async () => undefined },
      *adopting() {
        return () => {};
      },
    });
    while ((await stored.shelf.read(catalog.generation)) === undefined) await pause(500);
    await keeping.close();
    await store.close();
    return { seconds };
  },

  /** What is in the file. */
  async next(folder: string, names: number) {
    const store = await open(folder);
    await store.snapshots();
    globalThis.gc!();
    const before = process.memoryUsage.rss();
    const startedAt = performance.now();
    const catalog = await buildCatalog(SOURCES, () => {}, storedIn(store, folder));
    const seconds = (performance.now() - startedAt) / 1_000;
    globalThis.gc!();
    const bytes = process.memoryUsage.rss() - before;
    await store.close();
    return { seconds, bytes, names: catalog.size, micros: lookupMicros(catalog, names) };
  },

  /** A service, from its start on. */
  async served(folder: string, names: number) {
    const [aside, idle] = [new Aside(), new IdleWatch()];
    const store = await open(folder);
    const catalog = await buildCatalog(SOURCES, () => {}, storedIn(store, folder));
    const watch = new HoldWatch();
    const longest = async () => ({ here: await watch.longest(), idle: await idle.longest() });
    await idle.longest();
    let updates = 0;
    const write = (line: string) => {
      if (line.includes('feeds were updated')) updates++;
    };
    const log = pino({}, { write });
    const config = configIn(folder);
    const service = await startService({ config, store, catalog, clock: Date.now, log, followMs: 200 });
    const { key, secret } = newKey({ name: 'bench' }, Date.now());
    await store.createKey(key, ACT);
    const call = async (path: string) => {
      const url = `http://127.0.0.1:${service.address.port}${path}`;
      const status = await aside.ask({ url, authorization: `Bearer ${secret}` });
      if (status !== 200) throw new Error(`${path}: ${status}`);
    };
    for (const path of ['top-domains', 'changes', 'domain/mailinator.com']) await call(`/v1/public/${path}`);
    const started = await longest();
    const update = async (nth: number) => {
      const was = (await store.changesMark())?.last;
      await aside.ask({ run: [fileURLToPath(import.meta.url), 'change', folder, `${names}`, `${nth}`] });
      while (updates < nth) await pause(50);
      await call('/v1/public/top-domains');
      const followed = await longest();
      while ((await store.changesMark())?.last === was) await pause(50);
      await call('/v1/public/changes?limit=1000');
      return { followed, told: await longest() };
    };
    const { followed, told } = await update(1);
    // Code that has run before takes less: of one that runs for days this is the usual one.
    const { followed: followedNext, told: toldNext } = await update(2);
    const startedAt = performance.now();
    await call('/v1/public/filter');
    const filterSeconds = (performance.now() - startedAt) / 1_000;
    const filtered = await longest();
    watch.close();
    aside.close();
    idle.close();
    await service.close();
    return { started, followed, told, followedNext, toldNext, filtered, filterSeconds };
  },
};

/** Half of them are listed. Parsed, as names of requests are one piece of text. */
function lookupMicros(catalog: Catalog, names: number): number {
  const asked = Array.from({ length: LOOKUPS }, (_, at) => [
    nameOf(Math.floor(Math.random() * names) + (at % 2) * (names + 1)),
  ]);
  const flat = JSON.parse(JSON.stringify(asked)) as string[][];
  let hits = 0;
  const round = () => {
    const startedAt = performance.now();
    for (const one of flat) hits += catalog.listed(one).hits.length;
    return ((performance.now() - startedAt) * 1_000) / LOOKUPS;
  };
  const micros = median(Array.from({ length: ROUNDS }, round));
  if (hits !== (ROUNDS * LOOKUPS) / 2) throw new Error(`${hits} names were found`);
  return micros;
}

type Figures<K extends keyof typeof STAGES> = Awaited<ReturnType<(typeof STAGES)[K]>>;

/** In a process of its own, with the flag that a service has. */
async function run<K extends keyof typeof STAGES>(
  stage: K,
  folder: string,
  names: number,
): Promise<Figures<K>> {
  const flags = ['--expose-gc', '--max-semi-space-size=8'];
  const args = [...flags, fileURLToPath(import.meta.url), stage, folder, `${names}`];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout) as Figures<K>;
}

export interface CatalogFigures {
  readonly names: number;
  readonly first: Figures<'first'>;
  readonly next: Figures<'next'>;
  readonly served: readonly Figures<'served'>[];
}

export async function measureCatalog(names: number): Promise<CatalogFigures> {
  const folder = mkdtempSync(join(tmpdir(), 'domain-risk-catalog-'));
  try {
    const filled = join(folder, 'filled');
    mkdirSync(filled);
    await run('fill', filled, names);
    const first = await run('first', filled, names);
    const next = await run('next', filled, names);
    const served: Figures<'served'>[] = [];
    for (let at = 0; at < SERVED; at++) {
      const copy = join(folder, 'served');
      cpSync(filled, copy, { recursive: true });
      served.push(await run('served', copy, names));
      rmSync(copy, { recursive: true });
    }
    return { names, first, next, served };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (import.meta.main) {
  const [stage, folder, names, updates] = process.argv.slice(2) as [keyof typeof STAGES, string, ...string[]];
  process.stdout.write(JSON.stringify(await STAGES[stage](folder, Number(names), Number(updates))));
}
