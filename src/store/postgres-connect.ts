/** Connections to PostgreSQL: one deadline over all that a call may wait for, and none is kept that failed once. */

import pg from 'pg';
import { StoreUnavailable } from '../core/ports.ts';
import { StoreRefused } from './refused.ts';
import { type Wait, waitAtMost } from './wait.ts';

/** Everything of ours lies in one schema, so that the database may be shared with other programs. */
export const SCHEMA = 'domain_risk';

/** Over the wait for a connection, connecting and the statement: the caller has its 500 within a second. */
export const DEADLINE_MS = 800;
/** One that comes too late for its caller serves the next; one that never comes makes room soon after a failover. */
const CONNECT_MS = 2_000;
/** After a connection was refused, nobody tries again for so long: many servers must not hammer one that starts. */
const REST_MS = 100;
/** After the database let no further connection in, no further one is tried for so long. */
const CRAMPED_MS = 1_000;
const START_MS = 3_000;

const BIGINT = 20;

/** Counts and times stay far below 2^53. */
const types = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === BIGINT ? Number : pg.types.getTypeParser(oid, format),
} as pg.CustomTypesConfig;

const settings = (url: string) => ({
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
async function prepare(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query(PREPARE);
  if (rows[0]?.read_only === 'on') throw new StoreUnavailable('the database is read-only');
}

export interface Connections {
  /** Runs on a connection of its own. When it rejects, whatever was not committed is undone, and nothing is repeated. */
  run<T>(work: (client: pg.ClientBase) => Promise<T>, ms?: number): Promise<T>;
  close(): Promise<void>;
}

export function openConnections(url: string, most: number): Connections {
  const pool = new pg.Pool({
    ...settings(url),
    max: most,
    idleTimeoutMillis: 60_000,
    connectionTimeoutMillis: CONNECT_MS,
    onConnect: client => within(CONNECT_MS, prepare(client)),
  });
  /** The pool's own count has those that are still being tried. */
  const open = new Set<pg.PoolClient>();
  // Idle connections die with their server; the pool has dropped them already when it says so.
  pool.on('error', () => {});
  // One that dies in a caller's hands fails that caller's statement, which is all that must happen.
  pool.on('connect', client => {
    open.add(client);
    client.on('error', () => {});
  });
  pool.on('remove', client => void open.delete(client));
  let restUntil = 0;
  let widening: NodeJS.Timeout | undefined;

  /** The pool's own timers know nothing of a held event loop: what it gave up for that is tried once more. */
  function fromPool(wait: Wait): Promise<pg.PoolClient> {
    return pool.connect().catch(error => {
      if (wait.held() < CONNECT_MS / 2) throw error;
      return pool.connect();
    });
  }

  async function connect(wait: Wait): Promise<pg.PoolClient> {
    if (performance.now() < restUntil)
      throw new StoreUnavailable('the database could not be reached just now');
    try {
      return await fromPool(wait);
    } catch (error) {
      if (open.size === 0) restUntil = performance.now() + REST_MS;
      // With all of them at work it was only the wait for one that took too long.
      if (open.size === 0 || open.size === most) throw error;
      // No more are let in (`max_connections`, a limit of the role): those that are there do the work for a while.
      pool.options.max = open.size;
      clearTimeout(widening);
      widening = setTimeout(() => {
        pool.options.max = most;
      }, CRAMPED_MS).unref();
      return pool.connect();
    }
  }

  return {
    async run(work, ms = DEADLINE_MS) {
      let late = false;
      const { passed, wait } = deadlineIn(ms, () => {
        late = true;
      });
      let client: pg.PoolClient | undefined;
      try {
        const connecting = connect(wait);
        connecting.then(
          one => late && one.release(),
          () => {},
        );
        client = await Promise.race([connecting, passed]);
        const result = await Promise.race([work(client), passed]);
        client.release();
        return result;
      } catch (error) {
        // After any error at all: a read-only or dying server (25006, 57P0x, 08xxx), an open transaction, a statement
        // that may still run. A new connection starts from what is known.
        client?.release(true);
        throw error instanceof StoreUnavailable
          ? error
          : new StoreUnavailable(messageOf(error), { cause: error });
      } finally {
        wait.end();
      }
    },
    close: () => pool.end(),
  };
}

function deadlineIn(ms: number, onPassed = () => {}): { passed: Promise<never>; wait: Wait } {
  const { promise: passed, reject } = Promise.withResolvers<never>();
  passed.catch(() => {});
  const wait = waitAtMost(ms, () => {
    onPassed();
    reject(new StoreUnavailable(`the database did not answer within ${Math.round(ms)} ms`));
  });
  return { passed, wait };
}

function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const { passed, wait } = deadlineIn(ms);
  return Promise.race([work, passed]).finally(wait.end);
}

/** Where several addresses were tried, the error that holds them all has no message of its own. */
function messageOf(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException;
  return message || String(code);
}

/** Reads the files that the address names, such as a certificate. */
function newClient(url: string): pg.Client {
  try {
    return new pg.Client({ ...settings(url), connectionTimeoutMillis: START_MS });
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException;
    if (path === undefined) throw error;
    throw new StoreRefused(
      `cannot read ${path} (${code}): correct sslrootcert, sslcert or sslkey (DATABASE_URL)`,
    );
  }
}

/** One connection for the start or for a long move, without our short limits. Throws StoreRefused. */
export async function withConnection<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = newClient(url);
  client.on('error', () => {});
  try {
    await client.connect();
    await prepare(client);
    await client.query(
      `SET statement_timeout = 0; SET lock_timeout = '30s'; SET idle_in_transaction_session_timeout = 0`,
    );
    return await work(client);
  } catch (error) {
    throw explain(error, client);
  } finally {
    await client.end().catch(() => {});
  }
}

