/** What updates changed for callers, in the shared store. */

import { CHANGES_LEASE, type ChangesMark, type NumberedChange } from '../../core/listing-change.ts';
import { CHANGES_MARK, LISTING_CHANGE, MARK } from '../columns-of-lists.ts';
import { replaced, upsert } from '../table.ts';
import { BACKGROUND_MS, type Connections } from './connect.ts';
import type { Session } from './session.ts';
import { inTurn, TURN } from './turn.ts';

const { names, postgres } = LISTING_CHANGE;

/** As JSON, since a column of lists is none of PostgreSQL's arrays. One by one 190,000 took two minutes (2026-11-17). */
const GIVEN = LISTING_CHANGE.columns.map(({ name, types }) => `${name} ${types.postgres}`).join(', ');
const PUT = `INSERT INTO listing_change (${names}) SELECT ${names} FROM jsonb_to_recordset($1) AS given (${GIVEN})
  ON CONFLICT (${LISTING_CHANGE.key}) DO UPDATE SET ${replaced(LISTING_CHANGE, LISTING_CHANGE.key)}`;

const BEFORE = `SELECT max(id) AS id FROM listing_change
  WHERE id < coalesce((SELECT min(id) FROM listing_change WHERE at >= $1), ${Number.MAX_SAFE_INTEGER})`;

async function read(session: Session): Promise<ChangesMark | undefined> {
  const { rows } = await session.query(`SELECT ${MARK.names} FROM changes_mark`);
  return rows.map(MARK.postgres.record)[0];
}

async function isHeldBy(session: Session, holder: string): Promise<boolean> {
  const { rows } = await session.query('SELECT holder FROM lease WHERE name = $1', [CHANGES_LEASE]);
  return rows[0]?.holder === holder;
}

export function createChanges({ run }: Connections) {
  const change = <T>(work: (session: Session) => Promise<T>) =>
    run(session => inTurn(session, TURN.changes, () => work(session)), BACKGROUND_MS);
  return {
    changesMark: () => run(read),
    writeChanges: (changes: readonly NumberedChange[], generation: string, holder: string) =>
      change(async session => {
        if (((await read(session))?.generation ?? '') !== generation) return false;
        if (!(await isHeldBy(session, holder))) return false;
        await session.query(PUT, [JSON.stringify(changes)]);
        return true;
      }),
    swapChangesMark: (mark: ChangesMark, was: ChangesMark | undefined, holder?: string) =>
      change(async session => {
        const now = await read(session);
        if (now?.generation !== was?.generation || now?.last !== was?.last) return false;
        if (holder !== undefined && !(await isHeldBy(session, holder))) return false;
        const { places, values } = CHANGES_MARK.postgres;
        await session.query(upsert(CHANGES_MARK, places()), values({ id: 1, ...mark }));
        await session.query('DELETE FROM listing_change WHERE id < $1', [mark.floor]);
        return true;
      }),
    changesAfter: (id: number, most: number) =>
      run(async (session): Promise<NumberedChange[]> => {
        const { rows } = await session.query(
          `SELECT ${names} FROM listing_change WHERE id > $1 ORDER BY id LIMIT $2`,
          [id, most],
        );
        return rows.map(postgres.record);
      }),
    changesBefore: (at: number) =>
      run(async session => {
        const { rows } = await session.query(BEFORE, [at]);
        return Number(rows[0]?.id ?? 0);
      }),
  };
}
