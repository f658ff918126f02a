/** The one place where parts meet: Config → store, catalog, resolver, verbs. Commands, the service and tests use it. */

import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { hostname } from 'node:os';
import type { Logger } from 'pino';
import {
  buildCatalog,
  type Following,
  type FollowParts,
  followFeeds,
  type Handed,
  inTurns,
  type Progress,
  type Stored,
  takeOver,
} from './assemble.ts';
import type { Config } from './config.ts';
import type { Actor } from './core/audit.ts';
import type { Catalog } from './core/catalog.ts';
import type { FreshSource } from './core/feed.ts';
import type { Clock, Resolver, Store, Ticks } from './core/ports.ts';
import type { Shelf } from './core/saved.ts';
import { SteadyClock } from './core/steady.ts';
import { Addresses } from './dns/addresses.ts';
import { createResolver, DNS_CAPS, type DnsResolver, type ResolverOptions } from './dns/resolver.ts';
import { PACKING } from './feeds/pack.ts';
import { NEWEST_RELEASE } from './feeds/packages.ts';
import { SOURCES, sourcesWithout } from './feeds/sources.ts';
import { createFilters } from './filter.ts';
import { sharesOf } from './http/descriptors.ts';
import { createLearn } from './learn.ts';
import { createLookup } from './lookup.ts';
import { filterHere, type Make } from './make.ts';
import { loadOverrides } from './overrule.ts';
import { withPresence } from './presence.ts';
import { createRank } from './rank.ts';
import { type RecorderParts, recordChanges } from './record.ts';
import { holdLease } from './schedule.ts';
import { type OnFormChange, toldOf } from './store/form.ts';
import { StoreRefused } from './store/refused.ts';
import { movedFrom } from './store/sqlite/moved.ts';
import { joinSqliteStore, openSqliteStore, type StorePorts } from './store/sqlite/store.ts';
import type { UpdateParts } from './update.ts';

export const VERSION: string = JSON.parse(readFileSync(findPackageJSON(import.meta.url)!, 'utf8')).version;

export interface OpenedStore extends Store {
  /** For a worker that joins it; PostgreSQL has none. */
  share?(): Promise<StorePorts>;
}

export async function openStore(
  config: Config,
  onDeath: (error: Error) => void,
  onFormChange: OnFormChange = tellFormChange,
): Promise<OpenedStore> {
  const { database } = config;
  if (database.kind === 'sqlite') return openSqliteStore(database.path, onDeath, onFormChange);
  // Most commands run on the file, and start faster without the driver.
  const { openPostgresStore } = await import('./store/postgres/store.ts');
  return openPostgresStore(database.url, Date.now, onFormChange);
}

/** Whoever counts in a file that was moved counts what nobody else knows of. Undefined where it was not. */
export function movedStore({ database }: Pick<Config, 'database'>): string | undefined {
  return database.kind === 'sqlite' ? movedFrom(database.path) : undefined;
}

/** For a server: others can tell that it is there. */
export async function openServedStore(
  config: Config,
  log: Pick<Logger, 'warn'>,
  onDeath: (error: Error) => void,
  onFormChange: OnFormChange,
): Promise<OpenedStore> {
  const store = await openStore(config, onDeath, onFormChange);
  const moved = movedStore(config);
  if (moved) {
    await store.close();
    throw new StoreRefused(
      moved,
      'set DATABASE_URL to that one; to go on without it, set DATA_DIR to an empty directory and run "domain-risk restore" with this file',
    );
  }
  return withPresence(store, {
    ...{ version: VERSION, host: hostname(), clock: Date.now },
    onOther: ({ version, host }) =>
      log.warn({ version, host }, 'another version of the service runs on the same store'),
  });
}

export type FeedsConfig = Pick<Config, 'feedsOff'> & Partial<Pick<Config, 'dataDir'>>;

/** Below this a catalog is made of its lists within a second. */
const WORTH_KEEPING = 500_000;

/** Only what is worth it loads the code. */
function shelfIn(dataDir: string | undefined): Shelf | undefined {
  if (dataDir === undefined) return undefined;
  const open = async () => (await import('./feeds/shelf.ts')).openShelf(dataDir, VERSION);
  return {
    atLeast: WORTH_KEEPING,
    read: async generation => (await open()).read(generation),
    write: async (...asked) => (await open()).write(...asked),
  };
}

/** The store of a worker: the file's threads are those of the process, of PostgreSQL it has connections of its own. */
export async function joinStore(
  { database }: Pick<Config, 'database'>,
  ports: StorePorts | undefined,
  workers: number,
): Promise<Store> {
  if (database.kind === 'sqlite') return joinSqliteStore(database.path, ports!);
  const { openPostgresStore } = await import('./store/postgres/store.ts');
  return openPostgresStore(database.url, Date.now, tellFormChange, workers);
}

