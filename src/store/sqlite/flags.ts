/** Verdicts that were given, and the ranking made of them, in the embedded store. */

import type { DatabaseSync } from 'node:sqlite';
import { dayOfWindow, forgottenDays } from '../../core/forgetting.ts';
import { type Flag, MOST_FLAGS } from '../../core/ranking.ts';
import { GIVEN_FLAG, RANKED } from '../columns-of-flags.ts';
import { BY_SEVERAL, CUSTOMER_ENDS, gatheredBefore, gathering, IS_NO_URL, TIMES } from '../flags.ts';
import { toLines } from '../lines.ts';
import { rowsToRemove } from '../prune.ts';
import { upsert } from '../table.ts';
import { CHUNK, inChunk, inChunks, removeInChunks } from './transaction.ts';

export type Flags = ReturnType<typeof createFlags>;

export function createFlags(db: DatabaseSync) {
  const { values } = GIVEN_FLAG.sqlite;
  const putFlag = db.prepare(upsert(GIVEN_FLAG, PLACES));

  return {
    flag(flags: readonly Flag[]): void {
      inChunks(db, flags, flag => void putFlag.run(...values(flag)));
    },
    /** What is out of the window, then what is too many. Whether some may be left. */
    forgetFlags(sinceDay: string): boolean {
      const day = dayOfWindow(sinceDay);
      const gone = forgottenDays(day, sinceDay, db.prepare(LAST_DAY).get(day)?.day);
      if (FORGET.some(statement => removeInChunks(db, statement, gone))) return true;
      removeExcess(db, sinceDay);
      return false;
    },
    // With a single max(), SQLite takes the other columns from that row: the latest day's verdict.
    ranking(sinceDay: string, most: number, reason: string | undefined): string {
      const rows = db
        .prepare(`
          SELECT domain, ${TIMES} AS times, sum(listed) > 0 AS listed, reason, score, max(day) AS last_day FROM flag WHERE day >= ?1
          GROUP BY domain
          HAVING (sum(listed) > 0 OR ${BY_SEVERAL}) AND (?3 IS NULL OR reason = ?3)
          ORDER BY times DESC, score DESC, domain LIMIT ?2`)
        .all(sinceDay, most, reason ?? null);
      return toLines(rows.map(RANKED.sqlite.record));
    },
  };
}

/** Of a customer in place of its key. No key has such an id. */
const customerOf = (id: string) => `coalesce((
  SELECT 'customer ' || lower(substr(name, 1, instr(name, '${CUSTOMER_ENDS}') - 1))
  FROM key WHERE id = ${id} AND instr(name, '${CUSTOMER_ENDS}') > 1 AND ${IS_NO_URL}), ${id})`;
const PLACES = GIVEN_FLAG.columns
  .map(({ name }, at) => (name === 'key_id' ? customerOf(`?${at + 1}`) : `?${at + 1}`))
  .join(', ');

/** On the last day before `day` there were calls, or names that were flagged. */
const LAST_DAY = `
  SELECT max(day) AS day FROM (
    SELECT max(day) AS day FROM flag WHERE day < ?1 UNION ALL SELECT max(day) FROM usage_day WHERE day < ?1
  )`;

const FORGET = [
  'DELETE FROM flag WHERE (domain, day, key_id) IN (SELECT domain, day, key_id FROM flag WHERE day < ? LIMIT ?)',
  'DELETE FROM usage_day WHERE (key_id, day) IN (SELECT key_id, day FROM usage_day WHERE day < ? LIMIT ?)',
];

function removeExcess(db: DatabaseSync, sinceDay: string): void {
  const present = Number(db.prepare('SELECT count(*) AS n FROM flag').get()?.n);
  const excess = rowsToRemove(present, MOST_FLAGS);
  if (excess > 0) removeLeastCounted(db, excess - gather(db, sinceDay, excess));
}

/** Makes one row of several of a name and day, which loses nothing; how many fewer there are. */
function gather(db: DatabaseSync, sinceDay: string, rows: number): number {
  const found = db.prepare(`${gathering('?')} LIMIT ?`).all(gatheredBefore(sinceDay), rows);
  const add = db.prepare(`
    UPDATE flag SET times = coalesce(flag.times, 1) + coalesce(gone.times, 1), listed = max(flag.listed, gone.listed)
    FROM flag AS gone
    WHERE (flag.domain, flag.day, flag.key_id) = (?1, ?2, ?4) AND (gone.domain, gone.day, gone.key_id) = (?1, ?2, ?3)`);
  const remove = db.prepare('DELETE FROM flag WHERE domain = ? AND day = ? AND key_id = ?');
  inChunks(db, found, row => {
    const gone = [String(row.domain), String(row.day), String(row.key_id)] as const;
    if (add.run(...gone, String(row.kept)).changes > 0) remove.run(...gone);
  });
  return found.length;
}

/** Names that are not shown first: they are what a flood of made-up names brings. */
function removeLeastCounted(db: DatabaseSync, rows: number): void {
  if (rows <= 0) return;
  const least = db
    .prepare(
      `SELECT domain FROM flag GROUP BY domain
      ORDER BY max(listed) OR ${BY_SEVERAL}, ${TIMES}, max(listed), max(day), domain LIMIT ?`,
    )
    .all(rows);
  const remove = db.prepare(
    'DELETE FROM flag WHERE (domain, day, key_id) IN (SELECT domain, day, key_id FROM flag WHERE domain = ? ORDER BY day LIMIT ?)',
  );
  let removed = 0;
  for (let i = 0; removed < rows && i < least.length; ) {
    inChunk(db, () => {
      const until = Math.min(rows, removed + CHUNK);
      while (removed < until && i < least.length) {
        const changes = Number(remove.run(String(least[i]!.domain), until - removed).changes);
        removed += changes;
        if (removed < until) i++;
      }
    });
  }
}
