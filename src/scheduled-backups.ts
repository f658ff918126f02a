/** Backups of the embedded store by schedule: one in each slot of time, however many servers there are; the last ones are kept. */

import { randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Logger } from 'pino';
import {
  type Backup,
  type BackupFolder,
  backupName,
  byAge,
  lastGoodOf,
  openBackupFolder,
} from './backup-folder.ts';
import { actOf, shortDetail } from './core/audit.ts';
import { isHeld, LEASE_MS } from './core/lease.ts';
import { type Clock, type Store, StoreUnavailable, type Ticks } from './core/ports.ts';
import { type Held, holdLease } from './schedule.ts';
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
/** A disk that has not answered by then, or taken one more page: dead network mounts wait for ever. */
const ANSWER_MS = 30_000;
const PAGE_MS = 600_000;

const ACTOR = { who: 'domain-risk', via: 'schedule' };
const LEASE = 'backup';
/** Held for good by the id of the store: who comes first has made it. */
const STORE_ID = 'store';

/** What is known of the folder without asking it: its disk may not answer. */
export class BackupStatus {
  /** When the last good one was due; 0 where none is known, undefined until the first look at the folder. */
  lastGood: number | undefined;
  /** Why the last one that was tried here failed. */
  problem: string | undefined;

  /** In seconds; infinite where there is none. */
  age(now: number): number {
    if (this.lastGood === undefined) return Number.NaN;
    return this.lastGood === 0 ? Number.POSITIVE_INFINITY : Math.max(0, now - this.lastGood) / 1_000;
  }
}

type BackupStore = Pick<Store, 'backup' | 'isOwnBackup' | 'recordAct' | 'lease' | 'swapLease'>;

interface Parts extends BackupSettings {
  readonly store: BackupStore;
  readonly status: BackupStatus;
  readonly clock: Clock;
  /** Waits are measured by these: a clock that was ahead may have been put right meanwhile. */
  readonly ticks: Ticks;
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>;
  readonly answerMs?: number;
  readonly pageMs?: number;
}

export interface ScheduledBackups {
  /**
   * Makes the one of now where it is missing, and waits no longer for a disk than it may take to answer. Never rejects
   * for what the disk or the store is to blame for.
   */
  look(): Promise<void>;
  /** What is under way is given up, for the next server to begin anew. */
  close(): Promise<void>;
}

/** By which the backups of one store are told from those of others in the same folder. */
export async function storeIdOf(store: Pick<Store, 'lease' | 'swapLease'>): Promise<string> {
  const made = { name: STORE_ID, holder: randomBytes(4).toString('hex'), until: 0, dueAt: 0 };
  await store.swapLease(made, undefined);
  return (await store.lease(STORE_ID))!.holder!;
}

/** Undefined where another server is at it. One that was killed holds it for two minutes more. */
async function takeLease(store: BackupStore, clock: Clock): Promise<Held | undefined> {
  const was = await store.lease(LEASE);
  const now = clock();
  if (was && isHeld(was, now)) return undefined;
  const mine = { name: LEASE, holder: randomUUID(), until: now + LEASE_MS, dueAt: now };
  return (await store.swapLease(mine, was)) ? holdLease({ store, clock }, mine) : undefined;
}

/** Ends a wait that lasts for too long without a sign. */
function createPatience(): { readonly isOver: Promise<void>; wait(ms: number): void; end(): void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  let timer: NodeJS.Timeout | undefined;
  const end = () => clearTimeout(timer);
  return {
    isOver: promise,
    wait(ms) {
      end();
      timer = setTimeout(resolve, ms).unref();
    },
    end,
  };
}

interface Maker {
  /** The backup of now where it is missing; `wait` is told how long the next sign of it may take. */
  make(wait: (ms: number) => void): Promise<void>;
  /** Others may make it. */
  leave(): Promise<void>;
}

