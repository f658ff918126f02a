/** `restore`: takes over everything of a backup into the embedded store, in one step and while serving. */

import type { DatabaseSync } from 'node:sqlite';
import type { Act } from '../../core/audit.ts';
import { FLAG, OVERRIDE, USAGE, USAGE_DAY } from '../columns.ts';
import type { Table } from '../table.ts';
import { RESTORE_AUDIT } from './audit.ts';
import { RESTORE_HOSTS } from './hosts.ts';
import { RESTORE_KEYS } from './keys.ts';
import type { Revisions } from './revision.ts';
import { RESTORE_SNAPSHOTS } from './snapshots.ts';

/** A count is never lowered. */
const countsOf = ({ name, names }: Table<object>) => `
  INSERT INTO ${name} (${names}) SELECT ${names} FROM backup.${name} WHERE true
    ON CONFLICT DO UPDATE SET used = max(used, excluded.used);`;

/** As the backup has it. */
const allOf = ({ name, names }: Table<object>) => `
  DELETE FROM ${name};
  INSERT INTO ${name} (${names}) SELECT ${names} FROM backup.${name};`;

const RESTORE = [
  RESTORE_KEYS,
  ...[USAGE, USAGE_DAY].map(countsOf),
  ...[OVERRIDE, FLAG].map(allOf),
  ...[RESTORE_HOSTS, RESTORE_SNAPSHOTS, RESTORE_AUDIT],
].join('\n');

export type Restore = ReturnType<typeof createRestore>;

export function createRestore(db: DatabaseSync, { change }: Revisions) {
  return {
    restore(path: string, act: Act): void {
      db.prepare('ATTACH ? AS backup').run(path);
      try {
        change(act, () => {
          db.exec(RESTORE);
          return true;
        });
      } finally {
        db.exec('DETACH backup');
      }
    },
  };
}
