/** A store in the test's own process, on a file. */

import { onTestFinished } from 'vitest';
import type { Store } from '../../src/core/ports.ts';
import { openSqliteStoreHere } from '../../src/store/sqlite/here.ts';
import { openSqliteStore, type SqliteStore } from '../../src/store/sqlite/store.ts';
import type { Cleanup } from './service.ts';

const die = (error: Error) => {
  throw error;
};

/** As servers open it. */
export async function servedStore(path: string, cleanup: Cleanup = onTestFinished): Promise<SqliteStore> {
  const store = await openSqliteStore(path, die);
  cleanup(() => store.close());
  return store;
}

/** As commands open it: without threads, each of which would take 0.1 s of a processor (2026-11-17). */
export async function storeAt(path: string, cleanup: Cleanup = onTestFinished): Promise<Store> {
  const store = await openSqliteStoreHere(path);
  cleanup(() => store.close());
  return store;
}
