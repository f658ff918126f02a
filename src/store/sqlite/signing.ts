/** The key that filters are signed with, in the embedded store. */

import type { DatabaseSync } from 'node:sqlite';

export type Signing = ReturnType<typeof createSigning>;

export function createSigning(db: DatabaseSync) {
  return {
    signingKey(candidate: string): string {
      db.prepare('INSERT INTO signing (id, secret) VALUES (1, ?) ON CONFLICT DO NOTHING').run(candidate);
      return String(db.prepare('SELECT secret FROM signing').get()?.secret);
    },
  };
}
