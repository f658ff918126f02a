/** The mark that `migrate` leaves in a file: what it holds has been moved, and is counted elsewhere from then on. */

import type { DatabaseSync } from 'node:sqlite';
import { toSecond } from '../../core/quota.ts';
import { read } from './open.ts';

/** Where everything is now, and since when. */
interface Moved {
  readonly target: string;
  readonly at: number;
}

/** Made only here: no other file has it, and a version that does not know it goes on without. Inside a transaction. */
export function markMoved(db: DatabaseSync, { target, at }: Moved): void {
  db.exec(
    'CREATE TABLE IF NOT EXISTS moved (at INTEGER NOT NULL, target TEXT NOT NULL) STRICT; DELETE FROM moved',
  );
  db.prepare('INSERT INTO moved (at, target) VALUES (?, ?)').run(at, target);
}

/** In words, for whoever opens it all the same; undefined where it was not moved. */
export function movedFrom(path: string): string | undefined {
  return read(path, db => {
    if (!db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'moved'").get()) return undefined;
    const row = db.prepare('SELECT at, target FROM moved').get();
    return row && `${path} was moved to ${row.target} on ${toSecond(Number(row.at))}`;
  });
}
