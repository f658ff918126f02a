/** What was learned about mail hosts in the shared store: their guests, and how far the sweep came. */

import type { Act } from '../../core/audit.ts';
import {
  type Guest,
  type HostRecord,
  LEARNING,
  MONTH_DAYS,
  type SeenListed,
  UPDATE_LAG_DAYS,
} from '../../core/guest.ts';
import type { Store, SweepMark } from '../../core/ports.ts';
import { daysBefore } from '../../core/quota.ts';
import { GUEST, LISTED_HOST, SWEEP, SWEEP_MARK } from '../columns.ts';
import { isGone, placesIn } from '../gone.ts';
import { GROUP_KEYS, GROUP_MEMBERS, GROUPED } from '../groups.ts';
import {
  establishedBy,
  IS_COUNTED,
  IS_SHARED,
  inTooMany,
  leastTelling,
  readFirst,
  returned,
} from '../guests.ts';
import { goneBefore, rowsToRemove } from '../prune.ts';
import { upsert } from '../table.ts';
import { writeAct } from './audit.ts';
import { BACKGROUND_MS, type Connections } from './connect.ts';
import { arraysOf, givenRows } from './rows.ts';
import type { Session } from './session.ts';
import { CHUNK, inTurn, readIn, TURN } from './turn.ts';

export function createHosts(connections: Connections) {
  const { run } = connections;

  return {
    learn: (...[guests, shared, day, sinceDay, listed = []]: Parameters<Store['learn']>) =>
      run(async session => {
        const last = await session.query(LAST_DAY, [day]);
        const gone = goneBefore(day, sinceDay, last.rows[0]?.day);
        await writeGuests(session, guests);
        await inTurn(session, TURN.hosts, async () => {
          await leaveAll(session, listed);
          await session.query(SHARE, [shared, day, LEARNING.mostShared]);
          await prune(session, gone, day);
        });
      }, BACKGROUND_MS),

    ...readsOn(connections),

    forgetHost: (name: string, at: number | null, act: Act) =>
      run(
        session =>
          inTurn(session, TURN.hosts, async () => {
            const lifted = at === null ? ', shared_day = NULL' : '';
            const { count } = await session.query(
              `UPDATE host SET forgotten_at = $2${lifted} WHERE name = $1`,
              [name, at],
            );
            if (at !== null) await session.query('DELETE FROM guest WHERE host = $1', [name]);
            if (count === 1) await writeAct(session, act);
            return count === 1;
          }),
        BACKGROUND_MS,
      ),

    lastGuestDay: () =>
      run(async session => {
        const { rows } = await session.query('SELECT max(day) AS day FROM guest');
        return (rows[0]?.day ?? null) as string | null;
      }),
    ...sweepsOn(connections),
  };
}

/** What takes as long as the tables are full. */
function readsOn({ run }: Connections) {
  const read = (text: string, values: unknown[] = []) =>
    run(session => readIn(session, BACKGROUND_MS, text, values), BACKGROUND_MS);

  const readHosts = async (fewestFlagged: number, most: number): Promise<Iterable<HostRecord>> => {
    const rows = await read(LIST, [fewestFlagged, most]);
    return { [Symbol.iterator]: () => rows.values().map(LISTED_HOST.postgres.record) };
  };

  return {
    listHosts: async (fewestFlagged: number, most: number) => [...(await readHosts(fewestFlagged, most))],
    readHosts,

    async sharedNames() {
      const [row] = await read(`SELECT string_agg(name, ' ') AS names FROM host WHERE ${IS_SHARED}`);
      return String(row?.names ?? '');
    },

    async established(today: string) {
      const [row] = await read(establishedBy('$1'), [daysBefore(today, MONTH_DAYS)]);
      return String(row?.lines ?? '');
    },
  };
}

function sweepsOn({ run }: Connections) {
  return {
    sweepMark: () =>
      run(async (session): Promise<SweepMark | undefined> => {
        const { rows } = await session.query(`SELECT ${SWEEP_MARK.names} FROM sweep`);
        return rows.map(SWEEP_MARK.postgres.record)[0];
      }),
    markSweep: (mark: SweepMark) =>
      run(async session => {
        const { places, values } = SWEEP.postgres;
        await session.query(upsert(SWEEP, places()), values({ id: 1, ...mark }));
      }),
  };
}

const LAST_DAY = `
  SELECT greatest((SELECT max(day) FROM guest WHERE day < $1), (SELECT max(shared_day) FROM host WHERE shared_day < $1)) AS day`;

/** Forgets what is out of its time, and what stands beyond the bound. */
async function prune(session: Session, gone: string, day: string): Promise<void> {
  await session.query('DELETE FROM guest WHERE day < $1', [gone]);
  await session.query('UPDATE host SET shared_day = NULL WHERE shared_day < $1', [gone]);
  const { rows } = await session.query('SELECT count(*) AS n FROM guest');
  const excess = rowsToRemove(Number(rows[0]?.n), LEARNING.mostGuestsInAll);
  if (excess > 0)
    await session.query(removing(`${leastTelling('$1')} LIMIT $2`), [daysBefore(day, MONTH_DAYS), excess]);
}

