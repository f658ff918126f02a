/** Calls by minute and hour, in the shared store: every server adds to the same rows. */

import { dayBefore, forgottenBefore } from '../../core/forgetting.ts';
import { COUNTS, KEPT, LATENCIES, type TrafficSlot } from '../../core/traffic.ts';
import { TRAFFIC } from '../columns.ts';
import { added } from '../table.ts';
import type { Connections } from './connect.ts';
import { SCHEMA } from './session.ts';

const { names, postgres } = TRAFFIC;

export const TRAFFIC_TABLE = `CREATE TABLE ${SCHEMA}.traffic (
  span bigint NOT NULL,
  at bigint NOT NULL,
  ${[...COUNTS, ...LATENCIES].map(name => `${name} bigint NOT NULL`).join(', ')},
  PRIMARY KEY (span, at)
)`;

export function createTraffic({ run }: Connections) {
  return {
    /** In one statement, and all servers in the same order, so that none waits for the other's. */
    addTraffic: (slots: readonly TrafficSlot[], now: number) =>
      run(async session => {
        const places = slots.map((_, at) => postgres.places(at * TRAFFIC.columns.length)).join('), (');
        await session.query(added(TRAFFIC, places), slots.flatMap(postgres.values));
        const { rows } = await session.query('SELECT max(at) AS previous FROM traffic WHERE at < $1', [
          dayBefore(now),
        ]);
        const previous = rows[0]?.previous == null ? null : Number(rows[0].previous);
        for (const { span, forMs } of KEPT)
          await session.query('DELETE FROM traffic WHERE span = $1 AND at < $2', [
            span,
            forgottenBefore(now, forMs, previous),
          ]);
      }),
    traffic: (span: number, from: number) =>
      run(async (session): Promise<TrafficSlot[]> => {
        const { rows } = await session.query(
          `SELECT ${names} FROM traffic WHERE span = $1 AND at >= $2 ORDER BY at`,
          [span, from],
        );
        return rows.map(postgres.record);
      }),
  };
}
