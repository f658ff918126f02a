/** What `restore` takes over of which nobody decided: counts, flags, what was learned, versions of lists, statistics. */

import type { DatabaseSync } from 'node:sqlite';
import { KEPT_VERSIONS } from '../../core/history.ts';
import {
  ACT,
  AUDIT,
  EVENT,
  GUEST,
  HOST,
  PAST_SNAPSHOT,
  SIGNING,
  SWEEP,
  TRAFFIC,
  USAGE,
  USAGE_DAY,
  VERDICT_DAY,
} from '../columns.ts';
import { FLAG } from '../columns-of-flags.ts';
import { WHEREABOUT } from '../columns-of-hosts.ts';
import { ASKED, CHANGES_MARK, FEED_CHECK, LISTING_CHANGE } from '../columns-of-lists.ts';
import { replaced, type Table } from '../table.ts';

/** Rows that nobody decided about: what only the backup knows of them. */
export interface Merge {
  readonly name: string;
  /** Of a row of the backup, `old`. */
  readonly where: string;
  readonly into: string;
}

const ofEach = (key: string, table: string) =>
  key
    .split(', ')
    .map(column => `${table}.${column}`)
    .join(', ');

export const sameIn = ({ key }: Table<object>, table = 'old') =>
  `(${ofEach(key, 'present')}) = (${ofEach(key, table)})`;

/** A count is never lowered. */
const countsOf = (table: Table<object>): Merge => ({
  name: table.name,
  where: `old.used >
    coalesce((SELECT used FROM main.${table.name} AS present WHERE ${sameIn(table)}), 0)`,
  into: `INSERT INTO main.${table.name} (${table.names}) SELECT ${table.names}`,
});

const missingOf = (
  { name, names }: Pick<Table<object>, 'name' | 'names'>,
  same: string,
  more = '',
): Merge => ({
  name,
  where: `NOT EXISTS (SELECT 1 FROM main.${name} AS present WHERE ${same}) ${more}`,
  into: `INSERT INTO main.${name} (${names}) SELECT ${names}`,
});

const SAME_ACT = 'present.at = old.at AND present.action = old.action AND present.subject = old.subject';
/** The triggers count a host's guests anew. */
const UNCOUNTED = { name: HOST.name, names: 'name, last_day, shared_day, forgotten_at' };
const IS_DECIDED = 'AND (old.shared_day IS NOT NULL OR old.forgotten_at IS NOT NULL)';
const IS_TAKEN_OUT =
  'SELECT 1 FROM main.host AS present WHERE present.name = old.host AND present.forgotten_at IS NOT NULL';

/** Flags of several keys that either store has gathered into one: each of them would count twice. */
const IS_UNGATHERED = `AND NOT EXISTS (SELECT 1 FROM main.flag AS same
  WHERE same.domain = old.domain AND same.day = old.day AND (same.times > 0 OR old.times > 0))`;

const versionsOf = (schema: 'main' | 'backup') =>
  `(SELECT feed, accepted_at FROM ${schema}.snapshot UNION ALL SELECT feed, accepted_at FROM ${schema}.past_snapshot)`;

/**
 * Lists that began anew in a store which never had the versions of the backup, as on a new machine half a minute after
 * its start: what is here makes way for these, and the next update brings it again. Else names of months were new, and 95
 * was 60 (2026-11-18). Kept in the copy of the backup: who only compares writes nothing here.
 */
export const BEGIN_ANEW = `CREATE TABLE backup.begun_anew AS SELECT here.feed FROM ${versionsOf('main')} AS here
  WHERE NOT EXISTS (SELECT 1 FROM main.audit WHERE subject = here.feed AND action IN ('feed.rollback', 'feed.remove'))
  GROUP BY here.feed HAVING count(*) < ${KEPT_VERSIONS} AND min(here.accepted_at) >
    (SELECT max(old.accepted_at) FROM ${versionsOf('backup')} AS old WHERE old.feed = here.feed)`;

