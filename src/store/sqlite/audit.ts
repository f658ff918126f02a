/** The audit in the embedded store. */

import type { DatabaseSync } from 'node:sqlite';
import { type Act, type Action, MOST_ACTS } from '../../core/audit.ts';

/** Inside the transaction of the change that it tells of. */
export function writeAct(db: DatabaseSync, { at, who, via, action, subject, detail }: Act): void {
  db.prepare('INSERT INTO audit (at, who, via, action, subject, detail) VALUES (?, ?, ?, ?, ?, ?)').run(
    at,
    who,
    via,
    action,
    subject,
    detail,
  );
  db.prepare(
    'DELETE FROM audit WHERE id IN (SELECT id FROM audit ORDER BY at DESC, id DESC LIMIT -1 OFFSET ?)',
  ).run(MOST_ACTS);
}

export type Audit = ReturnType<typeof createAudit>;

export function createAudit(db: DatabaseSync) {
  return {
    audit: (most: number): Act[] =>
      db
        .prepare('SELECT at, who, via, action, subject, detail FROM audit ORDER BY at DESC, id DESC LIMIT ?')
        .all(most)
        .map(row => ({
          at: Number(row.at),
          who: String(row.who),
          via: String(row.via),
          action: row.action as Action,
          subject: String(row.subject),
          detail: row.detail === null ? null : String(row.detail),
        })),
  };
}

/** For `restore`: what happened has happened, so nothing is taken away and what only the backup knows is added. */
export const RESTORE_AUDIT = `
  INSERT INTO audit (at, who, via, action, subject, detail)
    SELECT at, who, via, action, subject, detail FROM backup.audit AS old
    WHERE NOT EXISTS (
      SELECT 1 FROM audit WHERE audit.at = old.at AND audit.action = old.action AND audit.subject = old.subject)
    ORDER BY old.id;`;
