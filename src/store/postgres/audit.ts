/** The audit in the shared store. */

import type { ClientBase } from 'pg';
import { type Act, MOST_ACTS } from '../../core/audit.ts';
import { type Connections, LISTING_MS } from './connect.ts';

/** Inside the transaction of the change that it tells of. */
export async function writeAct(client: ClientBase, act: Act): Promise<void> {
  const { at, who, via, action, subject, detail } = act;
  await client.query(
    'INSERT INTO audit (at, who, via, action, subject, detail) VALUES ($1, $2, $3, $4, $5, $6)',
    [at, who, via, action, subject, detail],
  );
  await client.query(
    'DELETE FROM audit WHERE id IN (SELECT id FROM audit ORDER BY at DESC, id DESC OFFSET $1)',
    [MOST_ACTS],
  );
}

export function createAudit({ run }: Connections) {
  return {
    audit: (most: number) =>
      run(async client => {
        const { rows } = await client.query<Act>(
          'SELECT at, who, via, action, subject, detail FROM audit ORDER BY at DESC, id DESC LIMIT $1',
          [most],
        );
        return rows;
      }, LISTING_MS),
  };
}
