/** A store for many tests of a file, emptied before each: opening one takes longer than most of them. */

import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll } from 'vitest';
import type { Store } from '../../src/core/ports.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { temporaryFolder } from './service.ts';

/** Three servers on one store that has nothing in it. */
export type Servers = () => Promise<readonly [Store, Store, Store]>;

/** Call it at the top of a file, and what it gives inside tests. */
export function emptiedStore(): () => Promise<Store> {
  const emptied = emptiedFile();
  return async () => (await emptied()).store;
}

/** With where it is, and with what opens it once more: closed with the first one, at the end of the file of tests. */
export function emptiedFile(): () => Promise<{ path: string; store: Store; open: () => Promise<Store> }> {
  const ends: (() => void | Promise<void>)[] = [];
  afterAll(async () => {
    for (const end of ends.reverse()) await end();
  });
  let path = '';
  let store: Store | undefined;
  const open = async () => {
    const opened = await openSqliteStore(path, error => {
      throw error;
    });
    ends.push(() => opened.close());
    return opened;
  };
  return async () => {
    if (!store) {
      path = join(
        temporaryFolder(end => void ends.push(end)),
        'domain-risk.db',
      );
      store = await open();
      return { path, store, open };
    }
    const db = new DatabaseSync(path, { timeout: 5_000, enableForeignKeyConstraints: false });
    const tables = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
    db.exec('BEGIN IMMEDIATE');
    for (const { name } of tables) db.exec(`DELETE FROM ${name}`);
    db.exec('INSERT INTO revision VALUES (1, 1); COMMIT');
    db.close();
    return { path, store, open };
  };
}

export function emptiedServers(): Servers {
  const emptied = emptiedFile();
  let others: readonly [Store, Store] | undefined;
  return async () => {
    const { store, open } = await emptied();
    others ??= [await open(), await open()];
    return [store, ...others];
  };
}