/** Of several listed names below a suffix the one that is there. */
const IS_KNOWN = `given.registered IS NOT NULL AND EXISTS (
  SELECT 1 FROM guest
  WHERE guest.host = given.host AND guest.domain = given.domain AND guest.registered = given.registered)`;

/** Nothing of a host that an operator took out, and no more listed ones than tell enough (the last parameter). */
const TAKE = `
  WITH given AS (
    ${givenRows(GUEST, IS_KNOWN)}
  ), placed AS (
    SELECT given.*, guest.host IS NOT NULL AS known, forgotten_at,
      coalesce(flagged, 0) + row_number() OVER (
        PARTITION BY given.host, given.entry IS NULL, guest.host IS NULL ORDER BY given.domain) AS place
    FROM given
    LEFT JOIN host ON host.name = given.host
    LEFT JOIN guest ON guest.host = given.host AND guest.domain = given.domain
  )
  INSERT INTO guest (${GUEST.names})
  SELECT ${GUEST.names} FROM placed WHERE forgotten_at IS NULL AND (known OR entry IS NULL OR place <= $${GUEST.columns.length + 1})
  ${returned((day, days) => `to_char(${day}::date + ${days}, 'YYYY-MM-DD')`)}`;

const GO = `
  UPDATE guest SET elsewhere_day = seen.day
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[])
    AS seen (domain, registered, day, places, month_ago, earned_by)
  WHERE guest.domain = seen.domain AND ${isGone({
    ...{ registered: 'seen.registered', day: 'seen.day', monthAgo: 'seen.month_ago' },
    ...{ earnedBy: 'seen.earned_by', isThere: `strpos(seen.places, ' ' || guest.host || ' ') > 0` },
  })}`;

/** Those that are shared already first: they take no place, and in a full table they were forgotten on day 91 (2026-11-18). */
const SHARE = `
  WITH given AS (
    SELECT DISTINCT name FROM unnest($1::text[]) AS name
  ), again AS (
    UPDATE host SET shared_day = $2 FROM given
    WHERE host.name = given.name AND shared_day IS NOT NULL
    RETURNING host.name
  )
  INSERT INTO host (name, shared_day)
  SELECT name, $2 FROM given WHERE name NOT IN (SELECT name FROM again)
  LIMIT greatest(0, $3 - (SELECT count(*) FROM host WHERE shared_day IS NOT NULL))
  ON CONFLICT (name) DO UPDATE SET shared_day = excluded.shared_day`;

const removing = (going: string) => `
  DELETE FROM guest USING (${going}) AS least
  WHERE guest.host = least.host AND guest.domain = least.domain`;

const LIST = `
  SELECT * FROM (SELECT name, flagged, innocent, last_day, shared_day IS NOT NULL AS shared, forgotten_at IS NOT NULL AS forgotten,
    ARRAY(SELECT entry FROM guest WHERE host = name AND entry IS NOT NULL ORDER BY domain LIMIT ${LEARNING.neighbours}) AS neighbours,
    (SELECT coalesce(json_agg(json_build_object(${GROUP_MEMBERS})), '[]') FROM
      (SELECT ${GROUPED} FROM guest WHERE guest.host = host.name AND ${IS_COUNTED} GROUP BY ${GROUP_KEYS}) AS grouped) AS groups
  FROM host WHERE flagged >= $1 OR forgotten_at IS NOT NULL
  ORDER BY ${readFirst('$1', '$2')} LIMIT $2) AS listed ORDER BY flagged DESC, name`;

async function writeGuests(session: Session, guests: readonly Guest[]): Promise<void> {
  for (let i = 0; i < guests.length; i += CHUNK) {
    const some = guests.slice(i, i + CHUNK);
    const domains = [...new Set(some.map(({ domain }) => domain))];
    await inTurn(session, TURN.hosts, async () => {
      await session.query(TAKE, [...arraysOf(GUEST, some), LEARNING.mostGuests]);
      await session.query(removing(inTooMany('domain = ANY($1)')), [domains]);
    });
  }
}

/** They are where they were seen, and no longer elsewhere. */
async function leaveAll(session: Session, listed: readonly SeenListed[]): Promise<void> {
  const [domains, names] = [listed.map(({ domain }) => domain), listed.map(({ registered }) => registered)];
  const days = listed.map(seen => seen.day);
  const before = (count: number) => days.map(one => daysBefore(one, count));
  const monthsAgo = [before(MONTH_DAYS), before(MONTH_DAYS + UPDATE_LAG_DAYS)];
  await session.query(GO, [domains, names, days, listed.map(placesIn), ...monthsAgo]);
}
