/** `restore`: takes over what a backup knows into the embedded store, in one step and while serving. */

import type { DatabaseSync } from 'node:sqlite';
import { type Act, FIRST_START, shortDetail } from '../../core/audit.ts';
import { KEPT_VERSIONS } from '../../core/history.ts';
import {
  addedAgain,
  type Change,
  checksAgain,
  listsAgain,
  operatorsAgain,
  otherLists,
  overridesAgain,
  type Restored,
  restoredInWords,
  type Written,
} from '../../core/restored.ts';
import { doubtsAbout, keysAgain, oneKeys } from '../../core/restored-keys.ts';
import { signingAgain } from '../../core/signing-key.ts';
import {
  KEY,
  OPERATOR,
  OVERRIDE,
  PAST_SNAPSHOT,
  SIGNING,
  SNAPSHOT,
  SNAPSHOT_HEAD,
  TABLES,
} from '../columns.ts';
import { ADDED_FEED, FEED_CHECK } from '../columns-of-lists.ts';
import { type Shape, type Table, upsert } from '../table.ts';
import { writeAct } from './audit.ts';
import { BEGIN_ANEW, begunAnew, find, found, MERGES, putFound, sameIn } from './restore-rows.ts';
import type { Revisions } from './revision.ts';
import type { Missing } from './schema.ts';
import { inTransaction } from './transaction.ts';

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

/** In the copy of the backup a key that is one with one of here, and all that is counted for it, get the id of here. */
function uniteKeys(db: DatabaseSync): void {
  // A row and what refers to it change one after the other.
  db.exec('PRAGMA defer_foreign_keys = ON');
  for (const [was, id] of oneKeys(...bothOf(db, KEY, KEY)))
    for (const [table, column] of [[KEY.name, 'id'], ...OF_KEYS.map(({ name }) => [name, 'key_id'])]) {
      db.prepare(`UPDATE OR IGNORE backup.${table} SET ${column} = ? WHERE ${column} = ?`).run(id, was);
      db.prepare(`DELETE FROM backup.${table} WHERE ${column} = ?`).run(was);
    }
}

const OF_LISTS = TABLES.filter(({ columns }) => columns.some(({ name }) => name === 'feed'));

/** From the copy of the backup all goes that is of other lists than those of here; what an operator should know of it. */
function leaveOthers(db: DatabaseSync): Change[] {
  return otherLists(...bothOf(db, ADDED_FEED, ADDED_FEED)).filter(({ subject }) => {
    const left = OF_LISTS.map(({ name }) =>
      Number(db.prepare(`DELETE FROM backup.${name} WHERE feed = ?`).run(subject).changes),
    );
    return left.some(count => count > 0);
  });
}

/** The rows of here, and those of the backup. */
function bothOf<R>(db: DatabaseSync, { name, key }: Table<object>, { names, sqlite }: Shape<R>) {
  const rows = (schema: string) =>
    db.prepare(`SELECT ${names} FROM ${schema}.${name} ORDER BY ${key}`).all().map(sqlite.record);
  return [rows('main'), rows('backup')] as const;
}

const BASIS = [
  ADDED_FEED,
  { ...SNAPSHOT_HEAD, name: SNAPSHOT.name },
  { ...SNAPSHOT_HEAD, name: PAST_SNAPSHOT.name },
];

/**
 * What a comparison rests on: while it stands, so does what was found of keys, overrides and lists. All else that was
 * found is looked at again under the lock. What was not found was here already, and what is removed by then stays removed.
 */
function basisOf(db: DatabaseSync, revision: number): string {
  const rows = BASIS.map(({ name, names }) => db.prepare(`SELECT ${names} FROM main.${name}`).all());
  return JSON.stringify([revision, rows]);
}

/** All that takes long: with 20,000 keys and 900,000 counts and flags 3 s (2026-11-19). */
function compared(db: DatabaseSync, missing: Missing, revision: number) {
  uniteKeys(db);
  keepUnknown(db, missing);
  const others = leaveOthers(db);
  db.exec(BEGIN_ANEW);
  for (const merge of MERGES) db.exec(find(merge));
  const keys = bothOf(db, KEY, KEY);
  const first = db
    .prepare("SELECT subject FROM main.audit WHERE action = 'key.create' AND via = ?")
    .all(FIRST_START)
    .map(({ subject }) => String(subject));
  return {
    basis: basisOf(db, revision),
    keys: keysAgain(...keys),
    overrides: overridesAgain(...bothOf(db, OVERRIDE, OVERRIDE)),
    warnings: [...doubtsAbout(...keys, new Set(first)), ...others],
  };
}

type Compared = ReturnType<typeof compared>;

