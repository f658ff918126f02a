/** The key that filters are signed with, in the embedded store. */

import type { DatabaseSync } from 'node:sqlite';
import { SIGNING } from '../columns.ts';

export type Signing = ReturnType<typeof createSigning>;

export function createSigning(db: DatabaseSync) {
  return {
    signingKey(candidate: string): string {
      db.prepare('INSERT INTO signing (id, secret) VALUES (1, ?) ON CONFLICT DO NOTHING').run(candidate);
      return String(db.prepare('SELECT secret FROM signing').get()?.secret);
    },
  };
}

/** For `restore`: the one in use stays, since clients know its other half. */
export const RESTORE_SIGNING = `
  INSERT INTO signing (${SIGNING.names}) SELECT ${SIGNING.names} FROM backup.signing WHERE true
    ON CONFLICT DO NOTHING;`;
