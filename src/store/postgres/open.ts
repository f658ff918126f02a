/** Reaches the database for the start or for a move, or says in one line with the fix why it cannot be used. */

import pg from 'pg';
import { StoreUnavailable } from '../../core/ports.ts';
import { StoreRefused } from '../refused.ts';
import {
  LOCKED,
  messageOf,
  OnlyReads,
  prepare,
  rethrow,
  type Session,
  sessionOn,
  settings,
} from './session.ts';

const START_MS = 3_000;

/** Reads the files that the address names, such as a certificate. */
function newClient(url: string): pg.Client {
  try {
    return new pg.Client({ ...settings(url), connectionTimeoutMillis: START_MS });
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException;
    if (path === undefined) throw error;
    throw new StoreRefused(
      `cannot read ${path} (${code})`,
      'correct sslrootcert, sslcert or sslkey (DATABASE_URL)',
    );
  }
}

/** One connection for the start or for a long move, without our short limits. Throws StoreRefused. */
export async function withConnection<T>(url: string, work: (session: Session) => Promise<T>): Promise<T> {
  const client = newClient(url);
  client.on('error', () => {});
  try {
    await client.connect().catch(rethrow);
    const session = sessionOn(client);
    await prepare(session);
    await session.query(
      `SET statement_timeout = 0; SET lock_timeout = '30s'; SET idle_in_transaction_session_timeout = 0`,
    );
    return await work(session);
  } catch (error) {
    throw explain(error, client);
  } finally {
    await client.end().catch(() => {});
  }
}

/** The problem and its fix, by PostgreSQL's code. */
const REFUSALS: Readonly<Record<string, (where: Where) => readonly [problem: string, fix: string]>> = {
  '28P01': ({ server, user }) => [
    `${server} refuses the user "${user}"`,
    'correct the user and the password',
  ],
  '28000': ({ server, user }) => [
    `${server} does not let the user "${user}" in`,
    'allow it in pg_hba.conf, or correct the user',
  ],
  '3D000': ({ server, database }) => [
    `${server} has no database "${database}"`,
    `create it (createdb ${database}), or correct its name`,
  ],
  '42501': ({ user, database }) => [
    `the user "${user}" may not make tables in the database "${database}"`,
    `as its owner run GRANT CREATE ON DATABASE "${database}" TO "${user}"`,
  ],
  '53300': ({ server }) => [
    `${server} has no connection left`,
    'raise max_connections, or run fewer servers',
  ],
  [LOCKED]: ({ server }) => [
    `${server}: somebody else has kept the tables locked`,
    'end that transaction (pg_stat_activity shows it), then try again',
  ],
  '57P03': ({ server }) => [`${server} is still starting or stopping`, `start again in a moment`],
};

/** Node's codes: its own for TLS, those of OpenSSL, and those of a certificate that is not accepted (X.509). */
const TLS_CODE =
  /^(?:ERR_(?:TLS|SSL|OSSL)_|EPROTO$|UNABLE_TO_|INVALID_(?:CA|PURPOSE)$|HOSTNAME_MISMATCH$)|CERT|CRL/;
/** What the driver itself finds wrong has no code: these are its words (pg 8, lib/connection.js and lib/crypto/sasl.js). */
const NO_TLS = new Set([
  'The server does not support SSL connections',
  'There was an error establishing an SSL connection',
]);
const NO_PASSWORD = new Set([
  'SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string',
  'SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a non-empty string',
]);

interface Where {
  readonly server: string;
  readonly user: string;
  readonly database: string;
}

/** One line with the fix. Never the password: neither pg's messages nor ours hold it. */
function explain(error: unknown, client: pg.Client): unknown {
  // Anything else is our fault, and its stack is wanted.
  if (!(error instanceof StoreUnavailable)) return error;
  const where = {
    server: `PostgreSQL at ${client.host}:${client.port}`,
    user: String(client.user),
    database: String(client.database),
  };
  const told = (problem: string, fix: string) =>
    new StoreRefused(problem, `${fix} (DATABASE_URL)`, { cause: error });
  if (error instanceof OnlyReads) return told(`${where.server} only reads (a standby?)`, 'name the primary');
  const { cause = error } = error;
  const code = String((cause as { code?: unknown }).code ?? '');
  const refusal = REFUSALS[code];
  if (refusal) return told(...refusal(where));
  const message = messageOf(cause).split('\n')[0]!;
  if (NO_PASSWORD.has(message))
    return told(`${where.server} asks for the password of "${where.user}"`, 'add it');
  if (TLS_CODE.test(code) || NO_TLS.has(message))
    return told(`${where.server}: ${message}`, 'correct sslmode or sslrootcert');
  if (cause instanceof pg.DatabaseError)
    return told(`${where.server}: ${message}`, 'correct it there, or name another');
  return told(`cannot reach ${where.server} (${code || message})`, 'start it, or correct its address');
}
