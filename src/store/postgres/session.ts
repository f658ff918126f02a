/** A connection to PostgreSQL in somebody's hands: where it looks, how long it waits, what it can rely on. */

import pg from 'pg';
import { StoreUnavailable } from '../../core/ports.ts';
import type { PostgresRow } from '../table.ts';

export interface Session {
  /** Nothing is known of what a row holds: whoever reads it says so, most by the codecs of `columns.ts`. */
  query(statement: string | pg.QueryConfig, values?: readonly unknown[]): Promise<Result>;
}

export interface Result {
  readonly rows: readonly PostgresRow[];
  /** Rows that were read or changed. */
  readonly count: number;
}

export function sessionOn(client: pg.ClientBase): Session {
  return {
    async query(statement, values) {
      const asked = client.query<PostgresRow>(statement, values && [...values]);
      const { rows, rowCount } = await asked.catch(rethrow);
      return { rows, count: rowCount ?? 0 };
    },
  };
}

/** Everything of ours lies in one schema, so that the database may be shared with other programs. */
export const SCHEMA = 'domain_risk';

const BIGINT = 20;

/** Counts and times stay far below 2^53. */
const types = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === BIGINT ? Number : pg.types.getTypeParser(oid, format),
} as pg.CustomTypesConfig;

export const settings = (url: string) => ({
  connectionString: url,
  application_name: 'domain-risk',
  keepAlive: true,
  keepAliveInitialDelayMillis: 10_000,
  types,
});

/**
 * The server gives up by itself soon after we have, and an operator's defaults can neither weaken the count
 * (`synchronous_commit`) nor break it (isolation levels in which two servers would abort each other). Nothing is compiled
 * (`jit`): our statements take a millisecond, and one of tables that were never analysed looked as dear as a billion rows,
 * and took 0.35 s (2026-11-19).
 */
const PREPARE = `
  SELECT
    set_config('search_path', '${SCHEMA}', false),
    set_config('statement_timeout', '1s', false),
    set_config('lock_timeout', $1, false),
    set_config('idle_in_transaction_session_timeout', '5s', false),
    set_config('jit', 'off', false),
    set_config('default_transaction_isolation', 'read committed', false),
    set_config('synchronous_commit',
      CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, false),
    current_setting('transaction_read_only') AS read_only`;

/** A standby, or a database that was set so. */
export class OnlyReads extends StoreUnavailable {}

export const LOCK_MS = 750;

/** Fails on a standby and on a database that only reads, so that a pool never fills with such connections. */
export async function prepare(session: Session, lockMs = LOCK_MS): Promise<void> {
  const { rows } = await session.query(PREPARE, [`${lockMs}ms`]);
  if (rows[0]?.read_only === 'on') throw new OnlyReads('the database is read-only');
}

/**
 * Classes of SQLSTATE that we are to blame for (PostgreSQL, appendix A): what it cannot do, one row twice where one may be,
 * values, constraints, transactions begun or ended in the wrong place, statements.
 */
const OUR_FAULTS = new Set(['0A', '21', '22', '23', '25', '42']);
/** In them, but the operator's affair: a standby, limits of a server for transactions, what a role may do. */
const NOT_OURS = new Set(['25006', '25P03', '25P04', '42501']);

/**
 * For what the driver rejects with: the server or the way to it is to blame, but for what it cannot send (TypeError and
 * its like) and statements of ours that are wrong. Told here, where it was thrown; what a caller of a session throws is
 * never taken for it.
 */
export function rethrow(error: unknown): never {
  throw isOurFault(error) || error instanceof StoreUnavailable
    ? error
    : new StoreUnavailable(messageOf(error), { cause: error });
}

/** Too few values, say. PgBouncer says the same of its own affairs, and has no routine to name. */
const isProtocolFault = ({ code, routine }: pg.DatabaseError) => code === '08P01' && routine !== undefined;

function isOurFault(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) {
    const code = String(error.code);
    return (OUR_FAULTS.has(code.slice(0, 2)) && !NOT_OURS.has(code)) || isProtocolFault(error);
  }
  return error instanceof TypeError || error instanceof RangeError;
}

/** SQLSTATE of a wait for a lock that took too long. */
export const LOCKED = '55P03';

/** What the server said, where it was the server. */
export function sqlStateOf(error: unknown): string | undefined {
  const { cause } = error instanceof StoreUnavailable ? error : { cause: error };
  return cause instanceof pg.DatabaseError ? cause.code : undefined;
}

/** Where several addresses were tried, the error that holds them all has no message of its own. */
export function messageOf(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException;
  return message || String(code);
}
