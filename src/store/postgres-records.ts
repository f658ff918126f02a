/** Keys, overrides and flags in the shared store: everything but the count of calls. */

import type { ClientBase } from 'pg';
import type { Act } from '../core/audit.ts';
import type { KeyRecord } from '../core/key.ts';
import type { Override } from '../core/override.ts';
import { type DayUsage, StoreUnavailable } from '../core/ports.ts';
import type { Flag, Ranked } from '../core/ranking.ts';
import { readActs, writeAct } from './postgres-audit.ts';
import type { Connections } from './postgres-connect.ts';

/** The table of flags stays about here; the least counted names go first. */
const MOST_FLAGS = 100_000;
/** Counting the table with every flush of every server would cost more than writing to it. */
const PRUNE_EVERY = 1_000;
const CHUNK = 1_000;
/** SQLSTATE of a wait for a lock that took too long. */
const LOCKED = '55P03';
/** For what an operator waits for, not a caller. */
const PATIENT_MS = 5_000;
/** For long lists, after the call was counted: 0.4 s for the fullest tables (November 2026); the server ends it at 1 s. */
export const LISTING_MS = 1_500;
/** For what nobody waits for. */
export const BACKGROUND_MS = 60_000;

const KEY_COLUMNS =
  'id, name, digest, prefix, last4, previous_digest, previous_until, quota, rate, origins, networks, created_at, expires_at, revoked_at';
const KEY_VALUES = '$1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14';
const KEY_VALUES_BEFORE = '$15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28';

/** As the core names them, so that a row is a record. */
const KEY = `
  key.id, name, digest, prefix, last4, previous_digest AS "previousDigest", previous_until AS "previousUntil", quota, rate,
  origins, networks, created_at AS "createdAt", expires_at AS "expiresAt", revoked_at AS "revokedAt"`;
const OVERRIDE = 'domain, action, below, note, author, created_at AS "createdAt", expires_at AS "expiresAt"';

/** Servers take turns at work that nobody waits for: so they can neither deadlock nor do it twice at a time. */
export const TURN = { flags: 1, hosts: 2, snapshots: 3 } as const;

export async function inTurn<T>(client: ClientBase, turn: number, work: () => Promise<T>): Promise<T> {
  await client.query(`BEGIN; SET LOCAL statement_timeout = '30s'; SET LOCAL lock_timeout = '30s'`);
  await client.query('SELECT pg_advisory_xact_lock(hashtext($1), $2)', ['domain-risk', turn]);
  const result = await work();
  await client.query('COMMIT');
  return result;
}

/**
 * Changes take the lock of this row first: they go one after the other, and the revision grows in the order in which
 * they can be seen. By the clock, so that it also differs from every one that was handed out before a restore or a
 * failover has taken the database back.
 */
export const NEXT_REVISION =
  'UPDATE revision SET value = greatest(value + 1, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)';