export const begunAnew = (db: DatabaseSync): string[] =>
  db
    .prepare('SELECT feed FROM backup.begun_anew')
    .all()
    .map(({ feed }) => String(feed));

const NEWEST_HERE = `(SELECT max(accepted_at) FROM ${versionsOf('main')} AS present
  WHERE present.feed = old.feed AND present.feed NOT IN (SELECT feed FROM backup.begun_anew))`;
const USED_THERE = '(SELECT accepted_at FROM backup.snapshot AS used WHERE used.feed = old.feed)';

/** With a list its other versions, and with these that an operator went back from one of them: `listsAgain` says when. */
const VERSIONS: Merge = {
  name: PAST_SNAPSHOT.name,
  where: `coalesce(${USED_THERE} > ${NEWEST_HERE}, ${NEWEST_HERE} IS NULL)`,
  into: `INSERT OR IGNORE INTO main.past_snapshot (${PAST_SNAPSHOT.names}) SELECT ${PAST_SNAPSHOT.names}`,
};

/** Their numbers are those that callers follow by: only where none was given yet. */
const IS_UNNUMBERED = 'coalesce((SELECT last FROM main.changes_mark), 0) = 0';
const CHANGES: readonly Merge[] = [LISTING_CHANGE, CHANGES_MARK].map(({ name, names }) => ({
  name,
  where: `${IS_UNNUMBERED} AND (SELECT last FROM backup.changes_mark) > 0`,
  into: `INSERT OR REPLACE INTO main.${name} (${names}) SELECT ${names}`,
}));

/** Before those that are here, by their numbers too: by these the first ones go. */
const ACTS: Merge = {
  ...missingOf({ name: AUDIT.name, names: ACT.names }, SAME_ACT),
  into: `INSERT INTO main.audit (id, ${ACT.names}) SELECT
    (SELECT coalesce(min(id), 1) FROM main.audit) - row_number() OVER (ORDER BY old.id DESC), ${ACT.names}`,
};

/** Decided ones come with `checksAgain`. */
const CHECKED = {
  name: FEED_CHECK.name,
  names: FEED_CHECK.columns
    .map(({ name }) => name)
    .filter(name => name !== 'tag')
    .join(', '),
};

/** In an order in which every row finds what it refers to. Decisions are those of the running store. */
export const MERGES: readonly Merge[] = [
  VERSIONS,
  ...[USAGE, USAGE_DAY].map(countsOf),
  missingOf(FLAG, sameIn(FLAG), IS_UNGATHERED),
  missingOf(UNCOUNTED, sameIn(HOST), IS_DECIDED),
  missingOf(GUEST, sameIn(GUEST), `AND NOT EXISTS (${IS_TAKEN_OUT})`),
  missingOf(SWEEP, sameIn(SWEEP)),
  missingOf(WHEREABOUT, sameIn(WHEREABOUT)),
  // Where there is another: `signingAgain`.
  missingOf(SIGNING, sameIn(SIGNING)),
  ...CHANGES,
  missingOf(CHECKED, sameIn(FEED_CHECK), 'AND old.approved IS NULL AND old.rejected IS NULL'),
  ...[TRAFFIC, VERDICT_DAY, ASKED, EVENT].map(table => missingOf(table, sameIn(table as Table<object>))),
  ACTS,
];

/** The rows of the copy that bring something, set apart in it: what is here already takes seconds to look through. */
export const find = ({ name, where }: Merge) =>
  `CREATE TABLE backup.found_${name} AS SELECT * FROM backup.${name} AS old WHERE ${where}`;

/** Of these, as what is here may have changed since. */
export const found = ({ name, where }: Merge) => `FROM backup.found_${name} AS old WHERE ${where}`;

const isCount = ({ name }: Merge) => name === USAGE.name || name === USAGE_DAY.name;
export const putFound = (merge: Merge) =>
  `${merge.into} ${found(merge)} ${isCount(merge) ? `ON CONFLICT DO UPDATE SET ${replaced(USED)}` : ''}`;
const USED = { columns: USAGE.columns.filter(({ name }) => name === 'used') };
