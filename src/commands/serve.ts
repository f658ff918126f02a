/** `domain-risk serve`: start, say how to call it, and end without losing a request. */

import { resolve } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import type { Command } from 'commander';
import type { Logger } from 'pino';
import { loadCatalog, type OpenedStore, openServedStore, VERSION } from '../compose.ts';
import type { Config } from '../config.ts';
import { type Store, StoreUnavailable } from '../core/ports.ts';
import { shownDatabase } from '../database.ts';
import { serversInPrivateNetworks } from '../dns/settings.ts';
import { reloadingFrom } from '../reload.ts';
import { BackupStatus, type ScheduledBackups, scheduleBackups } from '../scheduled-backups.ts';
import type { Service } from '../service.ts';
import { type Environment, settingsHelp } from '../setting-sources.ts';
import { type OnFormChange, toldOf } from '../store/form.ts';
import { awaitEnd } from './ending.ts';
import { hasTerminal, reloadOnHangup } from './hangup.ts';
import { CommandFailed, startProgress } from './print.ts';
import { welcome } from './welcome.ts';
import { readWorld, tellNewStore } from './world.ts';

/** Last resort after something that must never happen: a supervisor starts us again. */
const GIVE_UP_MS = 10_000;

/**
 * How much the heap may grow before it is swept whole. V8 by itself lets it grow up to fourfold, and new names leave
 * garbage there: 200,000 of them grew memory by 110 MiB without this (one run), by 62 and 63 with it (2026-11-15).
 */
const HEAP_GROWTH = '--heap-growing-percent=50';

export function addServe(program: Command): void {
  program
    .command('serve')
    .description('run the service; settings come from the environment')
    .option('--port <port>', 'overrides PORT')
    .option('--host <address>', 'overrides HOST')
    .option('--data-dir <folder>', 'overrides DATA_DIR; relative to the current folder')
    .addHelpText('after', settingsHelp)
    .action(serve);
}

interface ServeOptions {
  port?: string;
  host?: string;
  dataDir?: string;
}

/** In the environment, so that all threads have them. */
function setFrom({ port, host, dataDir }: ServeOptions): void {
  if (port !== undefined) process.env.PORT = port;
  if (host !== undefined) process.env.HOST = host;
  if (dataDir !== undefined) process.env.DATA_DIR = dataDir === '' ? '' : resolve(dataDir);
}

async function serve(options: ServeOptions): Promise<void> {
  setFlagsFromString(HEAP_GROWTH);
  setFrom(options);
  // Every other command starts twice as fast without what only a server needs.
  const { openLog } = await import('./log.ts');
  const given = readWorld();
  const { log, pass } = openLog(given.logLevel);
  const reloading = reloadingFrom(given, log);
  const { config } = reloading;
  let service: Serving | undefined;
  const die = (error: unknown) => {
    log.fatal({ err: error }, 'something that must never happen: shutting down');
    setTimeout(() => process.exit(1), GIVE_UP_MS).unref();
    Promise.resolve(service?.close()).finally(() => process.exit(1));
  };
  process.on('uncaughtException', die);
  process.on('unhandledRejection', die);

  const isAttended = hasTerminal();
  const ending = awaitEnd(['SIGTERM', 'SIGINT', ...(isAttended ? (['SIGHUP'] as const) : [])], log);
  const tellOn = isAttended ? undefined : reloadOnHangup(log, reloading);

  const onFormChange: OnFormChange = change =>
    log.warn('aside' in change ? { aside: change.aside } : { copy: change.copy }, toldOf(change));
  const backups = config.backups && new BackupStatus();
  const parts = { config, log, pass, die, onFormChange, backups };
  service = await (config.workers === 1 ? startAlone(parts) : startTogether(parts));
  if (service.reloadWorkers) tellOn?.(service.reloadWorkers);
  const { close } = service;
  const made = ending.isAsked() ? undefined : await greet(service, parts);
  ending.serve({ close: () => Promise.all([made?.close(), close()]) });
}

async function greet(
  service: Serving,
  { config, log, backups }: Parts,
): Promise<ScheduledBackups | undefined> {
  warnOfPrivateResolvers(config, log);
  const start = { version: VERSION, store: shownDatabase(config.database), snapshot: service.snapshot };
  log.info(
    { ...start, ...(config.workers > 1 && { workers: config.workers }), ...service.address },
    'listening',
  );
  const made = startBackups(config, service.store, log, backups);
  try {
    await welcome(service, config);
    return made;
  } catch (error) {
    await service.close();
    if (!(error instanceof StoreUnavailable)) throw error;
    throw new CommandFailed(
      `the first key could not be stored (${error.message}): end the program that holds the database, then start again`,
    );
  }
}