export function createRecords(connections: Connections) {
  const { run } = connections;

  /** A change that running servers must see before they answer their next call; false when there was nothing to do. */
  function change(act: Act, work: (client: ClientBase) => Promise<boolean>): Promise<boolean> {
    return run(async client => {
      await client.query(`BEGIN; SET LOCAL lock_timeout = '4s'; SET LOCAL statement_timeout = '4500ms'`);
      await client.query(NEXT_REVISION).catch(error => {
        throw error.code === LOCKED
          ? new StoreUnavailable('another change is still under way: try again in a moment')
          : error;
      });
      const changed = await work(client);
      if (changed) await writeAct(client, act);
      await client.query(changed ? 'COMMIT' : 'ROLLBACK');
      return changed;
    }, PATIENT_MS);
  }

  const hasKeys = async (client: ClientBase) =>
    (await client.query('SELECT 1 FROM key LIMIT 1')).rows.length > 0;
  async function insertKey(client: ClientBase, key: KeyRecord): Promise<boolean> {
    await client.query(`INSERT INTO key (${KEY_COLUMNS}) VALUES (${KEY_VALUES})`, keyValues(key));
    return true;
  }

  let written = PRUNE_EVERY;
  let prunedSince = '';

  async function prune(client: ClientBase, sinceDay: string): Promise<void> {
    await client.query('DELETE FROM flag WHERE day < $1', [sinceDay]);
    await client.query('DELETE FROM usage_day WHERE day < $1', [sinceDay]);
    const { rows } = await client.query('SELECT count(*) AS n FROM flag');
    const excess = Number(rows[0]?.n) - MOST_FLAGS;
    if (excess <= 0) return;
    // More than must go, so that a flood of names does not pay for this scan each time.
    await client.query(REMOVE_LEAST_COUNTED, [excess + MOST_FLAGS / 20]);
  }

  return {
    revision: () =>
      run(async client => Number((await client.query('SELECT value FROM revision')).rows[0]?.value)),
    /** One statement sees one state of the database: the record and the revision belong together. */
    keyByDigest: (digest: string) =>
      run(async client => {
        const { rows } = await client.query({
          name: 'key-by-digest',
          text: `SELECT revision.value AS revision, ${KEY}
            FROM revision LEFT JOIN key ON digest = $1 OR previous_digest = $1`,
          values: [digest],
        });
        const { revision, ...key } = rows[0];
        return { key: key.id === null ? undefined : (key as KeyRecord), revision: Number(revision) };
      }),
    used: (keyId: string, month: string) =>
      run(async client => {
        const { rows } = await client.query({
          name: 'used',
          text: 'SELECT used FROM usage WHERE key_id = $1 AND month = $2',
          values: [keyId, month],
        });
        return Number(rows[0]?.used ?? 0);
      }),
    usedInMonth: (month: string) =>
      run(async client => {
        const { rows } = await client.query('SELECT key_id, used FROM usage WHERE month = $1', [month]);
        return new Map<string, number>(rows.map(row => [row.key_id, row.used]));
      }, LISTING_MS),
    usageDays: (sinceDay: string, keyId: string | undefined) =>
      run(async client => {
        const { rows } = await client.query<DayUsage>(
          `SELECT key_id AS "keyId", day, used FROM usage_day
          WHERE day >= $1 AND ($2::text IS NULL OR key_id = $2) ORDER BY key_id, day`,
          [sinceDay, keyId ?? null],
        );
        return rows;
      }, LISTING_MS),
    createKey: async (key: KeyRecord, act: Act) => {
      await change(act, client => insertKey(client, key));
    },
    createFirstKey: async (key: KeyRecord, act: Act) =>
      !(await run(hasKeys)) &&
      change(act, async client => !(await hasKeys(client)) && (await insertKey(client, key))),
    updateKey: (key: KeyRecord, was: KeyRecord, act: Act) =>
      change(act, async client => {
        const { rowCount } = await client.query(
          `UPDATE key SET (${KEY_COLUMNS}) = (${KEY_VALUES})
          WHERE (${KEY_COLUMNS}) IS NOT DISTINCT FROM (${KEY_VALUES_BEFORE}) AND revoked_at IS NULL`,
          [...keyValues(key), ...keyValues(was)],
        );
        return rowCount === 1;
      }),
    listKeys: () =>
      run(async client => {
        const { rows } = await client.query<KeyRecord>(`SELECT ${KEY} FROM key ORDER BY created_at, key.id`);
        return rows;
      }),

    setOverride: async (o: Override, act: Act) => {
      await change(act, async client => {
        await client.query(
          `INSERT INTO override (domain, action, below, note, author, created_at, expires_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7)
          ON CONFLICT (domain) DO UPDATE SET (action, below, note, author, created_at, expires_at) =
            (excluded.action, excluded.below, excluded.note, excluded.author, excluded.created_at, excluded.expires_at)`,
          [o.domain, o.action, o.below, o.note, o.author, o.createdAt, o.expiresAt],
        );
        return true;
      });
    },
    removeOverride: (domain: string, act: Act) =>
      change(act, async client => {
        const { rowCount } = await client.query('DELETE FROM override WHERE domain = $1', [domain]);
        return rowCount === 1;
      }),
    listOverrides: () =>
      run(async client => {
        const { rows } = await client.query(
          `SELECT revision.value AS revision, ${OVERRIDE} FROM revision LEFT JOIN override ON true ORDER BY domain`,
        );
        const found = rows.map(({ revision, ...override }) => override as Override);
        return {
          overrides: found.filter(override => override.domain !== null),
          revision: Number(rows[0]?.revision),
        };
      }),

    audit: (most: number) => run(client => readActs(client, most), LISTING_MS),

    flag: (flags: readonly Flag[], sinceDay: string) =>
      run(async client => {
        for (let i = 0; i < flags.length; i += CHUNK) {
          await inTurn(client, TURN.flags, () =>
            client.query(PUT_FLAGS, flagValues(flags.slice(i, i + CHUNK))),
          );
        }
        written += flags.length;
        if (written < PRUNE_EVERY && prunedSince === sinceDay) return;
        await inTurn(client, TURN.flags, () => prune(client, sinceDay));
        written = 0;
        prunedSince = sinceDay;
      }, BACKGROUND_MS),
    ranking: (sinceDay: string, most: number, reason: string | undefined): Promise<Ranked[]> =>
      run(async client => {
        const { rows } = await client.query<Ranked>(RANKING, [sinceDay, most, reason ?? null]);
        return rows;
      }, LISTING_MS),
  };
}

