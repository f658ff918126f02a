/** Connections to PostgreSQL: one deadline over all that a call may wait for, and none is kept that failed once. */

import pg from 'pg';
import { StoreUnavailable } from '../../core/ports.ts';
import { deadlineIn, type Wait, within } from '../wait.ts';
import { LOCK_MS, prepare, rethrow, type Session, sessionOn, settings } from './session.ts';

/** Over the wait for a connection, connecting and the statement: the caller has its 500 within a second. */
export const DEADLINE_MS = 800;
/** Before there is anybody who waits. On a machine with ten times more to do than it can, a start failed by the other (2026-11-18). */
export const STARTING_MS = 10_000;
const DATABASE = 'the database';
/** For long lists, after the call was counted: 0.4 s for the fullest tables (November 2026); the server ends it at 1 s. */
export const LISTING_MS = 1_500;
/** For what nobody waits for. */
export const BACKGROUND_MS = 60_000;
/** One that comes too late for its caller serves the next; one that never comes makes room soon after a failover. */
const CONNECT_MS = 2_000;
/** After a connection was refused, nobody tries again for so long: no thundering herd on one that starts. */
const REST_MS = 100;
/** After the database let no further connection in, no further one is tried for so long. */
const CRAMPED_MS = 1_000;

export interface Connections {
  /** Runs on a connection of its own. When it rejects, whatever was not committed is undone, and nothing is repeated. */
  run<T>(work: (session: Session) => Promise<T>, ms?: number): Promise<T>;
  close(): Promise<void>;
}

export interface Patience {
  /** For a connection and the work on it, where its caller says nothing else. */
  readonly usualMs?: () => number;
  /** For a lock. */
  readonly lockMs?: number;
}

export function openConnections(url: string, most: number, patience: Patience = {}): Connections {
  const { usualMs = () => DEADLINE_MS, lockMs = LOCK_MS } = patience;
  const pool = openPool(url, most, lockMs);
  return {
    async run(work, ms = usualMs()) {
      let late = false;
      const { passed, wait } = deadlineIn(ms, DATABASE, () => {
        late = true;
      });
      let client: pg.PoolClient | undefined;
      try {
        const connecting = pool.connect(wait).catch(rethrow);
        connecting.then(
          one => late && one.release(),
          () => {},
        );
        client = await Promise.race([connecting, passed]);
        const result = await Promise.race([work(sessionOn(client)), passed]);
        client.release();
        return result;
      } catch (error) {
        // After any error at all: a read-only or dying server (25006, 57P0x, 08xxx), an open transaction, a statement
        // that may still run. A new connection starts from what is known.
        client?.release(true);
        throw error;
      } finally {
        wait.end();
      }
    },
    close: pool.close,
  };
}

interface Pool {
  connect(wait: Wait): Promise<pg.PoolClient>;
  close(): Promise<void>;
}

function openPool(url: string, most: number, lockMs: number): Pool {
  const pool = new pg.Pool({
    ...settings(url),
    max: most,
    idleTimeoutMillis: 60_000,
    connectionTimeoutMillis: CONNECT_MS,
    onConnect: client => within(CONNECT_MS, DATABASE, prepare(sessionOn(client), lockMs)),
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

  return { connect, close: () => pool.end() };
}

/** As long as a call waits for it. */
export const inTime = <T>(answer: Promise<T>): Promise<T> => within(DEADLINE_MS, DATABASE, answer);
