/** `domain-risk doctor`: whether the installation is well, and what to do where it is not. */

import { randomBytes } from 'node:crypto';
import { existsSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Command } from 'commander';
import { openCommandStore, openResolver, VERSION } from '../compose.ts';
import type { Config } from '../config.ts';
import { parseDomain } from '../core/domain.ts';
import { type Store, StoreUnavailable } from '../core/ports.ts';
import { shownDatabase } from '../database.ts';
import { descriptors } from '../http/sockets.ts';
import { settingsFile, unknownSettings } from '../setting-sources.ts';
import { StoreRefused } from '../store/refused.ts';
import { CommandFailed, printJson, printTable } from './print.ts';
import { hasStore, readWorld } from './world.ts';

export interface Finding {
  readonly check: string;
  readonly state: 'ok' | 'warning' | 'failed';
  readonly detail: string;
  /** What to do; null where nothing is to be done. */
  readonly fix: string | null;
}

export function addDoctor(program: Command): void {
  program
    .command('doctor')
    .description(
      'check settings, store, disk, clock, DNS, feeds, descriptors and version, and say what to do; exit code 1 where something must be done',
    )
    .option('--json', 'one JSON document on stdout')
    .action(doctor);
}

async function doctor({ json }: { json?: boolean }): Promise<void> {
  const config = readWorld();
  const [ofStore, ofDns] = await Promise.all([lookAtStore(config), lookAtDns(config)]);
  const findings = [lookAtSettings(), ...ofStore, lookAtDisk(config), ...ofDns, lookAtDescriptors()];
  if (json) printJson({ version: VERSION, findings });
  else
    printTable(
      ['CHECK', 'STATE', 'FOUND', 'TO DO'],
      findings.map(({ check, state, detail, fix }) => [check, state, detail, fix]),
    );
  const failed = findings.filter(({ state }) => state === 'failed');
  if (failed.length > 0)
    throw new CommandFailed(
      failed.map(({ check, detail, fix }) => `${check}: ${detail}${fix ? `: ${fix}` : ''}`).join('\n'),
    );
}

const ok = (check: string, detail: string): Finding => ({ check, state: 'ok', detail, fix: null });
const warning = (check: string, detail: string, fix: string): Finding => ({
  ...{ check, state: 'warning', detail, fix },
});
const failed = (check: string, detail: string, fix: string): Finding => ({
  ...{ check, state: 'failed', detail, fix },
});

function lookAtSettings(): Finding {
  const unknown = unknownSettings(process.env, settingsFile(process.env));
  return unknown.length === 0
    ? ok('settings', 'all valid ("domain-risk config" shows them)')
    : warning('settings', unknown.join('; '), 'correct or remove them');
}

async function lookAtStore(config: Config): Promise<Finding[]> {
  const where = shownDatabase(config.database);
  if (!hasStore(config))
    return [failed('store', `there is none at ${where}`, 'set DATA_DIR, or start the service to make one')];
  let store: Store | undefined;
  try {
    store = await openCommandStore(config, error => {
      throw error;
    });
    await store.ready();
    const keys = (await store.listKeys()).filter(({ revokedAt }) => revokedAt === null).length;
    const found = ok('store', `${where}: takes writes, ${keys} keys`);
    return [found, await lookAtClock(store), await lookAtFeeds(store), await lookAtVersions(store)];
  } catch (error) {
    if (error instanceof StoreRefused) return [failed('store', error.problem, error.fix)];
    if (error instanceof StoreUnavailable)
      return [failed('store', `${where}: ${error.message}`, 'end what holds it, or repair the disk')];
    throw error;
  } finally {
    await store?.close();
  }
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

const DAY_MS = 86_400_000;
const STALE_DAYS = 3;

export function feedsFinding(updates: readonly number[], now: number): Finding {
  const fix =
    'run "domain-risk feeds update": it says why; a server does it by itself unless FEEDS_UPDATE is off';
  if (updates.length === 0) return warning('feeds', 'as installed, never updated', fix);
  const days = (now - Math.max(...updates)) / DAY_MS;
  const detail = `${updates.length} updated, the last one ${days < 1 ? 'today' : `${Math.floor(days)} days ago`}`;
  return days > STALE_DAYS ? warning('feeds', detail, fix) : ok('feeds', detail);
}

async function lookAtFeeds(store: Store): Promise<Finding> {
  return feedsFinding(
    (await store.snapshots()).map(({ acceptedAt }) => acceptedAt),
    Date.now(),
  );
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

/** A store of many guests has 400 MB, and each copy before a change takes as much again. */
const LOW_BYTES = 2 ** 30;
const LEAST_BYTES = 64 * 2 ** 20;

export function diskFinding(folder: string, free: number): Finding {
  const detail = `${Math.floor(free / 2 ** 20)} MiB free in ${folder}`;
  if (free < LEAST_BYTES)
    return failed('disk', detail, 'free some space: calls fail when nothing can be counted');
  return free < LOW_BYTES ? warning('disk', detail, 'free some space soon') : ok('disk', detail);
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

const FEW_DESCRIPTORS = 4_096;

function lookAtDescriptors(): Finding {
  const most = descriptors();
  const detail = `${most} may be open`;
  return most < FEW_DESCRIPTORS
    ? warning(
        'descriptors',
        detail,
        'raise the limit (ulimit -n, LimitNOFILE of systemd): each connection takes one',
      )
    : ok('descriptors', detail);
}
