/** API keys in the shared store. */

import type { Act } from '../../core/audit.ts';
import { ENDING_AT_ONCE, type EndingQuery } from '../../core/event.ts';
import type { KeyRecord } from '../../core/key.ts';
import type { Store } from '../../core/ports.ts';
import { KEY } from '../columns.ts';
import { gathering } from '../gather.ts';
import { type Connections, inTime, LISTING_MS } from './connect.ts';
import { idsNamed, mayBeKept } from './key-names.ts';
import type { Revisions } from './revision.ts';
import type { Session } from './session.ts';

const { columns, names, postgres } = KEY;
/** Beside another table, which has an id of its own. */
const FULL_NAMES = columns.map(({ name }) => `key.${name}`).join(', ');

const hasKeys = async (session: Session) => (await session.query('SELECT 1 FROM key LIMIT 1')).count > 0;

/** Changes go one after the other: nobody else takes it meanwhile. */
const isTaken = async (session: Session, { id, name }: KeyRecord) =>
  (await idsNamed(session, name)).some(other => other !== id);

async function insertKey(session: Session, key: KeyRecord): Promise<boolean> {
  await session.query(`INSERT INTO key (${names}) VALUES (${postgres.places()})`, postgres.values(key));
  return true;
}

type Found = Awaited<ReturnType<Store['keyByDigest']>>;

/** What calls ask before they are counted. Undefined in place of a digest: the revision is enough. */
export function createKeyReads({ run }: Connections): Pick<Store, 'keyByDigest' | 'revision'> {
  /** One statement sees one state of the database: the records and the revision belong together. */
  const read = gathering(
    (digests: readonly (string | undefined)[]) =>
      run(async (session): Promise<Found[]> => {
        const { rows } = await session.query({
          name: 'keys-by-digest',
          text: `SELECT revision.value AS revision, ${FULL_NAMES}
          FROM revision LEFT JOIN key ON digest = ANY ($1) OR previous_digest = ANY ($1)`,
          values: [digests.filter(digest => digest !== undefined)],
        });
        const revision = Number(rows[0]?.revision);
        const keys = new Map<string, KeyRecord>();
        for (const key of rows.filter(row => row.id !== null).map(postgres.record)) {
          keys.set(key.digest, key);
          if (key.previousDigest !== null) keys.set(key.previousDigest, key);
        }
        return digests.map(digest => ({
          key: digest === undefined ? undefined : keys.get(digest),
          revision,
        }));
      }),
    inTime,
  );
  return {
    keyByDigest: read,
    revision: async () => (await read(undefined)).revision,
  };
}

export function createKeys({ run }: Connections, { change }: Revisions) {
  return {
    createKey: (key: KeyRecord, act: Act, isNameUnique = false) =>
      change(
        act,
        async session => !(isNameUnique && (await isTaken(session, key))) && (await insertKey(session, key)),
      ),
    createFirstKey: async (key: KeyRecord, act: Act) =>
      !(await run(hasKeys)) &&
      change(act, async session => !(await hasKeys(session)) && (await insertKey(session, key))),
    updateKey: (key: KeyRecord, was: KeyRecord, act: Act) =>
      change(act, async session => {
        if (key.name !== was.name && (await isTaken(session, key))) return false;
        const { count } = await session.query(
          `UPDATE key SET (${names}) = (${postgres.places()})
          WHERE (${names}) IS NOT DISTINCT FROM (${postgres.places(columns.length)}) AND revoked_at IS NULL`,
          [...postgres.values(key), ...postgres.values(was)],
        );
        return count === 1;
      }),
    endingKeys: ({ month, share, expiresBy, after }: EndingQuery) =>
      run(async session => {
        const { rows } = await session.query(
          `SELECT ${FULL_NAMES}, used FROM key LEFT JOIN usage ON key_id = id AND month = $1
          WHERE id > $4 AND revoked_at IS NULL AND (expires_at <= $3 OR key.quota * $2::float8 <= used)
          ORDER BY id LIMIT ${ENDING_AT_ONCE}`,
          [month, share, expiresBy, after],
        );
        return rows.map(row => ({ key: postgres.record(row), used: Number(row.used) }));
      }, LISTING_MS),
    keyById: async (id: string) => {
      if (!mayBeKept(id)) return undefined;
      return run(async session => {
        const { rows } = await session.query(`SELECT ${names} FROM key WHERE id = $1`, [id]);
        return rows.map(postgres.record)[0];
      });
    },
    keysNamed: (name: string) =>
      run(async session => {
        const ids = await idsNamed(session, name);
        const live = `SELECT ${names} FROM key WHERE id = ANY ($1) AND revoked_at IS NULL`;
        return (await session.query(live, [ids])).rows.map(postgres.record);
      }, LISTING_MS),
    listKeys: () =>
      run(async session => {
        const { rows } = await session.query(`SELECT ${names} FROM key ORDER BY created_at, id`);
        return rows.map(postgres.record);
      }),
  };
}
