/** Tables of what belongs to the lists, and of where hosts are, that came later: as in schema.ts. */

export const LIST_TABLES: Readonly<Record<string, string>> = {
  added_feed: `CREATE TABLE added_feed (
    name TEXT PRIMARY KEY,
    place TEXT NOT NULL,
    kind TEXT NOT NULL,
    format TEXT NOT NULL,
    verified INTEGER NOT NULL,
    added_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
  asked: `CREATE TABLE asked (
    day TEXT NOT NULL,
    server TEXT NOT NULL,
    names TEXT NOT NULL,
    PRIMARY KEY (day, server)
  ) STRICT`,
  whereabouts: `CREATE TABLE whereabouts (
    host TEXT PRIMARY KEY,
    below TEXT NOT NULL,
    addresses TEXT NOT NULL,
    day TEXT NOT NULL
  ) STRICT, WITHOUT ROWID`,
  changes_mark: `CREATE TABLE changes_mark (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    generation TEXT NOT NULL,
    floor INTEGER NOT NULL,
    last INTEGER NOT NULL
  ) STRICT`,
};