function makerOf(parts: Parts): Maker {
  const { store, status, folder, everyMs, keep, clock, log, pageMs = PAGE_MS } = parts;
  let held: Held | undefined;
  let known: { readonly id: string; readonly files: BackupFolder } | undefined;

  async function open() {
    const id = await storeIdOf(store);
    return { id, files: openBackupFolder(folder, id, store) };
  }

  async function read(files: BackupFolder): Promise<Backup[]> {
    const backups = await files.backups();
    status.lastGood = lastGoodOf(backups, clock());
    return backups;
  }

  async function make(wait: (ms: number) => void): Promise<void> {
    known ??= await open();
    const { id, files } = known;
    const now = clock();
    const slot = now - (now % everyMs);
    const name = backupName(slot, id);
    const isMade = async () => {
      const isThere = (await read(files)).some(one => one.name === name);
      if (isThere) status.problem = undefined;
      return isThere;
    };
    await files.make();
    if (await isMade()) return;
    held = await takeLease(store, clock);
    if (!held) return;
    try {
      // Whoever had it before may have just made it.
      if (await isMade()) return;
      await files.removePartials(slot - everyMs);
      wait(pageMs);
      await store.backup(join(folder, name), () => wait(pageMs));
      status.problem = undefined;
      log.info({ file: join(folder, name) }, 'backed up');
      await prune(files, name);
    } finally {
      await leave();
    }
  }

  async function leave(): Promise<void> {
    // Where the store does not take it, it runs out by itself.
    await held?.end(clock()).catch(() => {});
  }

  /** The one just made is a good one, whatever becomes of the others. */
  async function prune(files: BackupFolder, made: string): Promise<void> {
    try {
      const others = byAge(await read(files), clock()).filter(({ name }) => name !== made);
      for (const old of others.slice(0, Math.max(0, others.length - keep + 1))) await files.remove(old);
    } catch (error) {
      if (!isExpected(error)) throw error;
      log.warn({ err: error }, 'old backups could not be removed: see who owns BACKUP_DIR');
    }
  }

  return { make, leave };
}

export function scheduleBackups(parts: Parts): ScheduledBackups {
  const { store, status, folder, everyMs, clock, ticks, log, answerMs = ANSWER_MS } = parts;
  const { make, leave } = makerOf(parts);
  let isBusy = false;
  let restUntil = Number.NEGATIVE_INFINITY;

  async function fail(error: Error): Promise<void> {
    // In a folder that could not be read since the start there is none to rely on: whoever watches is to hear of it.
    if (!(error instanceof StoreUnavailable)) status.lastGood ??= 0;
    status.problem = shortDetail(error.message);
    restUntil = ticks() + Math.min(RETRY_MS, everyMs);
    log.error(
      { err: error },
      'the backup failed: BACKUP_DIR must answer, be writable and have room for the whole store',
    );
    const act = actOf(clock(), 'backup.fail', folder, ACTOR, error.message);
    await store.recordAct(act).catch(() => {});
  }

  async function look(): Promise<void> {
    if (isBusy || ticks() < restUntil) return;
    isBusy = true;
    const patience = createPatience();
    let isSilent = false;
    patience.wait(answerMs);
    const work = make(patience.wait)
      .catch((error: unknown) => {
        if (!isExpected(error)) throw error;
        return isSilent ? undefined : fail(error);
      })
      .finally(() => {
        isBusy = false;
        patience.end();
        if (!isSilent) return;
        log.info({ folder }, 'BACKUP_DIR answers again');
        restUntil = Number.NEGATIVE_INFINITY;
      });
    const silence = patience.isOver.then(() => {
      isSilent = true;
      return fail(new Error(`${folder} does not answer`));
    });
    await Promise.race([work, silence]);
  }

  const timer = setInterval(() => void look(), LOOK_MS).unref();
  return {
    look,
    close() {
      clearInterval(timer);
      return leave();
    },
  };
}

function isExpected(error: unknown): error is Error {
  const isOfStore = error instanceof StoreRefused || error instanceof StoreUnavailable;
  return isOfStore || 'syscall' in (error as Error);
}
