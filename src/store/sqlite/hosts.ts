/** What was learned about mail hosts in the embedded store: their guests, and how far the sweep came. */

import type { DatabaseSync } from 'node:sqlite';
import type { Act } from '../../core/audit.ts';
import { type Guest, LEARNING, MONTH_DAYS, type SeenListed, UPDATE_LAG_DAYS } from '../../core/guest.ts';
import type { Store, SweepMark } from '../../core/ports.ts';
import { daysBefore } from '../../core/quota.ts';
import { GUEST, LISTED_HOST, SWEEP, SWEEP_MARK } from '../columns.ts';
import { isGone, placesIn } from '../gone.ts';
import { GROUP_KEYS, GROUP_MEMBERS, GROUPED } from '../groups.ts';
import {
  establishedBy,
  IS_COUNTED,
  IS_SHARED,
  inTooMany,
  leastTelling,
  readFirst,
  returned,
} from '../guests.ts';
import { toBytes } from '../lines.ts';
import { goneBefore, rowsToRemove } from '../prune.ts';
import { upsert } from '../table.ts';
import { writeAct } from './audit.ts';
import { inChunks, inTransaction, removeInChunks } from './transaction.ts';

export type Hosts = ReturnType<typeof createHosts>;

/** Writes guests, each domain's at so many hosts. */
function guestWriter(db: DatabaseSync): (guests: readonly Guest[]) => void {
  const selectHost = db.prepare(`
    SELECT flagged, forgotten_at,
      EXISTS (SELECT 1 FROM guest WHERE host = name AND domain = ?2) AS known
    FROM host WHERE name = ?1`);
  const putGuest = db.prepare(`
    INSERT INTO guest (${GUEST.names}) VALUES (${GUEST.sqlite.places})
    ${returned((day, days) => `date(${day}, '+${days} day')`)}`);
  const countHosts = db.prepare('SELECT count(*) AS n FROM guest WHERE domain = ?');
  const leave = db.prepare(`DELETE FROM guest WHERE (host, domain) IN (${inTooMany('domain = ?')})`);

  /**
   * Whether it is there for the first time. Nothing of a host that an operator took out, and no more listed ones than tell
   * enough.
   */
  function take(guest: Guest): boolean {
    const row = selectHost.get(guest.host, guest.domain);
    if (row && row.forgotten_at !== null) return false;
    const isFull = guest.entry !== null && Number(row?.flagged ?? 0) >= LEARNING.mostGuests;
    if (row?.known !== 1 && isFull) return false;
    putGuest.run(...GUEST.sqlite.values(guest));
    return row?.known !== 1;
  }

  /** Found without the lock. */
  const hasTooMany = (domain: string) => Number(countHosts.get(domain)?.n) > LEARNING.mostHostsOfOne;

  return guests => {
    const came = new Set<string>();
    inChunks(db, guests, guest => void (take(guest) && came.add(guest.domain)));
    inChunks(db, [...came].filter(hasTooMany), domain => void leave.run(domain));
  };
}

export function createHosts(db: DatabaseSync) {
  const writeGuests = guestWriter(db);
  const shareAgain = db.prepare('UPDATE host SET shared_day = ?2 WHERE name = ?1 AND shared_day IS NOT NULL');
  const share = db.prepare(`
    INSERT INTO host (name, shared_day) VALUES (?1, ?2)
    ON CONFLICT DO UPDATE SET shared_day = excluded.shared_day`);

  const lastDay = db.prepare(`
    SELECT max(day) AS day FROM (
      SELECT max(day) AS day FROM guest WHERE day < ?1 UNION ALL SELECT max(shared_day) FROM host WHERE shared_day < ?1
    )`);

  return {
    /** Before which day guests are forgotten. */
    learn(...[guests, shared, day, sinceDay, listed = []]: Parameters<Store['learn']>): string {
      const gone = goneBefore(day, sinceDay, lastDay.get(day)?.day);
      writeGuests(guests);
      leaveAll(db, listed);
      let places = LEARNING.mostShared - sharedIn(db);
      inChunks(db, shared, name => {
        if (shareAgain.run(name, day).changes > 0 || places <= 0) return;
        share.run(name, day);
        places--;
      });
      return gone;
    },
    /** Whether some may be left. */
    forgetGuests: (gone: string, day: string): boolean => prune(db, gone, day),

    readHosts: (fewestFlagged: number, most: number) => listedHosts(db, fewestFlagged, most),

    sharedNames: (): string =>
      String(
        db.prepare(`SELECT group_concat(name, ' ') AS names FROM host WHERE ${IS_SHARED}`).get()!.names ?? '',
      ),

    established: (today: string): string =>
      String(db.prepare(establishedBy('?1')).get(daysBefore(today, MONTH_DAYS))!.lines ?? ''),

    forgetHost: (name: string, at: number | null, act: Act): boolean =>
      inTransaction(db, () => {
        const lifted = at === null ? ', shared_day = NULL' : '';
        const update = db.prepare(`UPDATE host SET forgotten_at = ?${lifted} WHERE name = ?`);
        const known = update.run(at, name).changes > 0;
        if (at !== null) db.prepare('DELETE FROM guest WHERE host = ?').run(name);
        if (known) writeAct(db, act);
        return known;
      }),

    lastGuestDay: (): string | null =>
      (db.prepare('SELECT max(day) AS day FROM guest').get()!.day as string | null) ?? null,
    ...sweepsOn(db),
  };
}