/** Of equal rows in one batch the last one counts: a statement may touch a row only once. */
const PUT_FLAGS = `
  INSERT INTO flag (day, domain, key_id, listed, reason, score)
  SELECT DISTINCT ON (domain, day, key_id) day, domain, key_id, listed, reason, score
  FROM unnest($1::text[], $2::text[], $3::text[], $4::boolean[], $5::text[], $6::integer[])
    WITH ORDINALITY AS f (day, domain, key_id, listed, reason, score, n)
  ORDER BY domain, day, key_id, n DESC
  ON CONFLICT (domain, day, key_id) DO UPDATE SET (listed, reason, score) =
    (excluded.listed, excluded.reason, excluded.score)`;

/** Whole names from the least counted on, and of the last one its oldest days, until $1 rows are gone. */
const REMOVE_LEAST_COUNTED = `
  DELETE FROM flag USING (
    SELECT domain, day, key_id FROM flag JOIN (
      SELECT domain, bool_or(listed) AS ever_listed, count(*) AS times, max(day) AS last_day FROM flag GROUP BY domain
    ) AS name USING (domain)
    ORDER BY ever_listed, times, last_day, domain, day LIMIT $1
  ) AS least
  WHERE (flag.domain, flag.day, flag.key_id) = (least.domain, least.day, least.key_id)`;

/** A name's latest row is found as one text that sorts by day and key, with the verdict behind: no second look-up. */
const RANKING = `
  SELECT domain, times, listed, reason, score FROM (
    SELECT domain, times, listed, split_part(latest, ' ', 3)::integer AS score, split_part(latest, ' ', 4) AS reason
    FROM (
      SELECT domain, count(*) AS times, bool_or(listed) AS listed, min(key_id) <> max(key_id) AS by_several,
        max(concat_ws(' ', day, key_id, score, reason) COLLATE "C") AS latest
      FROM flag WHERE day >= $1 GROUP BY domain
    ) AS name
    WHERE listed OR by_several
  ) AS candidate
  WHERE $3::text IS NULL OR reason = $3
  ORDER BY times DESC, score DESC, domain LIMIT $2`;

function flagValues(flags: readonly Flag[]): unknown[] {
  return [
    flags.map(flag => flag.day),
    flags.map(flag => flag.domain),
    flags.map(flag => flag.keyId),
    flags.map(flag => flag.listed),
    flags.map(flag => flag.reason),
    flags.map(flag => flag.score),
  ];
}

function keyValues(k: KeyRecord): unknown[] {
  return [
    ...[k.id, k.name, k.digest, k.prefix, k.last4, k.previousDigest, k.previousUntil, k.quota, k.rate],
    ...[k.origins, k.networks, k.createdAt, k.expiresAt, k.revokedAt],
  ];
}
