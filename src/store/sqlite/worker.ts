/** A thread that owns one connection to the embedded store, so that no lock and no fsync stops the event loop. */

import { backup, DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { type Audit, createAudit } from './audit.ts';
import { unavailabilityOf } from './codes.ts';
import { createFlags, type Flags } from './flags.ts';
import { createHosts, type Hosts } from './hosts.ts';
import { createKeys, type Keys } from './keys.ts';
import { LOCK_WAIT_MS } from './lock.ts';
import { openDatabase } from './open.ts';
import { createOverrides, type Overrides } from './overrides.ts';
import { createRestore, type Restore } from './restore.ts';
import { createRevisions, type Revisions } from './revision.ts';
import { createSnapshots, type Snapshots } from './snapshots.ts';
import { createSpender, type Spender } from './spender.ts';
import { createUsage, type Usage } from './usage.ts';

export interface WorkerData {
  readonly path: string;
  /** The counter counts calls and does nothing else; one of records does all the rest. */
  readonly role: 'counter' | 'records';
}

export interface Question {
  readonly id: number;
  readonly op: string;
  readonly args: readonly unknown[];
}

export type Reply =
  | { readonly isUp: true }
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly unavailable: string }
  /** Of ours: it crosses the threads with its kind and its stack. */
  | { readonly id: number; readonly fault: Error }
  | { readonly id: number; readonly done: number; readonly total: number };

interface Connection {
  close(): void;
}

export interface Counter extends Connection, Spender {}

export interface Records
  extends Connection,
    Pick<Revisions, 'revision'>,
    Keys,
    Usage,
    Overrides,
    Flags,
    Hosts,
    Snapshots,
    Audit,
    Restore {
  backup(path: string): Promise<void>;
}

const port = parentPort!;
const { path, role } = workerData as WorkerData;
const db = openDatabase(path);
let current = 0;

const close = () => db.close();
const ops: Counter | Records = role === 'counter' ? { ...createSpender(db), close } : recordsOn();

function recordsOn(): Records {
  const revisions = createRevisions(db);
  return {
    revision: revisions.revision,
    ...createKeys(db, revisions),
    ...createUsage(db),
    ...createOverrides(db, revisions),
    ...createFlags(db),
    ...createHosts(db),
    ...createSnapshots(db),
    ...createAudit(db),
    ...createRestore(db, revisions),
    backup: backUp,
    close,
  };
}

/**
 * From a connection of its own that stays in one read transaction: SQLite's online backup starts anew whenever another
 * connection has written, and beside a busy server it would never end.
 */
async function backUp(target: string): Promise<void> {
  const id = current;
  const source = new DatabaseSync(path, { readOnly: true, timeout: LOCK_WAIT_MS });
  try {
    source.exec('BEGIN; SELECT value FROM revision');
    await backup(source, target, {
      progress: ({ totalPages, remainingPages }) =>
        port.postMessage({ id, done: totalPages - remainingPages, total: totalPages } satisfies Reply),
    });
  } finally {
    source.close();
  }
}

port.on('message', async ({ id, op, args }: Question) => {
  current = id;
  try {
    const value = await (ops[op as keyof typeof ops] as (...args: readonly unknown[]) => unknown)(...args);
    port.postMessage({ id, value } satisfies Reply);
  } catch (error) {
    // Judged here, where it was thrown: on the way an error loses all but its kind, its message and its stack.
    const unavailable = unavailabilityOf(error);
    const reply: Reply = unavailable
      ? { id, unavailable: unavailable.message }
      : { id, fault: error as Error };
    port.postMessage(reply);
  }
});
port.postMessage({ isUp: true } satisfies Reply);
