/** Counts the calls of a key whose row somebody holds apart from all others, who never wait for that twice. */

import type { Store } from '../../core/ports.ts';
import { Batcher } from '../batch.ts';
import type { SpendGroup, SpendResult } from '../spend-group.ts';
import { type Connections, DEADLINE_MS } from './connect.ts';
import { LOCKED, type Session, sqlStateOf } from './session.ts';
import { count } from './spender.ts';

/**
 * Batches under way at a time. For speed one would do (measured alike, November 2026); with two, a batch that waits for
 * a lock or for a server that has vanished does not hold up all other keys.
 */
export const COMMITS_AT_ONCE = 2;
/** What servers hold they hold for a few milliseconds. A row that is held for longer keeps its own key waiting from then on. */
export const SHORT_LOCK_MS = 250;
/** Of what a call has left. A statement that is given up while it waits for a lock may count when that is free. */
const LOCK_SHARE = 0.75;

/** Which rows are not to be had just now. One that was made and not committed is in no snapshot, and is not found. */
const HELD = `
  WITH asked AS MATERIALIZED (
    SELECT n, key_id, left(day, 7) AS month, day
    FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS asked (key_id, day, n)
  ), free AS MATERIALIZED (
    SELECT key_id, month FROM usage JOIN asked USING (key_id, month) FOR NO KEY UPDATE OF usage SKIP LOCKED
  ), free_day AS MATERIALIZED (
    SELECT key_id, day FROM usage_day JOIN asked USING (key_id, day) FOR NO KEY UPDATE OF usage_day SKIP LOCKED
  )
  SELECT
    EXISTS (SELECT FROM usage WHERE key_id = asked.key_id AND month = asked.month)
      AND NOT EXISTS (SELECT FROM free WHERE key_id = asked.key_id AND month = asked.month)
    OR EXISTS (SELECT FROM usage_day WHERE key_id = asked.key_id AND day = asked.day)
      AND NOT EXISTS (SELECT FROM free_day WHERE key_id = asked.key_id AND day = asked.day) AS held
  FROM asked ORDER BY n`;

async function whichAreHeld(session: Session, groups: readonly SpendGroup[]): Promise<boolean[]> {
  const values = [groups.map(({ keyId }) => keyId), groups.map(({ day }) => day)];
  const { rows } = await session.query({ name: 'held', text: HELD, values });
  return rows.map(({ held }) => held === true);
}

/** What a statement that waited too long for a lock answers: it has counted nothing, nobody is in doubt. */
async function unlessLocked<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (sqlStateOf(error) === LOCKED) return undefined;
    throw error;
  }
}

async function countFree(session: Session, groups: readonly SpendGroup[]): Promise<readonly SpendResult[]> {
  const counted = await unlessLocked(count(session, groups));
  if (counted) return counted;
  const held = await unlessLocked(whichAreHeld(session, groups));
  const free = groups.filter((_, n) => held?.[n] === false);
  const results = free.length > 0 ? await unlessLocked(count(session, free)) : undefined;
  // A whole table is locked, or another row has been taken since: all are held until they were counted once.
  if (!results) return groups.map(() => 'held');
  const next = results.values();
  return groups.map((_, n) => (held?.[n] === false ? next.next().value! : 'held'));
}

/** What is refused or to be judged anew needs no row, and says nothing about who holds it. */
const hasWritten = (result: SpendResult) => typeof result === 'object' && result.granted > 0;

export function createCounting(
  counters: Connections,
  patient: Connections,
): Pick<Store, 'spend' | 'isBehind'> {
  /** Keys whose calls go apart until one of these was counted. */
  const held = new Set<string>();
  const apart = new Batcher({
    async count(groups, ms) {
      const results = await patient.run(async session => {
        await session.query(`SELECT set_config('lock_timeout', $1, false)`, [
          `${Math.ceil(ms * LOCK_SHARE)}ms`,
        ]);
        return countFree(session, groups);
      }, ms);
      for (const [n, { keyId }] of groups.entries()) if (hasWritten(results[n]!)) held.delete(keyId);
      return results;
    },
    atOnce: 1,
    deadlineMs: DEADLINE_MS,
  });
  const usual = new Batcher({
    // Never tried again where it is in doubt: a count whose commit is may stand, and the caller has got no answer for it.
    count: (groups, ms) => counters.run(session => countFree(session, groups), ms),
    atOnce: COMMITS_AT_ONCE,
    deadlineMs: DEADLINE_MS,
    whenHeld(group, ms) {
      held.add(group.keyId);
      apart.take(group, ms);
    },
  });
  return {
    spend(spend, revision, waiter) {
      const batcher = held.has(spend.keyId) ? apart : usual;
      batcher.spend(spend, revision, waiter);
    },
    isBehind: keyId => usual.isBehind(keyId) || apart.isBehind(keyId),
  };
}
