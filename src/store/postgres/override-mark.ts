/**
 * One row that differs after every change of an override, whoever made it, earlier versions of the program included; and
 * which they were, lately.
 */

import { CHANGES_KEPT } from '../changed-overrides.ts';
import { SCHEMA } from './session.ts';

/** By chance and no count: a database that was set back counts again what it has counted before. */
const RENEW = `INSERT INTO ${SCHEMA}.override_mark VALUES (1, md5(random()::text || clock_timestamp()::text))
  ON CONFLICT (id) DO UPDATE SET value = excluded.value`;

const MARK_TABLE = `CREATE TABLE ${SCHEMA}.override_mark (
    id smallint PRIMARY KEY CHECK (id = 1),
    value text NOT NULL
  );
  ${RENEW};
  CREATE FUNCTION ${SCHEMA}.mark_overrides() RETURNS trigger LANGUAGE plpgsql SET search_path = ${SCHEMA} AS $$
  BEGIN
    ${RENEW};
    RETURN NULL;
  END $$;
  CREATE TRIGGER overrides_changed AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON ${SCHEMA}.override
    FOR EACH STATEMENT EXECUTE FUNCTION ${SCHEMA}.mark_overrides()`;

/** By its name it comes before the mark is another: `was` is the one that this change takes the place of. */
const logged = (event: 'INSERT' | 'UPDATE' | 'DELETE', row: 'NEW' | 'OLD') =>
  `CREATE TRIGGER override_change_${event.toLowerCase()} AFTER ${event} ON ${SCHEMA}.override
    REFERENCING ${row} TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION ${SCHEMA}.log_overrides()`;

/**
 * What inserts or updates does both: of what it has not done there is a row without a name, so that no mark is without one.
 * Under the lock of the mark, until the commit: who reads finds changes in the order of their numbers, none between.
 */
const CHANGE_TABLE = `CREATE TABLE ${SCHEMA}.override_change (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    domain text,
    was text NOT NULL
  );
  CREATE FUNCTION ${SCHEMA}.log_overrides() RETURNS trigger LANGUAGE plpgsql SET search_path = ${SCHEMA} AS $$
  DECLARE
    was text;
  BEGIN
    SELECT value INTO was FROM override_mark FOR UPDATE;
    INSERT INTO override_change (domain, was)
    SELECT changed.domain, coalesce(was, '') FROM (SELECT) AS always LEFT JOIN changed ON true;
    DELETE FROM override_change WHERE id <= (SELECT max(id) FROM override_change) - ${CHANGES_KEPT};
    RETURN NULL;
  END $$;
  ${logged('INSERT', 'NEW')};
  ${logged('UPDATE', 'NEW')};
  ${logged('DELETE', 'OLD')}`;

export const OVERRIDE_MARK_TABLES = { override_mark: MARK_TABLE, override_change: CHANGE_TABLE };
