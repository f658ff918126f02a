/** The tables of the embedded store, as steps that each run once. */

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
];
