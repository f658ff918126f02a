/** `restore`: takes over everything of a backup into the embedded store, in one step and while serving. */

import type { DatabaseSync } from 'node:sqlite';
import type { Act } from '../../core/audit.ts';
import { RESTORE_AUDIT } from './audit.ts';
import { RESTORE_HOSTS } from './hosts.ts';
import { RESTORE_KEYS } from './keys.ts';
import type { Revisions } from './revision.ts';
import { RESTORE_SNAPSHOTS } from './snapshots.ts';

/** Counts are never lowered. */
const RESTORE_USAGE = `
  INSERT INTO usage (key_id, month, used) SELECT key_id, month, used FROM backup.usage WHERE true
    ON CONFLICT DO UPDATE SET used = max(used, excluded.used);
  INSERT INTO usage_day (key_id, day, used) SELECT key_id, day, used FROM backup.usage_day WHERE true
    ON CONFLICT DO UPDATE SET used = max(used, excluded.used);`;

const RESTORE = `
  ${RESTORE_KEYS}
  ${RESTORE_USAGE}
  DELETE FROM override;
  INSERT INTO override SELECT * FROM backup.override;
  DELETE FROM flag;
  INSERT INTO flag SELECT * FROM backup.flag;
  ${RESTORE_HOSTS}
  ${RESTORE_SNAPSHOTS}
  ${RESTORE_AUDIT}`;

export type Restore = ReturnType<typeof createRestore>;

export function createRestore(db: DatabaseSync, { change }: Revisions) {
  return {
    restore(path: string, act: Act): void {
      db.prepare('ATTACH ? AS backup').run(path);
      try {
        change(act, () => {
          db.exec(RESTORE);
          return true;
        });
      } finally {
        db.exec('DETACH backup');
      }
    },
  };
}
