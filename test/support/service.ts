/** A whole service for a test: a real file, a real port, a DNS server on loopback; it closes itself. */

import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Logger, pino } from 'pino';
import { afterAll, beforeAll, onTestFinished, vi } from 'vitest';
import { loadCatalog, openStore } from '../../src/compose.ts';
import { type Config, readConfig } from '../../src/config.ts';
import type { Catalog } from '../../src/core/catalog.ts';
import type { KeyRecord } from '../../src/core/key.ts';
import type { Clock, Store, Ticks } from '../../src/core/ports.ts';
import { newKey } from '../../src/operate.ts';
import type { BackupStatus } from '../../src/scheduled-backups.ts';
import { startService } from '../../src/service.ts';
import { openSqliteStoreHere } from '../../src/store/sqlite/here.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { ACT } from './act.ts';
import { type DnsServer, startDns } from './dns.ts';
import { LONG_LISTS } from './environment.ts';
import { eventually, pause, turn } from './scale.ts';

let catalog: Promise<Catalog> | undefined;
let wholeCatalog: Promise<Catalog> | undefined;

/** From installed feeds, as processes of tests have it; built once per worker. */
export function installedCatalog(): Promise<Catalog> {
  catalog ??= loadCatalog({ feedsOff: LONG_LISTS }, () => {});
  return catalog;
}

/** The long lists too. */
export function allListsCatalog(): Promise<Catalog> {
  wholeCatalog ??= loadCatalog({ feedsOff: [] }, () => {});
  return wholeCatalog;
}

/** What ends with the test, or with the file when it is shared. */
export type Cleanup = (end: () => void | Promise<void>) => void;

