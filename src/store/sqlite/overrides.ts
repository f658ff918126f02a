/** The operator's overrides in the embedded store. */

import type { DatabaseSync } from 'node:sqlite';
import type { Act } from '../../core/audit.ts';
import { actOver, type ChangedOverrides, type Override } from '../../core/override.ts';
import { CHANGES_KEPT } from '../changed-overrides.ts';
import { OVERRIDE } from '../columns.ts';
import { upsert } from '../table.ts';
import { writeAct } from './audit.ts';
import { FORGET_CHANGES } from './override-mark.ts';
import type { Revisions } from './revision.ts';

/**
 * Rows, written as JSON by SQLite itself: of 100,000 that takes the thread, for which calls wait that need their key read,
 * a sixth of the time (2026-11-17).
 */
const LINES = `SELECT group_concat(json_object(
    ${OVERRIDE.columns.map(({ name }) => `'${name}', ${name}`).join(', ')}), char(10) ORDER BY domain) AS lines FROM override`;

const CHANGED = `
  SELECT changed, ${OVERRIDE.names} FROM (SELECT DISTINCT domain AS changed FROM override_change WHERE id >= ?)
  LEFT JOIN override ON domain = changed`;

export type Overrides = ReturnType<typeof createOverrides>;

export function createOverrides(db: DatabaseSync, { revision, change, together }: Revisions) {
  const markNow = () => String(db.prepare('SELECT value FROM override_mark').get()?.value ?? '');
  const changeOne = (domain: string, act: Act, work: () => boolean) => {
    let was: Override | undefined;
    return change(
      () => actOver(was, act),
      () => {
        const row = db.prepare(`SELECT ${OVERRIDE.names} FROM override WHERE domain = ?`).get(domain);
        was = row && OVERRIDE.sqlite.record(row);
        const changed = work();
        db.exec(FORGET_CHANGES);
        return changed;
      },
    );
  };
  return {
    setOverride: (override: Override, act: Act) =>
      void changeOne(override.domain, act, () => {
        const { places, values } = OVERRIDE.sqlite;
        db.prepare(upsert(OVERRIDE, places)).run(...values(override));
        return true;
      }),
    setOverrides: (overrides: readonly Override[], was: string, act: Act, more: readonly Act[]) =>
      change(act, () => {
        if (markNow() !== was) return false;
        for (const one of more) writeAct(db, one);
        const { places, values } = OVERRIDE.sqlite;
        const set = db.prepare(upsert(OVERRIDE, places));
        for (const override of overrides) set.run(...values(override));
        db.exec(FORGET_CHANGES);
        return true;
      }),
    removeOverride: (domain: string, act: Act) =>
      changeOne(
        domain,
        act,
        () => db.prepare('DELETE FROM override WHERE domain = ?').run(domain).changes === 1,
      ),
    /** As lines: revision and mark, and then the overrides, unless they are those of the mark that is known. */
    readOverrides: (known: string | undefined): Uint8Array<ArrayBuffer> =>
      together(() => {
        const mark = markNow();
        const head = JSON.stringify({ revision: revision(), mark });
        const lines = mark === known ? null : db.prepare(LINES).get()!.lines;
        return new TextEncoder().encode(lines === null ? `${head}\n` : `${head}\n${lines}\n`);
      }),
    changedOverrides: (known: string) => together(() => changedSince(db, known, markNow(), revision())),
  };
}

function changedSince(
  db: DatabaseSync,
  known: string,
  mark: string,
  revision: number,
): ChangedOverrides | undefined {
  const since = db.prepare('SELECT min(id) AS id FROM override_change WHERE was = ?').get(known)?.id ?? null;
  const { last } = db.prepare('SELECT max(id) AS last FROM override_change').get()!;
  // An earlier version forgets none.
  const isKnown = since === null ? mark === known : Number(last) - Number(since) < CHANGES_KEPT;
  if (!isKnown) return undefined;
  const rows = since === null ? [] : db.prepare(CHANGED).all(since);
  return {
    ...{ revision, mark },
    overrides: rows.filter(({ domain }) => domain !== null).map(OVERRIDE.sqlite.record),
    gone: rows.filter(({ domain }) => domain === null).map(({ changed }) => String(changed)),
  };
}
