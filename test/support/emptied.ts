/** A store for many tests of a file, emptied before each: opening one takes longer than most of them. */

import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll } from 'vitest';
import type { Store } from '../../src/core/ports.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { temporaryFolder } from './service.ts';

/** Call it at the top of a file, and what it gives inside tests. */
export function emptiedStore(): () => Promise<Store> {
  const ends: (() => void | Promise<void>)[] = [];
  afterAll(async () => {
    for (const end of ends.reverse()) await end();
  });
  let path = '';
  let store: Store | undefined;
  return async () => {
    if (!store) {
      path = join(
        temporaryFolder(end => void ends.push(end)),
        'domain-risk.db',
      );
      store = await openSqliteStore(path, error => {
        throw error;
      });
      ends.push(() => store!.close());
    }
    const db = new DatabaseSync(path, { timeout: 5_000, enableForeignKeyConstraints: false });
    const tables = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
    for (const { name } of tables) db.exec(`DELETE FROM ${name}`);
    db.exec('INSERT INTO revision VALUES (1, 1)');
    db.close();
    return store;
  };
}
