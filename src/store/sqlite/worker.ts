/** A thread that owns one connection to the embedded store, so that no lock and no fsync stops the event loop. */

import { backup, DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import type { FormChange } from '../form.ts';
import { StoreRefused } from '../refused.ts';
import { type Audit, createAudit } from './audit.ts';
import { copyingBefore } from './before.ts';
import { unavailabilityOf } from './codes.ts';
import { createFlags, type Flags } from './flags.ts';
import { createHosts, type Hosts } from './hosts.ts';
import { createKeys, type Keys } from './keys.ts';
import { LOCK_WAIT_MS } from './lock.ts';
import { openDatabase, openFirst } from './open.ts';
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
  /** It looks the file over and changes its tables where they have to: seconds for a large one. */
  readonly isFirst: boolean;
}

export interface Question {
  readonly id: number;
  readonly op: string;
  readonly args: readonly unknown[];
}

export type Reply =
  | { readonly isUp: true }
  | { readonly change: FormChange }
  | { readonly refused: Pick<StoreRefused, 'problem' | 'fix'> }
  | { readonly failed: Error }
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
const { path, role, isFirst } = workerData as WorkerData;
const tell = (reply: Reply) => port.postMessage(reply, handedOver(reply));
let current = 0;

/** Bytes are not copied: whoever made them has no more use for them. */
function handedOver(reply: Reply): ArrayBuffer[] {
  const value = 'value' in reply ? reply.value : undefined;
  return value instanceof Uint8Array && value.buffer instanceof ArrayBuffer ? [value.buffer] : [];
}

/** Nothing where the start is refused. It is told in words: on the way an error loses its kind. */
function open(): DatabaseSync | undefined {
  if (!isFirst) return openDatabase(path);
  try {
    return openFirst(
      path,
      copyingBefore(path, change => tell({ change })),
    );
  } catch (error) {
    if (error instanceof StoreRefused) tell({ refused: { problem: error.problem, fix: error.fix } });
    else tell({ failed: error as Error });
    return undefined;
  }
}

function recordsOn(db: DatabaseSync): Omit<Records, 'close'> {
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
        tell({ id, done: totalPages - remainingPages, total: totalPages }),
    });
  } finally {
    source.close();
  }
}

function serve(db: DatabaseSync): void {
  const close = () => db.close();
  const work = role === 'counter' ? createSpender(db) : recordsOn(db);
  const ops: Counter | Records = { ...work, close };
  port.on('message', async ({ id, op, args }: Question) => {
    current = id;
    try {
      const value = await (ops[op as keyof typeof ops] as (...args: readonly unknown[]) => unknown)(...args);
      tell({ id, value });
    } catch (error) {
      // Judged here, where it was thrown: on the way an error loses all but its kind, its message and its stack.
      const unavailable = unavailabilityOf(error);
      tell(unavailable ? { id, unavailable: unavailable.message } : { id, fault: error as Error });
    }
  });
  tell({ isUp: true });
}

const db = open();
if (db) serve(db);
