/** Servers take turns (advisory locks) at work that nobody waits for: no deadlock, and nothing twice at a time. */

import type { PostgresRow } from '../table.ts';
import type { Session } from './session.ts';

export const TURN = { flags: 1, hosts: 2, snapshots: 3, changes: 4, decisions: 5, verdicts: 6 } as const;

/** Rows written in one statement. */
export const CHUNK = 1_000;

/** Reads in as much time as it is waited for: the server ends a statement after 1 s otherwise, which is that of a call. */
export async function readIn(
  session: Session,
  ms: number,
  text: string,
  values: unknown[] = [],
): Promise<readonly PostgresRow[]> {
  await session.query(`BEGIN; SET LOCAL statement_timeout = ${ms}`);
  const { rows } = await session.query(text, values);
  await session.query('COMMIT');
  return rows;
}

export async function inTurn<T>(session: Session, turn: number, work: () => Promise<T>): Promise<T> {
  await session.query(`BEGIN; SET LOCAL statement_timeout = '30s'; SET LOCAL lock_timeout = '30s'`);
  await session.query('SELECT pg_advisory_xact_lock(hashtext($1), $2)', ['domain-risk', turn]);
  const result = await work();
  await session.query('COMMIT');
  return result;
}
