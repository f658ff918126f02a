/** The operator's overrides in the embedded store. */

import type { DatabaseSync } from 'node:sqlite';
import type { Act } from '../../core/audit.ts';
import type { Override } from '../../core/override.ts';
import { OVERRIDE } from '../columns.ts';
import { upsert } from '../table.ts';
import { writeAct } from './audit.ts';
import type { Revisions } from './revision.ts';

export type Overrides = ReturnType<typeof createOverrides>;

export function createOverrides(db: DatabaseSync, { revision, change, together }: Revisions) {
  return {
    setOverride: (override: Override, act: Act) =>
      void change(act, () => {
        const { places, values } = OVERRIDE.sqlite;
        db.prepare(upsert(OVERRIDE, places)).run(...values(override));
        return true;
      }),
    setOverrides: (overrides: readonly Override[], act: Act, more: readonly Act[]) =>
      void change(act, () => {
        for (const one of more) writeAct(db, one);
        const { places, values } = OVERRIDE.sqlite;
        const set = db.prepare(upsert(OVERRIDE, places));
        for (const override of overrides) set.run(...values(override));
        return true;
      }),
    removeOverride: (domain: string, act: Act) =>
      change(act, () => db.prepare('DELETE FROM override WHERE domain = ?').run(domain).changes === 1),
    listOverrides: () =>
      together(() => ({
        overrides: db
          .prepare(`SELECT ${OVERRIDE.names} FROM override ORDER BY domain`)
          .all()
          .map(OVERRIDE.sqlite.record),
        revision: revision(),
      })),
  };
}
