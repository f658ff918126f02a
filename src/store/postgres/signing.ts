/** The key that filters are signed with, in the shared store. */

import type { Connections } from './connect.ts';

export function createSigning({ run }: Connections) {
  return {
    signingKey: (candidate: string) =>
      run(async session => {
        await session.query('INSERT INTO signing (id, secret) VALUES (1, $1) ON CONFLICT DO NOTHING', [
          candidate,
        ]);
        return String((await session.query('SELECT secret FROM signing')).rows[0]?.secret);
      }),
  };
}
