/**
 * One row that differs after every change of an override, whoever made it, earlier versions of the program included; and
 * which they were, lately.
 */

import { CHANGES_KEPT } from '../changed-overrides.ts';

/** By chance and no count: a file that was put back counts again what it has counted before. */
const RENEW = `INSERT INTO override_mark VALUES (1, lower(hex(randomblob(16))))
  ON CONFLICT (id) DO UPDATE SET value = excluded.value`;

const changed = (event: 'INSERT' | 'UPDATE' | 'DELETE') =>
  `CREATE TRIGGER override_mark_${event.toLowerCase()} AFTER ${event} ON override BEGIN ${RENEW}; END`;

const MARK_TABLE = `CREATE TABLE override_mark (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    value TEXT NOT NULL
  ) STRICT;
  ${RENEW};
  ${changed('INSERT')};
  ${changed('UPDATE')};
  ${changed('DELETE')}`;

/**
 * Before a change, so that `was` is the mark that it takes the place of. Old rows go with the next change of ours: by the row
 * that would make an import of 20,000 take twice as long, for which calls wait (0.8 in place of 0.4 s, 2026-11-19).
 */
const logged = (event: 'INSERT' | 'UPDATE' | 'DELETE', row: 'NEW' | 'OLD', more = '') =>
  `CREATE TRIGGER override_change_${event.toLowerCase()} BEFORE ${event} ON override BEGIN
    INSERT INTO override_change (domain, was) VALUES (${row}.domain, coalesce((SELECT value FROM override_mark), ''));
    ${more}
  END`;
/** By hand, in SQL: the program changes no name. */
const FORMER_NAME = `INSERT INTO override_change (domain, was)
  SELECT OLD.domain, coalesce((SELECT value FROM override_mark), '') WHERE OLD.domain <> NEW.domain;`;

const CHANGE_TABLE = `CREATE TABLE override_change (
    id INTEGER PRIMARY KEY,
    domain TEXT NOT NULL,
    was TEXT NOT NULL
  ) STRICT;
  ${logged('INSERT', 'NEW')};
  ${logged('UPDATE', 'NEW', FORMER_NAME)};
  ${logged('DELETE', 'OLD')}`;

export const OVERRIDE_MARK_TABLES = { override_mark: MARK_TABLE, override_change: CHANGE_TABLE };

export const FORGET_CHANGES = `DELETE FROM override_change WHERE id <= (SELECT max(id) FROM override_change) - ${CHANGES_KEPT}`;