const REFUSALS: Readonly<Record<string, (where: Where) => string>> = {
  '28P01': ({ server, user }) => `${server} refuses the user "${user}": correct the user and the password`,
  '28000': ({ server, user }) =>
    `${server} does not let the user "${user}" in: allow it in pg_hba.conf, or correct the user`,
  '3D000': ({ server, database }) =>
    `${server} has no database "${database}": create it (createdb ${database}), or correct its name`,
  '42501': ({ user, database }) =>
    `the user "${user}" may not make tables in the database "${database}": as its owner run GRANT CREATE ON DATABASE "${database}" TO "${user}"`,
  '53300': ({ server }) => `${server} has no connection left: raise max_connections, or run fewer servers`,
  '57P03': ({ server }) => `${server} is still starting or stopping: start again in a moment`,
};

interface Where {
  readonly server: string;
  readonly user: string;
  readonly database: string;
}

/** One line with the fix. Never the password: neither pg's messages nor ours hold it. */
function explain(error: unknown, client: pg.Client): unknown {
  if (error instanceof StoreRefused) return error;
  const where = {
    server: `PostgreSQL at ${client.host}:${client.port}`,
    user: String(client.user),
    database: String(client.database),
  };
  const told = (text: string) => new StoreRefused(`${text} (DATABASE_URL)`, { cause: error });
  if (error instanceof StoreUnavailable)
    return told(`${where.server} only reads (a standby?): name the primary`);
  const code = String((error as { code?: unknown }).code ?? '');
  const refusal = REFUSALS[code];
  if (refusal) return told(refusal(where));
  const message = messageOf(error).split('\n')[0]!;
  if (/password/.test(message) && message.startsWith('SASL'))
    return told(`${where.server} asks for the password of "${where.user}": add it`);
  if (/SSL|certificate|self-signed/i.test(message))
    return told(`${where.server}: ${message}: correct sslmode or sslrootcert`);
  // Anything but a lost or never made connection is our fault, and its stack is wanted.
  if (error instanceof pg.DatabaseError || !(code || /^Connection terminated|timeout/.test(message)))
    return error;
  return told(`cannot reach ${where.server} (${code || message}): start it, or correct its address`);
}
