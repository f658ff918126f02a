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
      const { rows, rowCount } = await client.query<PostgresRow>(statement, values && [...values]);
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
 * (`synchronous_commit`) nor break it (isolation levels in which two servers would abort each other).
 */
const PREPARE = `
  SELECT
    set_config('search_path', '${SCHEMA}', false),
    set_config('statement_timeout', '1s', false),
    set_config('lock_timeout', '750ms', false),
    set_config('idle_in_transaction_session_timeout', '5s', false),
    set_config('default_transaction_isolation', 'read committed', false),
    set_config('synchronous_commit',
      CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, false),
    current_setting('transaction_read_only') AS read_only`;

/** Fails on a standby and on a database that only reads, so that a pool never fills with such connections. */
export async function prepare(session: Session): Promise<void> {
  const { rows } = await session.query(PREPARE);
  if (rows[0]?.read_only === 'on') throw new StoreUnavailable('the database is read-only');
}

/** Where several addresses were tried, the error that holds them all has no message of its own. */
export function messageOf(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException;
  return message || String(code);
}
