/** One row that differs after every change of an override, whoever made it: earlier versions of the program included. */

/** By chance and no count: a file that was put back counts again what it has counted before. */
const RENEW = `INSERT INTO override_mark VALUES (1, lower(hex(randomblob(16))))
  ON CONFLICT (id) DO UPDATE SET value = excluded.value`;

const changed = (event: 'INSERT' | 'UPDATE' | 'DELETE') =>
  `CREATE TRIGGER override_mark_${event.toLowerCase()} AFTER ${event} ON override BEGIN ${RENEW}; END`;

export const OVERRIDE_MARK_TABLE = `CREATE TABLE override_mark (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    value TEXT NOT NULL
  ) STRICT;
  ${RENEW};
  ${changed('INSERT')};
  ${changed('UPDATE')};
  ${changed('DELETE')}`;
