/** A thread that owns one connection to the embedded store, so that no lock and no fsync stops the event loop. */

import { backup, type DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { openDatabase } from './open.ts';
import { createRecords, type Records } from './records.ts';
import { createSpender, type SpendGroup, type SpendResult } from './spender.ts';

export interface WorkerData {
  readonly path: string;
  /** The counter counts calls and does nothing else; the clerk does all the rest. */
  readonly role: 'counter' | 'clerk';
}

export interface Question {
  readonly id: number;
  readonly op: string;
  readonly args: readonly unknown[];
}

export type Reply =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: string }
  | { readonly id: number; readonly done: number; readonly total: number };

interface Connection {
  close(): void;
}

export interface Counter extends Connection {
  spend(groups: readonly SpendGroup[]): SpendResult[];
}

export interface Clerk extends Connection, Records {
  backup(path: string): Promise<void>;
}

const port = parentPort!;
const { path, role } = workerData as WorkerData;
const db = openDatabase(path);
let current = 0;

const close = () => db.close();
const ops: Counter | Clerk =
  role === 'counter'
    ? { spend: createSpender(db), close }
    : { ...createRecords(db), backup: createBackup(db), close };

function createBackup(source: DatabaseSync): Clerk['backup'] {
  return async target => {
    const id = current;
    await backup(source, target, {
      progress: ({ totalPages, remainingPages }) =>
        port.postMessage({ id, done: totalPages - remainingPages, total: totalPages } satisfies Reply),
    });
  };
}

port.on('message', async ({ id, op, args }: Question) => {
  current = id;
  try {
    const value = await (ops[op as keyof typeof ops] as (...args: readonly unknown[]) => unknown)(...args);
    port.postMessage({ id, value } satisfies Reply);
  } catch (error) {
    port.postMessage({ id, error: (error as Error).message } satisfies Reply);
  }
});