/** What is installed, and in its place what updates brought into the store. */
export function loadCatalog(
  { feedsOff, dataDir }: FeedsConfig,
  progress: Progress,
  store?: Stored['store'],
  onError: Stored['onError'] = tellOnStderr,
): Promise<Catalog> {
  const stored = store && { store, unpack: PACKING.unpack, onError, shelf: shelfIn(dataDir) };
  return buildCatalog(sourcesWithout(feedsOff), progress, stored);
}

/** The catalog that another thread has made. */
export function joinCatalog({ feedsOff }: Pick<Config, 'feedsOff'>, handed: Handed): Promise<Catalog> {
  return takeOver(sourcesWithout(feedsOff), handed);
}

/** For an update of these, by a command or by the service itself. */
export function updateParts(
  config: FeedsConfig,
  store: UpdateParts['store'] & Pick<Store, 'moment'>,
  sources: readonly FreshSource[],
  actor: Actor,
): UpdateParts {
  const { feeds: installed, tables } = SOURCES;
  const catalog = () => loadCatalog(config, () => {}, store);
  const dated = { clock: store.moment, notBefore: NEWEST_RELEASE };
  return { store, sources, installed, tables, catalog, packing: PACKING, ...dated, actor };
}

/** For commands; a server has a log. */
export const tellFormChange: OnFormChange = change =>
  void process.stderr.write(`domain-risk: ${toldOf(change)}\n`);

/** What must never happen, with all that is known of it. */
function tellFault(error: unknown): void {
  process.stderr.write(`domain-risk: ${(error as Error).stack}\n`);
}

const tellOnStderr = (error: unknown): void =>
  void process.stderr.write(`domain-risk: ${(error as Error).message}\n`);

/** Looks for updates in the store while the service runs. */
export function followStore(
  { feedsOff, dataDir }: FeedsConfig,
  parts: Pick<FollowParts, 'catalog' | 'adopting' | 'everyMs'> &
    Pick<Stored, 'onError'> & { store: Store; clock: Clock; make: Make },
): Following {
  const { store, onError, clock, make, ...rest } = parts;
  const stored = { store, unpack: PACKING.unpack, onError, shelf: shelfIn(dataDir) };
  const hold: RecorderParts['hold'] = lease => holdLease({ store, clock: store.moment }, lease);
  const how = { clock, hold, inTurns, write: make.tell, onError, lookMs: rest.everyMs };
  const recorder = recordChanges({ store, catalog: rest.catalog, ...how });
  const following = followFeeds({
    ...{ ...rest, sources: sourcesWithout(feedsOff), stored, make: make.next },
    followed: () => void recorder.look(),
  });
  return {
    check: following.check,
    close() {
      recorder.close();
      return following.close();
    },
  };
}

export function openResolver(
  { dnsServers, dnsSentinels }: Config,
  options: Pick<ResolverOptions, 'observe' | 'changed' | 'failed' | 'ticks'> = {},
  workers = 1,
): DnsResolver {
  // What all of them remember takes as much memory as one would.
  const caps = {
    cacheEntries: Math.ceil(DNS_CAPS.cacheEntries / workers),
    cacheBytes: Math.ceil(DNS_CAPS.cacheBytes / workers),
  };
  const sockets = Math.floor(sharesOf(workers).dns / workers);
  const asking = { servers: dnsServers, sentinels: dnsSentinels, caps, sockets };
  return createResolver({ failed: tellFault, ...options, ...asking });
}

/** Everything that verdicts need, for the server and for `domain-risk lookup` alike. */
export async function openVerdicts(parts: {
  store: Store;
  resolver: Resolver;
  catalog: () => Catalog;
  clock: Clock;
  /** The process's own where left out. */
  ticks?: Ticks | undefined;
  onError: (error: unknown) => void;
  makeFilter?: Make['filter'] | undefined;
}) {
  const { store, resolver, catalog, clock, onError, makeFilter = filterHere } = parts;
  const { ticks = () => performance.now() } = parts;
  const overrides = await loadOverrides({ store, inTurns });
  const steady = new SteadyClock(clock, ticks, await store.lastGuestDay(), catalog());
  const learn = await createLearn({
    store,
    resolver,
    addresses: new Addresses(resolver, ticks),
    catalog,
    clock,
    isClockBelieved: lists => steady.isBelieved(lists),
    inTurns,
    onError,
  });
  const lookup = createLookup({
    catalog,
    overrides: overrides.current,
    resolver,
    clock,
    infra: () => learn.infra(),
    note: (...seen) => learn.note(...seen),
    meet: (...met) => learn.meet(...met),
  });
  const rank = createRank({
    store,
    clock,
    last: lookup.last,
    mostAgreed: count => catalog().mostAgreed(count),
    isProtected: name => catalog().isProtected(name),
    revision: overrides.revision,
    generation: () => catalog().generation,
    inTurns,
    onError,
  });
  const sources = () => ({ catalog: catalog(), overrides: overrides.current() });
  const filters = createFilters({ store, sources, ...overrides, clock, make: makeFilter });
  /** With what is still to be written. */
  const close = async (): Promise<void> => void (await Promise.all([rank.close(), learn.close()]));
  return { overrides, lookup, rank, learn, filters, close };
}
