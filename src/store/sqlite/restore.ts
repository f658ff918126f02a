/** `restore`: takes over what a backup knows into the embedded store, in one step and while serving. */

import type { DatabaseSync } from 'node:sqlite';
import { type Act, shortDetail } from '../../core/audit.ts';
import {
  addedAgain,
  keysAgain,
  listsAgain,
  operatorsAgain,
  overridesAgain,
  type Restored,
  restoredInWords,
  type Written,
} from '../../core/restored.ts';
import {
  ACT,
  AUDIT,
  FLAG,
  GUEST,
  HOST,
  KEY,
  OPERATOR,
  OVERRIDE,
  SIGNING,
  SNAPSHOT,
  SNAPSHOT_HEAD,
  SWEEP,
  TABLES,
  USAGE,
  USAGE_DAY,
} from '../columns.ts';
import { ADDED_FEED } from '../columns-of-lists.ts';
import { replaced, type Shape, type Table, upsert } from '../table.ts';
import { writeAct } from './audit.ts';
import type { Revisions } from './revision.ts';
import type { Missing } from './schema.ts';
import { inTransaction } from './transaction.ts';

/** Rows that nobody decided about: what only the backup knows of them. */
interface Merge {
  readonly name: string;
  /** `FROM backup.… AS old WHERE …` */
  readonly from: string;
  readonly into: string;
}

const ofEach = (key: string, table: string) =>
  key
    .split(', ')
    .map(column => `${table}.${column}`)
    .join(', ');

const sameIn = ({ key }: Table<object>, table = 'old') =>
  `(${ofEach(key, 'present')}) = (${ofEach(key, table)})`;

/** A count is never lowered. */
const countsOf = (table: Table<object>): Merge => ({
  name: table.name,
  from: `FROM backup.${table.name} AS old WHERE old.used >
    coalesce((SELECT used FROM main.${table.name} AS present WHERE ${sameIn(table)}), 0)`,
  into: `INSERT INTO main.${table.name} (${table.names}) SELECT ${table.names}`,
});

const missingOf = (
  { name, names }: Pick<Table<object>, 'name' | 'names'>,
  same: string,
  more = '',
): Merge => ({
  name,
  from: `FROM backup.${name} AS old WHERE NOT EXISTS (SELECT 1 FROM main.${name} AS present WHERE ${same}) ${more}`,
  into: `INSERT INTO main.${name} (${names}) SELECT ${names}`,
});

const SAME_ACT = 'present.at = old.at AND present.action = old.action AND present.subject = old.subject';
/** The triggers count a host's guests anew. */
const UNCOUNTED = { name: HOST.name, names: 'name, last_day, shared_day, forgotten_at' };
const IS_DECIDED = 'AND (old.shared_day IS NOT NULL OR old.forgotten_at IS NOT NULL)';
const IS_TAKEN_OUT =
  'SELECT 1 FROM main.host AS present WHERE present.name = old.host AND present.forgotten_at IS NOT NULL';

/** In an order in which every row finds what it refers to. */
const MERGES: readonly Merge[] = [
  ...[USAGE, USAGE_DAY].map(countsOf),
  missingOf(FLAG, sameIn(FLAG)),
  missingOf(UNCOUNTED, sameIn(HOST), IS_DECIDED),
  missingOf(GUEST, sameIn(GUEST), `AND NOT EXISTS (${IS_TAKEN_OUT})`),
  missingOf(SWEEP, sameIn(SWEEP)),
  // The one in use stays, since clients know its other half.
  missingOf(SIGNING, sameIn(SIGNING)),
  missingOf({ name: AUDIT.name, names: ACT.names }, SAME_ACT, 'ORDER BY old.id'),
];

const isCount = ({ name }: Merge) => name === USAGE.name || name === USAGE_DAY.name;
const put = (merge: Merge) =>
  `${merge.into} ${merge.from} ${isCount(merge) ? `ON CONFLICT DO UPDATE SET ${replaced(USED)}` : ''}`;
const USED = { columns: USAGE.columns.filter(({ name }) => name === 'used') };

/** What the backup could not know stays as it is: written into the copy of it first, so that it goes back too. */
function keepUnknown(db: DatabaseSync, missing: Missing): void {
  for (const table of TABLES) {
    const columns = missing.get(table.name);
    if (!columns) continue;
    db.exec(`UPDATE backup.${table.name} SET (${columns}) = (
      SELECT ${columns} FROM main.${table.name} AS present WHERE ${sameIn(table, table.name)})`);
  }
}

const OF_KEYS = TABLES.filter(({ columns }) => columns.some(({ name }) => name === 'key_id'));

