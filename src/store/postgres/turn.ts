/** Servers take turns at work that nobody waits for: so they can neither deadlock nor do it twice at a time. */

import type { ClientBase } from 'pg';

export const TURN = { flags: 1, hosts: 2, snapshots: 3 } as const;

/** Rows written in one statement. */
export const CHUNK = 1_000;

export async function inTurn<T>(client: ClientBase, turn: number, work: () => Promise<T>): Promise<T> {
  await client.query(`BEGIN; SET LOCAL statement_timeout = '30s'; SET LOCAL lock_timeout = '30s'`);
  await client.query('SELECT pg_advisory_xact_lock(hashtext($1), $2)', ['domain-risk', turn]);
  const result = await work();
  await client.query('COMMIT');
  return result;
}
