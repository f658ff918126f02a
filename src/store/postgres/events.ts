/** Events that were raised, in the shared store. */

import type { RaisedEvent } from '../../core/event.ts';
import { EVENT } from '../columns.ts';
import type { Connections } from './connect.ts';
import { SCHEMA } from './session.ts';

export const EVENT_TABLE = `CREATE TABLE ${SCHEMA}.event (
    id text COLLATE "C" PRIMARY KEY,
    kind text NOT NULL,
    subject text NOT NULL,
    at bigint NOT NULL
  )`;

export function createEvents({ run }: Connections) {
  const { names, postgres } = EVENT;
  return {
    raiseEvent: (event: RaisedEvent, since: number) =>
      run(async session => {
        const known = await session.query('SELECT 1 FROM event WHERE id = $1 AND at >= $2', [
          event.id,
          since,
        ]);
        if (known.count > 0) return false;
        await session.query('DELETE FROM event WHERE at < $1', [since]);
        const put = `INSERT INTO event (${names}) VALUES (${postgres.places()}) ON CONFLICT DO NOTHING`;
        return (await session.query(put, postgres.values(event))).count === 1;
      }),
  };
}
