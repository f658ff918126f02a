/** `restore`: takes over everything of a backup into the embedded store, in one step and while serving. */

import type { DatabaseSync } from 'node:sqlite';
import type { Act } from '../../core/audit.ts';
import { FLAG, GUEST, OVERRIDE, TABLES, USAGE, USAGE_DAY } from '../columns.ts';
import type { Table } from '../table.ts';
import { RESTORE_AUDIT } from './audit.ts';
import { RESTORE_HOSTS } from './hosts.ts';
import { RESTORE_KEYS } from './keys.ts';
import type { Revisions } from './revision.ts';
import type { Missing } from './schema.ts';
import { RESTORE_SIGNING } from './signing.ts';
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
  ...[RESTORE_SNAPSHOTS, RESTORE_AUDIT, RESTORE_SIGNING],
];

/** What the backup could not know stays as it is: written into the copy of it first, so that it goes back too. */
const keptOf = ({ name, key }: Table<object>, columns: readonly string[]) => `
  UPDATE backup.${name} SET (${columns}) = (
    SELECT ${columns} FROM main.${name} AS present WHERE (${ofEach(key, 'present')}) = (${ofEach(key, name)}));`;

const ofEach = (key: string, table: string) =>
  key
    .split(', ')
    .map(column => `${table}.${column}`)
    .join(', ');

function statements(missing: Missing): string {
  const kept = TABLES.flatMap(table => {
    const columns = missing.get(table.name);
    return columns ? [keptOf(table, columns)] : [];
  });
  // A backup from before hosts were learned knows nothing of them.
  const knowsHosts = !missing.get(GUEST.name)?.includes('host');
  return [...kept, ...RESTORE, ...(knowsHosts ? [RESTORE_HOSTS] : [])].join('\n');
}

export type Restore = ReturnType<typeof createRestore>;

export function createRestore(db: DatabaseSync, { change }: Revisions) {
  return {
    /** From a copy of the backup, brought up to date, which it may change. */
    restore(path: string, missing: Missing, act: Act): void {
      db.prepare('ATTACH ? AS backup').run(path);
      try {
        change(act, () => {
          db.exec(statements(missing));
          return true;
        });
      } finally {
        db.exec('DETACH backup');
      }
    },
  };
}
