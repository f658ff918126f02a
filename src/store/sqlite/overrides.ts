/** The operator's overrides in the embedded store. */

import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import type { Act } from '../../core/audit.ts';
import type { Override, OverrideAction } from '../../core/override.ts';
import type { Revisions } from './revision.ts';

export type Overrides = ReturnType<typeof createOverrides>;

export function createOverrides(db: DatabaseSync, { revision, change, together }: Revisions) {
  return {
    setOverride: (o: Override, act: Act) =>
      void change(act, () => {
        db.prepare(
          'INSERT OR REPLACE INTO override (domain, action, below, note, author, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
        ).run(o.domain, o.action, Number(o.below), o.note, o.author, o.createdAt, o.expiresAt);
        return true;
      }),
    removeOverride: (domain: string, act: Act) =>
      change(act, () => db.prepare('DELETE FROM override WHERE domain = ?').run(domain).changes === 1),
    listOverrides: () =>
      together(() => ({
        overrides: db.prepare('SELECT * FROM override ORDER BY domain').all().map(overrideFrom),
        revision: revision(),
      })),
  };
}

function overrideFrom(row: Record<string, SQLOutputValue>): Override {
  return {
    domain: String(row.domain),
    action: row.action as OverrideAction,
    below: row.below === 1,
    note: row.note === null ? null : String(row.note),
    author: row.author === null ? null : String(row.author),
    createdAt: Number(row.created_at),
    expiresAt: row.expires_at === null ? null : Number(row.expires_at),
  };
}
