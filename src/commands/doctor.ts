/** `domain-risk doctor`: whether the installation is well, and what to do where it is not. */

import { randomBytes } from 'node:crypto';
import { existsSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import { lastGoodOf, openBackupFolder } from '../backup-folder.ts';
import { backupRecord, knownIdOf } from '../backup-record.ts';
import { openCommandStore } from '../command-store.ts';
import { openResolver, VERSION } from '../compose.ts';
import type { Config } from '../config.ts';
import { parseDomain } from '../core/domain.ts';
import { DOCTOR } from '../core/lease.ts';
import { type Store, StoreUnavailable } from '../core/ports.ts';
import { shownDatabase } from '../database.ts';
import { FEED_IDS } from '../feeds/sources.ts';
import { descriptors } from '../http/descriptors.ts';
import { heldSettings, unknownSettings } from '../setting-sources.ts';
import { StoreRefused } from '../store/refused.ts';
import {
  backupsFinding,
  descriptorsFinding,
  diskFinding,
  type Finding,
  failed,
  feedsFinding,
  ok,
  warning,
} from './findings.ts';
import { CommandFailed, printJson, printTable } from './print.ts';
import { exposedIn, hasStore, readWorld } from './world.ts';

export function addDoctor(program: Command): void {
  program
    .command('doctor')
    .description(
      'check settings, access by other users, store, disk, clock, DNS, feeds, backups, descriptors and version, and say what to do; exit code 1 where something must be done',
    )
    .option('--json', 'one JSON document on stdout')
    .action(doctor);
}

async function doctor({ json }: { json?: boolean }): Promise<void> {
  const config = readWorld();
  const [ofStore, ofDns] = await Promise.all([lookAtStore(config), lookAtDns(config)]);
  const findings = [
    ...lookAtSettings(config),
    ...ofStore,
    lookAtDisk(config),
    ...ofDns,
    descriptorsFinding(descriptors()),
  ];
  if (json) printJson({ version: VERSION, findings });
  else
    printTable(
      ['CHECK', 'STATE', 'FOUND', 'TO DO'],
      findings.map(({ check, state, detail, fix }) => [check, state, detail, fix]),
    );
  const ill = findings.filter(({ state }) => state === 'failed');
  if (ill.length > 0)
    throw new CommandFailed(
      ill.map(({ check, detail, fix }) => `${check}: ${detail}${fix ? `: ${fix}` : ''}`).join('\n'),
    );
}

function lookAtSettings(config: Config): Finding[] {
  const unknown = unknownSettings(process.env, heldSettings());
  const exposed = exposedIn(config);
  return [
    unknown.length === 0
      ? ok('settings', 'all valid ("domain-risk config" shows them)')
      : warning('settings', unknown.join('; '), 'correct or remove them'),
    ...(exposed.length === 0 ? [] : [warning('access', exposed.join('; '), 'keep other users out')]),
  ];
}

async function lookAtStore(config: Config): Promise<Finding[]> {
  const where = shownDatabase(config.database);
  const setting = config.database.kind === 'sqlite' ? 'DATA_DIR' : 'DATABASE_URL';
  let store: Store | undefined;
  try {
    if (!(await hasStore(config)))
      return [
        failed('store', `there is none at ${where}`, `set ${setting}, or start the service to make one`),
      ];
    store = await openCommandStore(config);
    await store.ready();
    const keys = (await store.listKeys()).filter(({ revokedAt }) => revokedAt === null).length;
    await proveWrite(store);
    return [
      ok('store', `${where}: takes writes, ${keys} keys`),
      await lookAtClock(store),
      await lookAtFeeds(store, config),
      await lookAtVersions(store),
      ...(await lookAtBackups(store, config)),
    ];
  } catch (error) {
    if (error instanceof StoreRefused) return [failed('store', error.problem, error.fix)];
    if (error instanceof StoreUnavailable)
      return [failed('store', `${where}: ${error.message}`, 'end what holds it, or repair the disk')];
    throw error;
  } finally {
    await store?.close();
  }
}

/** One that is committed: to be ready a store need not have room for one more page. */
async function proveWrite(store: Store): Promise<void> {
  const was = await store.lease(DOCTOR);
  await store.swapLease({ name: DOCTOR, holder: null, until: 0, dueAt: Date.now() }, was);
}

/** Of the future, by more than clocks of servers differ. PostgreSQL's own clock is compared when it is asked to be ready. */
const MOST_AHEAD_MS = 60_000;

async function lookAtClock(store: Store): Promise<Finding> {
  const now = Date.now();
  const [act] = await store.audit(1);
  const shown = new Date(now).toISOString();
  return act && act.at > now + MOST_AHEAD_MS
    ? failed(
        'clock',
        `${shown}, but the audit has an act of ${new Date(act.at).toISOString()}`,
        'set the clock (NTP)',
      )
    : ok('clock', `${shown}, nothing in the store is of the future`);
}

async function lookAtFeeds(store: Store, { feedsOff }: Config): Promise<Finding> {
  const added = (await store.addedFeeds()).map(({ name }) => name);
  const used = [...FEED_IDS, ...added].filter(id => !feedsOff.includes(id));
  return feedsFinding(await store.feedChecks(), used, Date.now());
}

/** For a disk: a dead network mount never answers. */
const ANSWER_MS = 5_000;

/** Nothing where none are made by schedule. */
async function lookAtBackups(store: Store, { backups, database }: Config): Promise<Finding[]> {
  if (!backups || database.kind !== 'sqlite') return [];
  const now = Date.now();
  const read = async () => {
    const id = await knownIdOf(store, database.path);
    return id === undefined
      ? 0
      : lastGoodOf(await openBackupFolder(backups.folder, id, store).backups(), now);
  };
  const lastGood = await Promise.race([
    read().catch((error: unknown) => {
      if (!('syscall' in (error as Error))) throw error;
      return (error as NodeJS.ErrnoException).code === 'ENOENT' ? 0 : (error as Error).message;
    }),
    pause(ANSWER_MS, 'it does not answer', { ref: false }),
  ]);
  return [backupsFinding(backups, lastGood, await backupRecord(store, backups.folder), now)];
}

async function lookAtVersions(store: Store): Promise<Finding> {
  const servers = await store.listServers();
  const mine = `${VERSION} on Node ${process.versions.node}`;
  const running = servers.map(({ version, host }) => `${version} on ${host}`).join(', ');
  const detail = `${mine}; servers alive: ${running || 'none'}`;
  return servers.some(({ version }) => version !== VERSION)
    ? warning('version', detail, 'restart the servers of the other version')
    : ok('version', detail);
}

/** Of the folder, or of what it will be made in. */
function lookAtDisk({ dataDir }: Config): Finding {
  let folder = dataDir;
  while (!existsSync(folder)) folder = dirname(folder);
  const { bavail, bsize } = statfsSync(folder);
  return diskFinding(folder, bavail * bsize);
}

const FIX_DNS = 'set DNS_SERVERS to one that answers for public names';

/** A name that does not exist: the answer about it waits until every server has shown whether it is to be believed. */
async function lookAtDns(config: Config): Promise<Finding[]> {
  const resolver = openResolver(config);
  try {
    const nobody = parseDomain(`${randomBytes(10).toString('hex')}.com`);
    const answer = nobody.ok ? await resolver.resolve(nobody.domain, 'doctor') : undefined;
    const isAnswered = answer?.state !== 'unknown';
    return resolver.health().servers.map(({ address, problem }) => {
      if (problem !== null) return failed('dns', `${address} ${problem}`, FIX_DNS);
      return isAnswered
        ? ok('dns', `${address} answers and is trusted`)
        : failed('dns', `${address} does not answer`, FIX_DNS);
    });
  } finally {
    await resolver.close();
  }
}
