/** Backups of the embedded store by schedule: one in each slot of time, however many servers there are; the last ones are kept. */

import { randomUUID } from 'node:crypto';
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
import { backupRecord, noteFailed, noteMade, storeIdOf } from './backup-record.ts';
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

/** What is known of the folder without asking it: its disk may not answer. */
export class BackupStatus {
  /** When the last good one was due; 0 where none is known of. */
  lastGood = 0;
  /** Why the last one that was tried here failed. */
  problem: string | undefined;

  /** In seconds; infinite where there is none: what is not known to be there is one to be alarmed about. */
  age(now: number): number {
    return this.lastGood === 0 ? Number.POSITIVE_INFINITY : Math.max(0, now - this.lastGood) / 1_000;
  }
}

type BackupStore = Pick<Store, 'backup' | 'isOwnBackup' | 'recordAct' | 'lease' | 'swapLease'>;

interface Parts extends BackupSettings {
  readonly store: BackupStore;
  /** The store's own. */
  readonly file: string;
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

async function openFor({ store, file, folder, status, log }: Parts) {
  const id = await storeIdOf(store, file, () =>
    log.warn(
      { folder },
      'the store is a copy, or was moved: its backups get names of their own, and those from before are left as they are',
    ),
  );
  // Until its disk answers.
  status.lastGood = (await backupRecord(store, folder)).slot;
  return { id, files: openBackupFolder(folder, id, store) };
}

function makerOf(parts: Parts): Maker {
  const { store, status, folder, everyMs, clock, log, pageMs = PAGE_MS } = parts;
  let held: Held | undefined;
  let known: Awaited<ReturnType<typeof openFor>> | undefined;

  async function read(files: BackupFolder): Promise<Backup[]> {
    const backups = await files.backups();
    status.lastGood = lastGoodOf(backups, clock());
    return backups;
  }

  async function make(wait: (ms: number) => void): Promise<void> {
    known ??= await openFor(parts);
    const { id, files } = known;
    const now = clock();
    const slot = now - (now % everyMs);
    const name = backupName(slot, id);
    const isMade = async () => (await read(files)).some(one => one.name === name);
    const was = await backupRecord(store, folder);
    const device = await files.device();
    const isElsewhere = was.slot > 0 && was.device !== device;
    if (isElsewhere && (await read(files)).length === 0) throw otherDisk(folder, name);
    const noteThis = () => {
      status.problem = undefined;
      return noteMade(store, folder, slot, device);
    };
    await files.make();
    if (await isMade()) {
      // By another server, by one that was killed before it noted it, or by hand; or its disk answers again.
      if (isElsewhere || was.slot !== slot || was.problem !== null || status.problem) await noteThis();
      return;
    }
    held = await takeLease(store, clock);
    if (!held) return;
    try {
      // Whoever had it before may have just made it.
      if (await isMade()) return;
      await files.removePartials(slot - everyMs);
      wait(pageMs);
      await store.backup(join(folder, name), () => wait(pageMs));
      await noteThis();
      log.info({ file: join(folder, name) }, 'backed up');
      await prune(parts, name, files, async () => byAge(await read(files), clock()));
    } finally {
      await leave();
    }
  }

  async function leave(): Promise<void> {
    // Where the store does not take it, it runs out by itself.
    await held?.end(clock()).catch(() => {});
  }

  return { make, leave };
}

/** The one just made is a good one, whatever becomes of the others. */
async function prune({ keep, log }: Parts, made: string, files: BackupFolder, read: () => Promise<Backup[]>) {
  try {
    const others = (await read()).filter(({ name }) => name !== made);
    for (const old of others.slice(0, Math.max(0, others.length - keep + 1))) await files.remove(old);
  } catch (error) {
    if (!isExpected(error)) throw error;
    log.warn({ err: error }, 'old backups could not be removed: see who owns BACKUP_DIR');
  }
}

/** Its mount is gone: what is written there now would fill the disk below, and not be there when it is needed. */
function otherDisk(folder: string, name: string): StoreRefused {
  return new StoreRefused(
    `${folder} is on another disk than the last backup, and has none of this store`,
    `mount the disk of before; or, to go on with this one, run "domain-risk backup ${join(folder, name)}"`,
  );
}

export function scheduleBackups(parts: Parts): ScheduledBackups {
  const { store, status, folder, everyMs, clock, ticks, log, answerMs = ANSWER_MS } = parts;
  const { make, leave } = makerOf(parts);
  let isBusy = false;
  let restUntil = Number.NEGATIVE_INFINITY;

  async function fail(error: Error): Promise<void> {
    status.problem = shortDetail(error.message);
    restUntil = ticks() + Math.min(RETRY_MS, everyMs);
    log.error(
      { err: error },
      'the backup failed: BACKUP_DIR must answer, be writable and have room for the whole store',
    );
    const act = actOf(clock(), 'backup.fail', folder, ACTOR, error.message);
    await store.recordAct(act).catch(() => {});
    await noteFailed(store, folder, status.problem).catch(() => {});
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
