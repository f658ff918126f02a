/** The revision of keys and overrides in the shared store: raised with every change, one change after the other. */

import type { Act } from '../../core/audit.ts';
import { StoreUnavailable } from '../../core/ports.ts';
import { writeAct } from './audit.ts';
import type { Connections } from './connect.ts';
import { LOCKED, type Session, sqlStateOf } from './session.ts';

/** For what an operator waits for, not a caller. */
const PATIENT_MS = 5_000;

/**
 * Changes take the lock of this row first: they go one after the other, and the revision grows in the order in which
 * they can be seen. By the clock, so that it also differs from every one that was handed out before a restore or a
 * failover has taken the database back.
 */
export const NEXT_REVISION =
  'UPDATE revision SET value = greatest(value + 1, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)';

/**
 * All other changes wait behind this one, revocations too: what it needs beside has to come soon. One override in a
 * transaction by hand kept every revocation waiting for 4 s (2026-11-19).
 */
const SOON = `SET LOCAL lock_timeout = '500ms'`;

export type Revisions = ReturnType<typeof createRevisions>;

export function createRevisions({ run }: Connections) {
  return {
    /**
     * A change that running servers must see before they answer their next call; false when there was nothing to do. The
     * act may be made of what the work has found.
     */
    change: (act: Act | (() => Act), work: (session: Session) => Promise<boolean>): Promise<boolean> =>
      run(async session => {
        await session.query(`BEGIN; SET LOCAL lock_timeout = '4s'; SET LOCAL statement_timeout = '4500ms'`);
        await session.query(`${NEXT_REVISION}; ${SOON}`).catch(error => {
          throw sqlStateOf(error) === LOCKED
            ? new StoreUnavailable('another change is still under way: try again in a moment')
            : error;
        });
        const changed = await work(session);
        if (changed) await writeAct(session, typeof act === 'function' ? act() : act);
        await session.query(changed ? 'COMMIT' : 'ROLLBACK');
        return changed;
      }, PATIENT_MS),
  };
}