/** With what is few, and written without a new revision. */
function decidedIn(db: DatabaseSync, { keys, overrides }: Compared) {
  const [present, old] = bothOf(db, SNAPSHOT, SNAPSHOT_HEAD);
  const [past] = bothOf(db, PAST_SNAPSHOT, SNAPSHOT_HEAD);
  const anew = new Set(begunAnew(db));
  const standing = [...present, ...past].filter(({ feed }) => !anew.has(feed));
  return {
    keys,
    overrides,
    operators: operatorsAgain(...bothOf(db, OPERATOR, OPERATOR)),
    added: addedAgain(...bothOf(db, ADDED_FEED, ADDED_FEED)),
    checks: checksAgain(...bothOf(db, FEED_CHECK, FEED_CHECK)),
    lists: listsAgain(standing, old),
    signing: signingAgain(...bothOf(db, SIGNING, SIGNING)),
  };
}

type Decided = ReturnType<typeof decidedIn>;

function restoredOf(db: DatabaseSync, decided: Decided, { warnings }: Compared): Restored {
  const written: Written<object>[] = Object.values(decided).flat();
  const counted = MERGES.map(merge => {
    const { n } = db.prepare(`SELECT count(*) AS n ${found(merge)}`).get()!;
    return [merge.name, Number(n)] as const;
  });
  return {
    changes: written.map(({ change }) => change),
    warnings,
    rows: Object.fromEntries(counted.filter(([, n]) => n > 0)),
  };
}

function write(db: DatabaseSync, { lists, ...decided }: Decided): void {
  const putAll = <R extends object>(table: Table<R>, written: readonly Written<R>[]) => {
    const statement = db.prepare(upsert(table as Table<object>, table.sqlite.places));
    for (const { record } of written) statement.run(...table.sqlite.values(record));
  };
  putAll(KEY, decided.keys);
  putAll(OVERRIDE, decided.overrides);
  putAll(OPERATOR, decided.operators);
  putAll(ADDED_FEED, decided.added);
  putAll(FEED_CHECK, decided.checks);
  putAll(SIGNING, decided.signing);
  for (const feed of begunAnew(db))
    for (const { name } of [SNAPSHOT, PAST_SNAPSHOT])
      db.prepare(`DELETE FROM main.${name} WHERE feed = ?`).run(feed);
  for (const merge of MERGES) db.exec(putFound(merge));
  for (const { record } of lists) putList(db, record.feed);
}

/** The version that was in use becomes one of the past; as many are kept as of any list. */
function putList(db: DatabaseSync, feed: string): void {
  const { names } = SNAPSHOT;
  const moved = `(${names}) SELECT ${names} FROM`;
  db.prepare(`INSERT OR REPLACE INTO main.past_snapshot ${moved} main.snapshot WHERE feed = ?`).run(feed);
  db.prepare(`INSERT OR REPLACE INTO main.snapshot ${moved} backup.snapshot WHERE feed = ?`).run(feed);
  db.prepare(
    `DELETE FROM main.past_snapshot WHERE feed = ?1 AND accepted_at NOT IN (
      SELECT accepted_at FROM main.past_snapshot WHERE feed = ?1 ORDER BY accepted_at DESC LIMIT ?2)`,
  ).run(feed, KEPT_VERSIONS - 1);
}

export type Restore = ReturnType<typeof createRestore>;

/** Both from a copy of the backup, brought up to date, which they may change. */
export function createRestore(db: DatabaseSync, { raise, revision }: Revisions) {
  function attached<T>(path: string, work: () => T): T {
    db.prepare('ATTACH ? AS backup').run(path);
    try {
      return work();
    } finally {
      db.exec('DETACH backup');
    }
  }

  /** What others write meanwhile it does not see, and only the copy is written to. */
  function unlocked<T>(work: () => T): T {
    db.exec('BEGIN');
    try {
      const result = work();
      db.exec('COMMIT');
      return result;
    } finally {
      if (db.isTransaction) db.exec('ROLLBACK');
    }
  }

  function put(there: Compared, act: Act): Restored {
    const decided = decidedIn(db, there);
    const restored = restoredOf(db, decided, there);
    write(db, decided);
    for (const change of [...restored.changes, ...restored.warnings]) writeAct(db, { ...act, ...change });
    writeAct(db, { ...act, detail: shortDetail(restoredInWords(restored)) });
    raise();
    return restored;
  }

  return {
    /** Only reads: nobody who counts has to wait for it. */
    compareBackup: (path: string, missing: Missing): Restored =>
      attached(path, () =>
        unlocked(() => {
          const there = compared(db, missing, revision());
          return restoredOf(db, decidedIn(db, there), there);
        }),
      ),

    /**
     * Compares while others count, and takes the lock only to write what differs: they got 500 for seconds though there was
     * nothing to write (2026-11-19). Undefined where what it rests on has changed meanwhile: to be tried again, of a new copy.
     */
    restore: (path: string, missing: Missing, act: Act): Restored | undefined =>
      attached(path, () => {
        const there = unlocked(() => compared(db, missing, revision()));
        return inTransaction(db, () =>
          basisOf(db, revision()) === there.basis ? put(there, act) : undefined,
        );
      }),

    /** For one whose keys or lists change all the time: nobody else writes from the first look on. */
    restoreLocked: (path: string, missing: Missing, act: Act): Restored =>
      attached(path, () => inTransaction(db, () => put(compared(db, missing, revision()), act))),
  };
}
