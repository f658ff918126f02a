/** Stores as earlier versions left them. */

import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { APPLICATION_ID, MIGRATIONS } from '../../src/store/sqlite/schema.ts';
import { temporaryFolder } from './service.ts';

/** The path of one with one key, whose form is that of `version` without the columns that came later. */
export function olderStore(version = MIGRATIONS.length): string {
  const path = join(temporaryFolder(), 'domain-risk.db');
  const db = new DatabaseSync(path);
  db.exec('PRAGMA journal_mode = WAL');
  for (const step of MIGRATIONS.slice(0, version)) db.exec(step);
  db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${version}`);
  db.exec(`INSERT INTO key (id, name, digest, prefix, last4, origins, networks, created_at)
    VALUES ('k1', 'Shop', 'd', 'drk_abcd', 'wxyz', '[]', '[]', 1)`);
  db.close();
  return path;
}
