/** The tables of the embedded store, as steps that each run once. */

import type { DatabaseSync } from 'node:sqlite';
import { TABLES } from '../columns.ts';
import { additionsTo } from '../table.ts';
import { DECISION_TABLE } from './decisions.ts';
import { EVENT_TABLE } from './events.ts';
import { KEY_INDEXES } from './key-names.ts';
import { LIST_TABLES } from './list-tables.ts';
import { VERDICT_DAY_TABLE } from './mix.ts';
import { OPERATOR_TABLE } from './operators.ts';
import { OVERRIDE_MARK_TABLES } from './override-mark.ts';
import { TRAFFIC_TABLE } from './traffic.ts';

/** Marks a file as ours ("DRSK"), so that another program's database is never written to. */
export const APPLICATION_ID = 0x4452534b;

/** Step n brings a database from version n to n + 1. Steps are only ever added. */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE revision (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    value INTEGER NOT NULL
  ) STRICT;
  INSERT INTO revision VALUES (1, 1);

  CREATE TABLE key (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    digest TEXT NOT NULL UNIQUE,
    prefix TEXT NOT NULL,
    last4 TEXT NOT NULL,
    previous_digest TEXT UNIQUE,
    previous_until INTEGER,
    quota INTEGER CHECK (quota BETWEEN 0 AND 2147483648),
    rate INTEGER CHECK (rate > 0),
    origins TEXT NOT NULL,
    networks TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER
  ) STRICT;

  CREATE TABLE usage (
    key_id TEXT NOT NULL REFERENCES key (id),
    month TEXT NOT NULL,
    used INTEGER NOT NULL CHECK (used >= 0),
    PRIMARY KEY (key_id, month)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE override (
    domain TEXT PRIMARY KEY,
    action TEXT NOT NULL CHECK (action IN ('allow', 'deny', 'role')),
    below INTEGER NOT NULL,
    note TEXT,
    author TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE flag (
    day TEXT NOT NULL,
    domain TEXT NOT NULL,
    key_id TEXT NOT NULL,
    listed INTEGER NOT NULL,
    reason TEXT NOT NULL,
    score INTEGER NOT NULL,
    PRIMARY KEY (domain, day, key_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX flag_by_day ON flag (day);
  `,
  // The counts of a host follow its guests by triggers: whoever adds or removes guests cannot forget them.
  `
  CREATE TABLE host (
    name TEXT PRIMARY KEY,
    flagged INTEGER NOT NULL DEFAULT 0,
    innocent INTEGER NOT NULL DEFAULT 0,
    last_day TEXT,
    shared_day TEXT,
    forgotten_at INTEGER
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX host_by_shared ON host (shared_day) WHERE shared_day IS NOT NULL;

  CREATE TABLE guest (
    host TEXT NOT NULL,
    domain TEXT NOT NULL,
    entry TEXT,
    day TEXT NOT NULL,
    PRIMARY KEY (host, domain)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX guest_by_day ON guest (day);

  CREATE TRIGGER guest_came AFTER INSERT ON guest BEGIN
    INSERT INTO host (name, flagged, innocent, last_day)
      VALUES (new.host, new.entry IS NOT NULL, new.entry IS NULL, new.day)
    ON CONFLICT DO UPDATE SET
      flagged = flagged + excluded.flagged,
      innocent = innocent + excluded.innocent,
      last_day = max(coalesce(last_day, ''), excluded.last_day);
  END;
  CREATE TRIGGER guest_returned AFTER UPDATE ON guest BEGIN
    UPDATE host SET
      flagged = flagged + (new.entry IS NOT NULL) - (old.entry IS NOT NULL),
      innocent = innocent + (new.entry IS NULL) - (old.entry IS NULL),
      last_day = max(last_day, new.day)
    WHERE name = new.host;
  END;
  CREATE TRIGGER guest_went AFTER DELETE ON guest BEGIN
    UPDATE host SET flagged = flagged - (old.entry IS NOT NULL), innocent = innocent - (old.entry IS NULL)
    WHERE name = old.host;
  END;
  CREATE TRIGGER host_emptied AFTER UPDATE ON host
  WHEN new.flagged = 0 AND new.innocent = 0 AND new.shared_day IS NULL AND new.forgotten_at IS NULL BEGIN
    DELETE FROM host WHERE name = new.name;
  END;

  CREATE TABLE sweep (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    generation TEXT NOT NULL,
    last TEXT NOT NULL,
    ended_at INTEGER
  ) STRICT;
  `,
  `
  CREATE TABLE usage_day (
    key_id TEXT NOT NULL REFERENCES key (id),
    day TEXT NOT NULL,
    used INTEGER NOT NULL CHECK (used >= 0),
    PRIMARY KEY (key_id, day)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX usage_day_by_day ON usage_day (day);

  CREATE TABLE audit (
    id INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    who TEXT NOT NULL,
    via TEXT NOT NULL,
    action TEXT NOT NULL,
    subject TEXT NOT NULL,
    detail TEXT
  ) STRICT;
  CREATE INDEX audit_by_time ON audit (at);

  CREATE TABLE snapshot (
    feed TEXT PRIMARY KEY,
    version TEXT NOT NULL,
    digest TEXT NOT NULL,
    names INTEGER NOT NULL,
    accepted_at INTEGER NOT NULL,
    body TEXT NOT NULL
  ) STRICT;
  `,
];

/**
 * Added where they are missing, as later columns are, with an index: the version before does not miss them, and can take
 * over again.
 */
const LATER_TABLES: Readonly<Record<string, string>> = {
  server: `CREATE TABLE server (
    id TEXT PRIMARY KEY,
    version TEXT NOT NULL,
    host TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    seen_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
  signing: `CREATE TABLE signing (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    secret TEXT NOT NULL
  ) STRICT`,
  lease: `CREATE TABLE lease (
    name TEXT PRIMARY KEY,
    holder TEXT,
    until INTEGER NOT NULL,
    due_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
  feed_check: `CREATE TABLE feed_check (
    feed TEXT PRIMARY KEY,
    tried_at INTEGER NOT NULL,
    checked_at INTEGER,
    added INTEGER NOT NULL,
    removed INTEGER NOT NULL,
    problem TEXT
  ) STRICT, WITHOUT ROWID`,
  past_snapshot: `CREATE TABLE past_snapshot (
    feed TEXT NOT NULL,
    version TEXT NOT NULL,
    digest TEXT NOT NULL,
    names INTEGER NOT NULL,
    accepted_at INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (feed, accepted_at)
  ) STRICT`,
  operator: OPERATOR_TABLE,
  listing_change: `CREATE TABLE listing_change (
    id INTEGER PRIMARY KEY,
    domain TEXT NOT NULL,
    change TEXT NOT NULL,
    at INTEGER NOT NULL,
    feeds TEXT NOT NULL
  ) STRICT;
  CREATE INDEX listing_change_by_time ON listing_change (at)`,
  traffic: TRAFFIC_TABLE,
  decision: DECISION_TABLE,
  event: EVENT_TABLE,
  ...LIST_TABLES,
  verdict_day: VERDICT_DAY_TABLE,
  ...OVERRIDE_MARK_TABLES,
  ...KEY_INDEXES,
  guest_by_domain: 'CREATE INDEX guest_by_domain ON guest (domain)',
};

const columnsIn = (db: DatabaseSync, table: string) =>
  db
    .prepare('SELECT name FROM pragma_table_info(?)')
    .all(table)
    .map(({ name }) => String(name));

/** Steps that leave the version as it is. */
export function additions(db: DatabaseSync): string[] {
  const named = db.prepare('SELECT 1 FROM sqlite_schema WHERE name = ?');
  const tables = Object.keys(LATER_TABLES).filter(table => named.get(table) === undefined);
  return [
    ...tables.map(table => LATER_TABLES[table]!),
    ...additionsTo('sqlite', TABLES, (table, column) => columnsIn(db, table).includes(column)),
  ];
}

/** Columns by the name of their table. */
export type Missing = ReadonlyMap<string, readonly string[]>;

/** Those that came after the version which made the store. */
export function missingIn(db: DatabaseSync): Missing {
  const missing = TABLES.map(({ name, columns }) => {
    const present = columnsIn(db, name);
    return [name, columns.map(column => column.name).filter(column => !present.includes(column))] as const;
  });
  return new Map(missing.filter(([, columns]) => columns.length > 0));
}

/** Columns that a newer version has added. */
export function unknownColumnsIn(db: DatabaseSync): string[] {
  return TABLES.flatMap(({ name, columns }) =>
    columnsIn(db, name)
      .filter(column => !columns.some(known => known.name === column))
      .map(column => `${name}.${column}`),
  );
}