function sweepsOn(db: DatabaseSync) {
  return {
    sweepMark(): SweepMark | undefined {
      const row = db.prepare(`SELECT ${SWEEP_MARK.names} FROM sweep`).get();
      return row && SWEEP_MARK.sqlite.record(row);
    },
    markSweep(mark: SweepMark): void {
      const { places, values } = SWEEP.sqlite;
      db.prepare(upsert(SWEEP, places)).run(...values({ id: 1, ...mark }));
    },
  };
}

/** They are where they were seen, and no longer elsewhere. */
function leaveAll(db: DatabaseSync, listed: readonly SeenListed[]): void {
  const isThere = `instr(?6, ' ' || guest.host || ' ') > 0`;
  const gone = isGone({ registered: '?5', day: '?2', monthAgo: '?3', earnedBy: '?4', isThere });
  const leave = db.prepare(`UPDATE guest SET elsewhere_day = ?2 WHERE domain = ?1 AND ${gone}`);
  inChunks(db, listed, seen => {
    const { domain, registered, day } = seen;
    const before = [MONTH_DAYS, MONTH_DAYS + UPDATE_LAG_DAYS].map(days => daysBefore(day, days));
    leave.run(domain, day, ...before, registered, placesIn(seen));
  });
}

function sharedIn(db: DatabaseSync): number {
  return Number(db.prepare('SELECT count(*) AS n FROM host WHERE shared_day IS NOT NULL').get()?.n);
}

const FORGET =
  'DELETE FROM guest WHERE (host, domain) IN (SELECT host, domain FROM guest WHERE day < ? LIMIT ?)';

function prune(db: DatabaseSync, gone: string, day: string): boolean {
  if (removeInChunks(db, FORGET, gone)) return true;
  const outdated = db.prepare('SELECT name FROM host WHERE shared_day < ?').all(gone);
  const unshare = db.prepare('UPDATE host SET shared_day = NULL WHERE name = ?');
  inChunks(db, outdated, row => void unshare.run(String(row.name)));
  const present = Number(db.prepare('SELECT count(*) AS n FROM guest').get()?.n);
  removeGuests(db, rowsToRemove(present, LEARNING.mostGuestsInAll), daysBefore(day, MONTH_DAYS));
  return false;
}

function removeGuests(db: DatabaseSync, rows: number, monthAgo: string): void {
  if (rows <= 0) return;
  const remove = db.prepare('DELETE FROM guest WHERE host = ? AND domain = ?');
  // Found without the lock.
  const found = db.prepare(`${leastTelling('?1')} LIMIT ?2`).all(monthAgo, rows);
  inChunks(db, found, row => void remove.run(String(row.host), String(row.domain)));
}

/**
 * Reads every host: 15 ms for 60,000 of them (2026-11), once a minute; an index would cost more with each guest. Groups
 * are made only of the guests of hosts that are shown.
 */
function listedHosts(db: DatabaseSync, fewestFlagged: number, most: number): Uint8Array<ArrayBuffer> {
  const rows = db
    .prepare(`
      SELECT * FROM (SELECT name, flagged, innocent, last_day,
        shared_day IS NOT NULL AS shared, forgotten_at IS NOT NULL AS forgotten,
        (SELECT json_group_array(entry) FROM
          (SELECT entry FROM guest WHERE host = name AND entry IS NOT NULL LIMIT ${LEARNING.neighbours})) AS neighbours,
        (SELECT json_group_array(json_object(${GROUP_MEMBERS})) FROM
          (SELECT ${GROUPED} FROM guest WHERE host = name AND ${IS_COUNTED} GROUP BY ${GROUP_KEYS})) AS groups
      FROM host WHERE flagged >= ?1 OR forgotten_at IS NOT NULL
      ORDER BY ${readFirst('?1', '?2')} LIMIT ?2) ORDER BY flagged DESC, name`)
    .all(fewestFlagged, most);
  return toBytes(rows.map(LISTED_HOST.sqlite.record));
}
