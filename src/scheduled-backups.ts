/** Backups of the embedded store by schedule: one in each slot of time, however many servers there are; the last ones are kept. */

import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { actOf } from './core/audit.ts';
import { type Clock, type Store, StoreUnavailable, type Ticks } from './core/ports.ts';
import { StoreRefused } from './store/refused.ts';

export interface BackupSettings {
  readonly folder: string;
  readonly everyMs: number;
  readonly keep: number;
}

/** How often it is looked at whether one is due. */
const LOOK_MS = 30_000;
/** After one that failed. */
const RETRY_MS = 3_600_000;

const NAME = /^domain-risk-(\d{4}-\d\d-\d\d)T(\d\d)(\d\d)(\d\d)Z\.db$/;
const PARTIAL = /^domain-risk-[\dT-]+Z\.db\.partial(?:-journal)?$/;
/** Of the file, and of what whoever has looked into it may have left beside it. */
const ENDS = ['', '-wal', '-shm'];
const ACTOR = { who: 'domain-risk', via: 'schedule' };

const nameOf = (slot: number) =>
  `domain-risk-${new Date(slot).toISOString().slice(0, 19).replaceAll(':', '')}Z.db`;

interface Backup {
  readonly name: string;
  readonly slot: number;
}

/**
 * Of the names in the folder those of ours, the oldest first. What is named after the future was made by a clock that
 * was ahead: nobody knows how old it is, and it is the first to go.
 */
function backupsIn(folder: string, now: number): Backup[] {
  const age = ({ slot }: Backup) => (slot > now ? Number.POSITIVE_INFINITY : now - slot);
  return readdirSync(folder)
    .flatMap(name => {
      const [, day, hour, minute, second] = NAME.exec(name) ?? [];
      return day ? { name, slot: Date.parse(`${day}T${hour}:${minute}:${second}Z`) } : [];
    })
    .sort((a, b) => (age(a) === age(b) ? a.slot - b.slot : age(b) - age(a)));
}

/** When it was due: nothing has the name of a backup that was not read back whole. 0 where there is none. */
export function lastGoodBackup(folder: string, now: number): number {
  try {
    return backupsIn(folder, now).findLast(({ slot }) => slot <= now)?.slot ?? 0;
  } catch {
    return 0;
  }
}

/** Infinite where there is none. */
export function backupAge(folder: string, now: number): number {
  const last = lastGoodBackup(folder, now);
  return last === 0 ? Number.POSITIVE_INFINITY : (now - last) / 1_000;
}

interface Parts extends BackupSettings {
  readonly store: Pick<Store, 'backup' | 'recordAct'>;
  readonly clock: Clock;
  /** Waits are measured by these: a clock that was ahead may have been put right meanwhile. */
  readonly ticks: Ticks;
  readonly log: Pick<Logger, 'info' | 'error'>;
}

export interface ScheduledBackups {
  /** Makes the one of now where it is missing. Never rejects for what the disk or the store is to blame for. */
  look(): Promise<void>;
  close(): void;
}

export function scheduleBackups(parts: Parts): ScheduledBackups {
  const { store, folder, everyMs, keep, clock, ticks, log } = parts;
  let isBusy = false;
  let restUntil = Number.NEGATIVE_INFINITY;

  /** Another server writes it, or has done so. */
  const isThere = (name: string) =>
    readdirSync(folder).some(one => one === name || one === `${name}.partial`);

  async function make(slot: number): Promise<void> {
    const name = nameOf(slot);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (isThere(name)) return;
    // What one that was killed has left; one of the slot before may still be at work.
    for (const left of readdirSync(folder))
      if (PARTIAL.test(left) && left < nameOf(slot - everyMs)) rmSync(join(folder, left), { force: true });
    try {
      await store.backup(join(folder, name), () => {});
    } catch (error) {
      if (error instanceof StoreRefused && isThere(name)) return;
      throw error;
    }
    log.info({ file: join(folder, name) }, 'backed up');
    const others = backupsIn(folder, clock()).filter(one => one.name !== name);
    for (const { name: old } of others.slice(0, Math.max(0, others.length - keep + 1)))
      for (const end of ENDS) rmSync(join(folder, old + end), { force: true });
  }

  async function fail(error: Error): Promise<void> {
    restUntil = ticks() + Math.min(RETRY_MS, everyMs);
    log.error(
      { err: error },
      'the backup failed: BACKUP_DIR must be writable and have room for the whole store',
    );
    const act = actOf(clock(), 'backup.fail', folder, ACTOR, error.message);
    await store.recordAct(act).catch(() => {});
  }

  async function look(): Promise<void> {
    const now = clock();
    if (isBusy || ticks() < restUntil) return;
    isBusy = true;
    try {
      await make(now - (now % everyMs));
    } catch (error) {
      const isExpected = error instanceof StoreRefused || error instanceof StoreUnavailable;
      if (!isExpected && !('syscall' in (error as Error))) throw error;
      await fail(error as Error);
    } finally {
      isBusy = false;
    }
  }

  const timer = setInterval(() => void look(), LOOK_MS).unref();
  return { look, close: () => clearInterval(timer) };
}
