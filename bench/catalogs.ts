/**
 * Catalogs of ten long lists, each measured in processes of its own: what the first start takes, which reads the lists,
 * and the next one, which has the file; memory, lookups, and how long others wait while one more list is adopted.
 */

import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { buildCatalog, followFeeds } from '../src/assemble.ts';
import type { Catalog } from '../src/core/catalog.ts';
import type { Feed } from '../src/core/feed.ts';
import type { Shelf } from '../src/core/saved.ts';
import { sealing, textOf } from '../src/core/snapshot.ts';
import { allAtOnce } from '../src/core/steps.ts';
import { PACKING } from '../src/feeds/pack.ts';
import { openShelf } from '../src/feeds/shelf.ts';
import { readTables } from '../src/feeds/tables.ts';
import { openSqliteStore } from '../src/store/sqlite/store.ts';
import { ACT } from '../test/support/act.ts';
import { median } from './serving.ts';

const FEEDS = 10;
const LOOKUPS = 200_000;
const ROUNDS = 5;
const FIRST_DAY = 20_700;

const feedOf = (at: number): Feed => ({
  ...{ id: `list-${at}`, kind: 'disposable', family: at % 2 ? 'broad' : 'verified', licence: 'none' },
  ...{ origin: 'here', atLeast: 1 },
});
const UPDATED = Array.from({ length: FEEDS }, (_, at) => feedOf(at));
const SOURCES = { feeds: [], tables: () => readTables(), updated: UPDATED };

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

async function accept(folder: string, feed: Feed, names: readonly string[]): Promise<void> {
  const store = await open(folder);
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

const STAGES = {
  /** Ten lists into a store. */
  async fill(folder: string, names: number) {
    for (const [at, feed] of UPDATED.entries()) await accept(folder, feed, listOf(at, names));
    return {};
  },

  /** One name more on one of them. */
  async change(folder: string, names: number) {
    await accept(folder, feedOf(0), [...listOf(0, names), nameOf(names)]);
    return {};
  },

  /** The lists as texts; then a server's life with them: one of them changes, the file is kept. */
  async first(folder: string, names: number) {
    const store = await open(folder);
    const stored = storedIn(store, folder);
    const startedAt = performance.now();
    let catalog: Catalog = await buildCatalog(SOURCES, () => {}, { ...stored, shelf: undefined });
    const seconds = (performance.now() - startedAt) / 1_000;
    const follow = (shelf: Shelf | undefined) =>
      followFeeds({
        ...{ sources: SOURCES, stored: { ...stored, shelf }, catalog: () => catalog },
        *adopting(next) {
          return () => {
            catalog = next;
          };
        },
      });
    const following = follow(undefined);
    await run('change', folder, names);
    const turns = await turnsOf(() => following.check());
    await following.close();
    const keeping = follow(stored.shelf);
    while ((await stored.shelf.read(catalog.generation)) === undefined)
      await new Promise(resolve => setTimeout(resolve, 500));
    await keeping.close();
    await store.close();
    return { seconds, ...turns };
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
};

/** How long each turn of the event loop takes meanwhile, in milliseconds; others on the machine make them longer. */
async function turnsOf(work: () => Promise<unknown>): Promise<{ p99: number; longest: number }> {
  const turns: number[] = [];
  let last = performance.now();
  let isDone = false;
  const turn = () => {
    const now = performance.now();
    turns.push(now - last);
    last = now;
    if (!isDone) setImmediate(turn);
  };
  setImmediate(turn);
  await work();
  isDone = true;
  turns.sort((one, other) => one - other);
  return { p99: turns[Math.floor(turns.length * 0.99)]!, longest: turns.at(-1)! };
}

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

/** In a process of its own. */
async function run<K extends keyof typeof STAGES>(
  stage: K,
  folder: string,
  names: number,
): Promise<Figures<K>> {
  const args = ['--expose-gc', fileURLToPath(import.meta.url), stage, folder, `${names}`];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout) as Figures<K>;
}

export const CATALOG_COLUMNS = [
  ...['CATALOG', 'MB', 'BYTES A NAME', 'FIRST START S', 'µS A NAME', 'NEXT START S'],
  ...['LOOKUP µS', 'TURN P99 MS', 'LONGEST'],
];

export async function catalogRow(names: number): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'domain-risk-catalog-'));
  try {
    await run('fill', folder, names);
    const first = await run('first', folder, names);
    const next = await run('next', folder, names);
    return [
      ...[`${names} names`, (next.bytes / 1e6).toFixed(0), (next.bytes / next.names).toFixed(1)],
      ...[first.seconds.toFixed(2), ((first.seconds * 1e6) / names).toFixed(2), next.seconds.toFixed(2)],
      ...[next.micros.toFixed(2), first.p99.toFixed(1), first.longest.toFixed(1)],
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (import.meta.main) {
  const [stage, folder, names] = process.argv.slice(2) as [keyof typeof STAGES, string, string];
  process.stdout.write(JSON.stringify(await STAGES[stage](folder, Number(names))));
}