export function temporaryFolder(cleanup: Cleanup = onTestFinished): string {
  const folder = mkdtempSync(join(tmpdir(), 'domain-risk-'));
  cleanup(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export interface TestService {
  readonly base: string;
  readonly port: number;
  /** Of the listener for operators, where they have one of their own. */
  readonly operatorPort: number | undefined;
  readonly store: Store;
  readonly dns: DnsServer;
  /** From here on: what is asked in DNS, once nothing of earlier tests is under way any more. */
  questions(): Promise<() => string[]>;
  readonly folder: string;
  /** Everything that was logged, one JSON line each. */
  readonly logged: string[];
  /** The same from a line on, but for how long others had the processor. */
  loggedFrom(line: number): string[];
  /** A key and its secret. */
  key(limits?: Partial<KeyRecord>): Promise<{ key: KeyRecord; secret: string }>;
  get(path: string, secret?: string, headers?: Record<string, string>): Promise<Response>;
  used(key: KeyRecord): Promise<number>;
  /** The code of a link that gives this secret away. */
  invite(secret: string): string;
  close(): Promise<void>;
}

export interface TestServiceOptions {
  readonly env?: Record<string, string>;
  readonly clock?: Clock;
  /** The clock where left out, if there is one. */
  readonly ticks?: Ticks;
  readonly folder?: string;
  readonly dns?: DnsServer;
  /** From installed feeds where left out. */
  readonly catalog?: Catalog;
  readonly followMs?: number;
  readonly backups?: BackupStatus;
  /** Its store is in threads of its own, as that of a server: where it is slow or stuck, the service is not. */
  readonly hasThreads?: true;
}

/** One service for all tests of a file: each test makes keys of its own. Call the function it gives inside tests. */
export function sharedService(options: TestServiceOptions = {}): () => TestService {
  let service: TestService | undefined;
  const ends: (() => void | Promise<void>)[] = [];
  beforeAll(async () => {
    service = await startTestService(options, end => void ends.push(end));
  });
  afterAll(async () => {
    for (const end of ends.reverse()) await end();
  });
  return () => service!;
}

/**
 * The file of a service in a test's own process waits for as long as others on the machine take the processors away:
 * half a second of that made calls of tests that have nothing to do with it fail (2026-11-16). What a late store does to
 * calls is tested in processes of their own.
 */
const PATIENT_MS = 60_000;

/** Threads are left out where nothing depends on them: those took a third of the processor time of such tests (2026-11-17). */
function openPatiently({ database, ...config }: Config, hasThreads: boolean): Promise<Store> {
  const die = (error: Error) => {
    throw error;
  };
  if (database.kind !== 'sqlite') return openStore({ ...config, database }, die);
  return hasThreads
    ? openSqliteStore(database.path, die, () => {}, PATIENT_MS)
    : openSqliteStoreHere(database.path);
}

export async function startTestService(
  options: TestServiceOptions = {},
  cleanup: Cleanup = onTestFinished,
): Promise<TestService> {
  const folder = options.folder ?? temporaryFolder(cleanup);
  const dns = options.dns ?? (await startDns());
  const clock = options.clock ?? Date.now;
  const logged: string[] = [];
  const log: Logger = pino({ level: 'debug' }, { write: (line: string) => void logged.push(line) });
  // Its DNS knows what a test tells it, and no sentinel of the real world.
  const small = { DNS_SERVERS: dns.address, DNS_SENTINELS: '', FEEDS_UPDATE: 'off' };
  const config = readConfig({ PORT: '0', DATA_DIR: folder, ...small, ...options.env });
  const store = await openPatiently(config, options.hasThreads ?? false);
  const service = await startService({
    config,
    store,
    catalog: options.catalog ?? (await installedCatalog()),
    clock,
    ticks: options.ticks ?? options.clock,
    log,
    followMs: options.followMs,
    backups: options.backups,
  });
  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= service.close().then(() => (options.dns ? undefined : dns.close()));
    return closing;
  };
  cleanup(close);
  const base = `http://127.0.0.1:${service.address.port}`;

  return {
    base,
    port: service.address.port,
    operatorPort: service.operatorAddress?.port,
    store,
    dns,
    async questions() {
      await eventually('DNS is quiet', () => service.health().inFlight === 0);
      // What was sent before that has arrived.
      for (let turns = 0; turns < 5; turns++) await turn();
      const before = dns.questions.length;
      return () => dns.questions.slice(before).map(({ name }) => name);
    },
    folder,
    logged,
    loggedFrom: line => logged.slice(line).filter(text => !text.includes('the event loop was held')),
    async key(limits = {}) {
      const made = newKey({ name: 'test' }, clock());
      const key = { ...made.key, ...limits };
      await store.createKey(key, ACT);
      return { key, secret: made.secret };
    },
    get: (path, secret, headers = {}) =>
      fetch(base + path, {
        headers: { ...(secret === undefined ? {} : { authorization: `Bearer ${secret}` }), ...headers },
      }),
    invite: service.invite,
    used: async key => store.used(key.id, new Date(clock()).toISOString().slice(0, 7)),
    close,
  };
}

/** What the service asks of the store by itself every so often, whether somebody calls or not. */
const BY_ITSELF: readonly (keyof Store)[] = [
  ...(['flag', 'learn', 'readHosts', 'sharedNames', 'snapshots', 'feedChecks', 'listOperators'] as const),
  ...(['changesMark', 'swapChangesMark', 'addTraffic', 'addVerdicts', 'writeDecisions'] as const),
  ...(['keepWhereabouts', 'whereabouts'] as const),
  // With each request that comes; it asks no disk.
  'isBehind',
];
/** The same, a few times a minute: so many tell nothing of hundreds of calls. */
const SELDOM: readonly string[] = ['readOverrides', 'addedFeeds', 'established', 'sweepMark', 'moment'];
const MOST_SELDOM = 10;

/** From now until the test ends: what calls made the service ask of its store. */
export function watchAsked(store: Store): () => string[] {
  const names = (Object.keys(store) as (keyof Store)[]).filter(name => !BY_ITSELF.includes(name));
  const spies = names.map(name => vi.spyOn(store, name));
  onTestFinished(() => {
    for (const spy of spies) spy.mockRestore();
  });
  return () =>
    names.flatMap((name, at) => {
      const { calls } = spies[at]!.mock;
      return SELDOM.includes(name) && calls.length <= MOST_SELDOM ? [] : calls.map(() => name);
    });
}

const SHED = 503;

/** Comes again for as long as it is told to, as callers of a busy machine do. */
export async function untilServed<T extends { readonly status: number }>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    const answer = await call();
    if (answer.status !== SHED) return answer;
    await pause(100);
  }
}

/** Sends bytes as they are and gives back all bytes until the other side closes (or `ms` pass). */
export function rawRequest(port: number, bytes: string | Buffer, ms = 3_000): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    const chunks: Buffer[] = [];
    const end = () => {
      clearTimeout(timer);
      socket.destroy();
      resolve(Buffer.concat(chunks).toString('latin1'));
    };
    const timer = setTimeout(end, ms);
    socket.on('data', chunk => chunks.push(chunk));
    socket.on('end', end);
    socket.on('close', end);
    socket.on('error', error => (chunks.length > 0 ? end() : reject(error)));
    socket.write(bytes);
  });
}
