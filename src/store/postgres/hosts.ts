/** What was learned about mail hosts in the shared store: their guests, and how far the sweep came. */

import type { ClientBase } from 'pg';
import type { Act } from '../../core/audit.ts';
import { type Guest, type HostRecord, LEARNING } from '../../core/guest.ts';
import type { SweepMark } from '../../core/ports.ts';
import { writeAct } from './audit.ts';
import { BACKGROUND_MS, type Connections, LISTING_MS } from './connect.ts';
import { CHUNK, inTurn, TURN } from './turn.ts';

/** Guests of all hosts together; the first to go are the longest unseen of hosts that have no listed guest. */
const MOST_GUESTS = 200_000;
/** Hosts that are only remembered because they must not be learned. */
const MOST_SHARED = 20_000;
/** How many listed neighbours are shown of a host. */
const NEIGHBOURS = 3;

export function createHosts(connections: Connections) {
  const { run } = connections;

  async function prune(client: ClientBase, sinceDay: string): Promise<void> {
    await client.query('DELETE FROM guest WHERE day < $1', [sinceDay]);
    await client.query('UPDATE host SET shared_day = NULL WHERE shared_day < $1', [sinceDay]);
    const { rows } = await client.query('SELECT count(*) AS n FROM guest');
    const excess = Number(rows[0]?.n) - MOST_GUESTS;
    // The margin keeps a flood of names from paying for this scan with every flush.
    if (excess > 0) await client.query(REMOVE_GUESTS, [excess + MOST_GUESTS / 20]);
  }

  return {
    learn: (guests: readonly Guest[], shared: readonly string[], day: string, sinceDay: string) =>
      run(async client => {
        for (let i = 0; i < guests.length; i += CHUNK) {
          const values = guestValues(guests.slice(i, i + CHUNK));
          await inTurn(client, TURN.hosts, () => client.query(TAKE, [...values, LEARNING.mostGuests]));
        }
        await inTurn(client, TURN.hosts, async () => {
          await client.query(SHARE, [shared, day, MOST_SHARED]);
          await prune(client, sinceDay);
        });
      }, BACKGROUND_MS),

    listHosts: (fewestFlagged: number, most: number): Promise<HostRecord[]> =>
      run(async client => {
        const { rows } = await client.query(LIST, [fewestFlagged, most]);
        return rows.map(({ last_day: lastDay, ...row }) => ({ ...row, lastDay }));
      }, LISTING_MS),

    forgetHost: (name: string, at: number | null, act: Act) =>
      run(
        client =>
          inTurn(client, TURN.hosts, async () => {
            const { rowCount } = await client.query('UPDATE host SET forgotten_at = $2 WHERE name = $1', [
              name,
              at,
            ]);
            if (at !== null) await client.query('DELETE FROM guest WHERE host = $1', [name]);
            if (rowCount === 1) await writeAct(client, act);
            return rowCount === 1;
          }),
        BACKGROUND_MS,
      ),

    sweepMark: () =>
      run(async (client): Promise<SweepMark | undefined> => {
        const { rows } = await client.query('SELECT generation, last, ended_at AS "endedAt" FROM sweep');
        return rows[0];
      }),
    markSweep: ({ generation, last, endedAt }: SweepMark) =>
      run(async client => {
        await client.query(
          `INSERT INTO sweep (id, generation, last, ended_at) VALUES (1, $1, $2, $3)
          ON CONFLICT (id) DO UPDATE SET (generation, last, ended_at) =
            (excluded.generation, excluded.last, excluded.ended_at)`,
          [generation, last, endedAt],
        );
      }),
  };
}

/** Nothing of a host that an operator took out, and no more of one kind than tell enough ($5). */
const TAKE = `
  WITH given AS (
    SELECT DISTINCT ON (host, domain) host, domain, entry, day
    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) WITH ORDINALITY AS g (host, domain, entry, day, n)
    ORDER BY host, domain, n DESC
  ), placed AS (
    SELECT given.*, guest.host IS NOT NULL AS known, forgotten_at,
      coalesce(CASE WHEN given.entry IS NULL THEN innocent ELSE flagged END, 0) + row_number() OVER (
        PARTITION BY given.host, given.entry IS NULL, guest.host IS NULL ORDER BY given.domain) AS place
    FROM given
    LEFT JOIN host ON host.name = given.host
    LEFT JOIN guest ON guest.host = given.host AND guest.domain = given.domain
  )
  INSERT INTO guest (host, domain, entry, day)
  SELECT host, domain, entry, day FROM placed WHERE forgotten_at IS NULL AND (known OR place <= $5)
  ON CONFLICT (host, domain) DO UPDATE SET entry = excluded.entry, day = excluded.day
    WHERE guest.entry IS DISTINCT FROM excluded.entry OR guest.day <> excluded.day`;

const SHARE = `
  INSERT INTO host (name, shared_day)
  SELECT DISTINCT name, $2 FROM unnest($1::text[]) AS name
  LIMIT greatest(0, $3 - (SELECT count(*) FROM host WHERE shared_day IS NOT NULL))
  ON CONFLICT (name) DO UPDATE SET shared_day = excluded.shared_day`;

const REMOVE_GUESTS = `
  DELETE FROM guest USING (
    SELECT guest.host, guest.domain FROM guest JOIN host ON host.name = guest.host
    ORDER BY host.flagged > 0, guest.day LIMIT $1
  ) AS least
  WHERE guest.host = least.host AND guest.domain = least.domain`;

const LIST = `
  SELECT name, flagged, innocent, last_day, shared_day IS NOT NULL AS shared, forgotten_at IS NOT NULL AS forgotten,
    ARRAY(SELECT entry FROM guest WHERE host = name AND entry IS NOT NULL ORDER BY domain LIMIT ${NEIGHBOURS}) AS neighbours
  FROM host WHERE flagged >= $1 OR forgotten_at IS NOT NULL
  ORDER BY flagged DESC, name LIMIT $2`;

function guestValues(guests: readonly Guest[]): unknown[] {
  return [
    guests.map(guest => guest.host),
    guests.map(guest => guest.domain),
    guests.map(guest => guest.entry),
    guests.map(guest => guest.day),
  ];
}
