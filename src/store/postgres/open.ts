/** Reaches the database for the start or for a move, or says in one line with the fix why it cannot be used. */

import pg from 'pg';
import { StoreUnavailable } from '../../core/ports.ts';
import { StoreRefused } from '../refused.ts';
import { STARTING_MS } from './connect.ts';
import { DENIED, deniedOnTables } from './rights.ts';
import {
  LOCKED,
  messageOf,
  OnlyReads,
  prepare,
  type Session,
  sessionOn,
  settings,
  sqlStateOf,
} from './session.ts';

/** Reads the address and the files that it names, such as a certificate. */
function newClient(url: string): pg.Client {
  let client: pg.Client;
  try {
    client = new pg.Client({ ...settings(url), connectionTimeoutMillis: STARTING_MS });
  } catch (error) {
    const { code, path, syscall, message } = error as NodeJS.ErrnoException;
    if (syscall === undefined) {
      throw new StoreRefused(
        `the address of the database cannot be read (${message})`,
        'correct it; a % in it is written %25 (DATABASE_URL)',
      );
    }
    // Of a directory Node does not tell the path.
    throw new StoreRefused(
      `cannot read ${path ?? 'a file that the address of the database names'} (${code})`,
      'correct sslrootcert, sslcert or sslkey (DATABASE_URL)',
    );
  }
  // The driver takes whatever it finds for one, and then waits for ever.
  if (client.port > 0 && client.port < 65_536) return client;
  throw new StoreRefused(
    'the port of the database is no number from 1 to 65535',
    'correct it (DATABASE_URL, or PGPORT where that has none)',
  );
}

/** Whatever the driver or the server finds wrong before there is a connection is wrong with the address. */
function notConnected(error: unknown): never {
  throw new StoreUnavailable(messageOf(error), { cause: error });
}

/** One connection for the start or for a long move, without our short limits. Throws StoreRefused. */
export async function withConnection<T>(url: string, work: (session: Session) => Promise<T>): Promise<T> {
  const client = newClient(url);
  client.on('error', () => {});
  const session = sessionOn(client);
  try {
    await client.connect().catch(notConnected);
    await prepare(session);
    await session.query(
      `SET statement_timeout = 0; SET lock_timeout = '30s'; SET idle_in_transaction_session_timeout = 0`,
    );
    return await work(session);
  } catch (error) {
    throw (sqlStateOf(error) === DENIED && (await deniedOnTables(session))) || explain(error, client);
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
  [DENIED]: ({ user, database }) => [
    `the user "${user}" may not connect to the database "${database}", or may not make tables there`,
    `as its owner run GRANT CONNECT, CREATE ON DATABASE "${database}" TO "${user}"`,
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

/** SQLSTATE of a value or a name that the server does not take (classes 22 and 42): of settings, before any statement. */
const PARAMETERS = /^(?:22|42)/;

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
  if (cause instanceof pg.DatabaseError && PARAMETERS.test(code))
    return told(`${where.server}: ${message}`, 'correct what its address has behind the ?');
  if (cause instanceof pg.DatabaseError)
    return told(`${where.server}: ${message}`, 'correct it there, or name another');
  return told(`cannot reach ${where.server} (${code || message})`, 'start it, or correct its address');
}