/**
 * After a disaster a new store begins with the first key that the settings name: the same secret, under another id. In the
 * copy of the backup the key and all that is counted for it get the present id, and then it is one key.
 */
function uniteKeys(db: DatabaseSync): void {
  const same = db
    .prepare(
      `SELECT old.id AS was, min(present.id) AS id FROM backup.key AS old JOIN main.key AS present ON
        old.digest IN (present.digest, present.previous_digest)
        OR old.previous_digest IN (present.digest, present.previous_digest)
      WHERE old.id NOT IN (SELECT id FROM main.key) GROUP BY old.id`,
    )
    .all();
  // A row and what refers to it change one after the other.
  db.exec('PRAGMA defer_foreign_keys = ON');
  for (const { was, id } of same)
    for (const [table, column] of [[KEY.name, 'id'], ...OF_KEYS.map(({ name }) => [name, 'key_id'])]) {
      db.prepare(`UPDATE OR IGNORE backup.${table} SET ${column} = ? WHERE ${column} = ?`).run(id!, was!);
      db.prepare(`DELETE FROM backup.${table} WHERE ${column} = ?`).run(was!);
    }
}

function decidedIn(db: DatabaseSync) {
  const bothOf = <R>({ name, key }: Table<object>, { names, sqlite }: Shape<R>) => {
    const rows = (schema: string) =>
      db.prepare(`SELECT ${names} FROM ${schema}.${name} ORDER BY ${key}`).all().map(sqlite.record);
    return [rows('main'), rows('backup')] as const;
  };
  return {
    keys: keysAgain(...bothOf(KEY, KEY)),
    overrides: overridesAgain(...bothOf(OVERRIDE, OVERRIDE)),
    operators: operatorsAgain(...bothOf(OPERATOR, OPERATOR)),
    added: addedAgain(...bothOf(ADDED_FEED, ADDED_FEED)),
    lists: listsAgain(...bothOf(SNAPSHOT, SNAPSHOT_HEAD)),
  };
}

type Decided = ReturnType<typeof decidedIn>;

function restoredOf(db: DatabaseSync, decided: Decided): Restored {
  const written: Written<object>[] = Object.values(decided).flat();
  const counted = MERGES.map(({ name, from }) => {
    const { n } = db.prepare(`SELECT count(*) AS n ${from}`).get()!;
    return [name, Number(n)] as const;
  });
  return {
    changes: written.map(({ change }) => change),
    rows: Object.fromEntries(counted.filter(([, n]) => n > 0)),
  };
}

function write(db: DatabaseSync, { keys, overrides, operators, added, lists }: Decided): void {
  const putAll = <R extends object>(table: Table<R>, written: readonly Written<R>[]) => {
    const statement = db.prepare(upsert(table as Table<object>, table.sqlite.places));
    for (const { record } of written) statement.run(...table.sqlite.values(record));
  };
  putAll(KEY, keys);
  putAll(OVERRIDE, overrides);
  putAll(OPERATOR, operators);
  putAll(ADDED_FEED, added);
  const putList = db.prepare(
    `INSERT OR REPLACE INTO main.snapshot (${SNAPSHOT.names})
      SELECT ${SNAPSHOT.names} FROM backup.snapshot WHERE feed = ?`,
  );
  for (const { record } of lists) putList.run(record.feed);
  for (const merge of MERGES) db.exec(put(merge));
}

export type Restore = ReturnType<typeof createRestore>;

/** Both from a copy of the backup, brought up to date, which they may change. */
export function createRestore(db: DatabaseSync, { raise }: Revisions) {
  function attached<T>(path: string, work: () => T): T {
    db.prepare('ATTACH ? AS backup').run(path);
    try {
      return work();
    } finally {
      db.exec('DETACH backup');
    }
  }

  return {
    /** Only reads: nobody who counts has to wait for it. */
    compareBackup: (path: string, missing: Missing): Restored =>
      attached(path, () => {
        db.exec('BEGIN');
        try {
          uniteKeys(db);
          keepUnknown(db, missing);
          return restoredOf(db, decidedIn(db));
        } finally {
          db.exec('ROLLBACK');
        }
      }),

    restore: (path: string, missing: Missing, act: Act): Restored =>
      attached(path, () =>
        inTransaction(db, () => {
          uniteKeys(db);
          keepUnknown(db, missing);
          const decided = decidedIn(db);
          const restored = restoredOf(db, decided);
          write(db, decided);
          for (const change of restored.changes) writeAct(db, { ...act, ...change });
          writeAct(db, { ...act, detail: shortDetail(restoredInWords(restored)) });
          raise();
          return restored;
        }),
      ),
  };
}