/** One that is under way at the end is given up, and leaves nothing that has its name. */
function startBackups({ backups, database }: Config, store: Store, log: Logger, status?: BackupStatus) {
  if (!backups || !status || database.kind !== 'sqlite') return undefined;
  const time = { clock: Date.now, ticks: () => performance.now() };
  const made = scheduleBackups({ ...backups, ...time, store, file: database.path, log, status });
  void made.look();
  return made;
}

interface Parts {
  readonly config: Config;
  readonly log: Logger;
  /** Takes lines of the log that workers have made. */
  readonly pass: (lines: string) => void;
  readonly die: (error: unknown) => void;
  readonly onFormChange: OnFormChange;
  readonly backups: BackupStatus | undefined;
}

interface Serving extends Pick<Service, 'address' | 'store'> {
  readonly invite?: Service['invite'];
  close(): Promise<unknown>;
  /** Of the catalog that it began with. */
  readonly snapshot: string;
  /** Of threads that have read the settings themselves. */
  readonly reloadWorkers?: (env: Environment) => void;
}

async function startAlone({ config, log, die, onFormChange, backups }: Parts): Promise<Serving> {
  const [{ bindService }, { startAlerts }, { RaisedCounts }, { tellOfFeeds }, { keepFresh }] =
    await Promise.all([
      import('../service.ts'),
      import('../alerts.ts'),
      import('../raise.ts'),
      import('../observe.ts'),
      import('../workers/updater.ts'),
    ]);
  const binding = await bound(config, bindService({ config, log }));
  let store: OpenedStore | undefined;
  try {
    await tellNewStore(config);
    store = await openServedStore(config, log, die, onFormChange);
    const bar = startProgress(BUILDING);
    const catalog = await loadCatalog(
      config,
      (feed, done, total) => bar.at(feed, done, total),
      store,
      tellOfFeeds(log).unusable,
    );
    bar.end(builtOf(catalog.size, catalog.status.length));
    const counts = new RaisedCounts();
    const service = await binding.start({ store, catalog, clock: Date.now, counts, backups });
    const alerts = startAlerts({
      ...{ config, log, store, counts, backups },
      health: () => service.health(),
    });
    const fresh = keepFresh({ config, log, store });
    const { address, invite } = service;
    const close = () => {
      alerts.close();
      return Promise.all([fresh?.close(), service.close()]);
    };
    return { address, store, invite, close, snapshot: catalog.generation };
  } catch (error) {
    await binding.close();
    await store?.close();
    throw error;
  }
}

async function startTogether(parts: Parts): Promise<Serving> {
  const { bindTogether } = await import('../workers/together.ts');
  const bar = startProgress(BUILDING);
  const binding = await bound(
    parts.config,
    bindTogether({ ...parts, progress: (feed, done, total) => bar.at(feed, done, total) }),
  );
  try {
    await tellNewStore(parts.config);
    const { catalog, ...serving } = await binding.start();
    bar.end(builtOf(catalog.size, catalog.status.length));
    return { ...serving, snapshot: catalog.generation };
  } catch (error) {
    await binding.close();
    throw error;
  }
}

const BUILDING = 'Building the catalog';
const builtOf = (domains: number, feeds: number) =>
  `catalog: ${domains} disposable domains from ${feeds} feeds`;

async function bound<T>(config: Config, binding: Promise<T>): Promise<T> {
  try {
    return await binding;
  } catch (error) {
    throw portProblem(error, config);
  }
}

function portProblem(error: unknown, config: Config): unknown {
  const { code, port } = error as NodeJS.ErrnoException & { port?: number };
  const isOperators = config.metricsPort !== undefined && port === config.metricsPort;
  const [tried, host, prefix] = isOperators
    ? [config.metricsPort!, config.metricsHost, 'METRICS_']
    : [config.port, config.host, ''];
  const where = `port ${tried} on ${host}`;
  if (code === 'EADDRINUSE') {
    const next = tried < 65535 ? tried + 1 : 8081;
    return new CommandFailed(
      `${where} is in use: set ${prefix}PORT to another one, such as ${prefix}PORT=${next}`,
    );
  }
  if (code === 'EACCES')
    return new CommandFailed(`${where} needs more rights: set ${prefix}PORT to one above 1023`);
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return new CommandFailed(
      `${where}: this machine has no such address: set ${prefix}HOST to one of its own, or 0.0.0.0`,
    );
  }
  return error;
}

function warnOfPrivateResolvers(config: Config, log: Logger): void {
  const servers = serversInPrivateNetworks(config.dnsServers);
  if (servers.length === 0) return;
  log.warn(
    { servers },
    'a DNS server in a private network may answer for internal names: set DNS_SERVERS to public ones, or ignore this if it answers for public names only',
  );
}
