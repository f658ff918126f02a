/**
 * One row that differs after every change of an override, whoever made it, earlier versions of the program included; and
 * which they were, lately.
 */

import { CHANGES_KEPT } from '../changed-overrides.ts';
import { SCHEMA } from './session.ts';

/** Three for each change of one override. */
const STATEMENTS_KEPT = 300;

/**
 * Whoever may change overrides need not have rights to what comes with them: a server of the version before, as another user
 * than the owner, could change none any more (2026-11-19). Nor has a table of that user's own a say.
 */
const AS_OWNER = `SECURITY DEFINER SET search_path = ${SCHEMA}, pg_temp`;

/** By chance and no count: a database that was set back counts again what it has counted before. */
const RENEW = `INSERT INTO ${SCHEMA}.override_mark VALUES (1, md5(random()::text || clock_timestamp()::text))
  ON CONFLICT (id) DO UPDATE SET value = excluded.value`;

const MARK_TABLE = `CREATE TABLE ${SCHEMA}.override_mark (
    id smallint PRIMARY KEY CHECK (id = 1),
    value text NOT NULL
  );
  ${RENEW};
  CREATE FUNCTION ${SCHEMA}.mark_overrides() RETURNS trigger LANGUAGE plpgsql ${AS_OWNER} AS $$
  BEGIN
    ${RENEW};
    RETURN NULL;
  END $$;
  CREATE TRIGGER overrides_changed AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON ${SCHEMA}.override
    FOR EACH STATEMENT EXECUTE FUNCTION ${SCHEMA}.mark_overrides()`;

/** By their names they come before the mark is another: `was` is the one that a change takes the place of. */
const LOGGED = [
  ['insert', 'REFERENCING NEW TABLE AS new_rows'],
  ['update', 'REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows'],
  ['delete', 'REFERENCING OLD TABLE AS old_rows'],
  ['truncate', ''],
].map(
  ([event, rows]) => `CREATE TRIGGER override_change_${event} AFTER ${event} ON ${SCHEMA}.override
    ${rows} FOR EACH STATEMENT EXECUTE FUNCTION ${SCHEMA}.log_overrides()`,
);

/**
 * A row for each statement, whole: also for one that has done nothing, so that no mark is without one (what inserts or
 * updates does both). One name more than can be told says that there are more; of TRUNCATE nobody can tell. Under the lock
 * of the mark, until the commit: who reads finds changes in the order of their numbers, none between.
 */
const CHANGE_TABLE = `CREATE TABLE ${SCHEMA}.override_change (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    domains text[] NOT NULL,
    was text NOT NULL
  );
  CREATE FUNCTION ${SCHEMA}.log_overrides() RETURNS trigger LANGUAGE plpgsql ${AS_OWNER} AS $$
  DECLARE
    mark text;
    changed text[];
  BEGIN
    SELECT value INTO mark FROM override_mark FOR UPDATE;
    IF TG_OP = 'INSERT' THEN changed := ARRAY(SELECT domain FROM new_rows LIMIT ${CHANGES_KEPT + 1});
    ELSIF TG_OP = 'DELETE' THEN changed := ARRAY(SELECT domain FROM old_rows LIMIT ${CHANGES_KEPT + 1});
    ELSIF TG_OP = 'UPDATE' THEN
      changed := ARRAY(SELECT domain FROM old_rows UNION SELECT domain FROM new_rows LIMIT ${CHANGES_KEPT + 1});
    END IF;
    IF TG_OP = 'TRUNCATE' THEN DELETE FROM override_change;
    ELSE
      INSERT INTO override_change (domains, was) VALUES (changed, coalesce(mark, ''));
      DELETE FROM override_change WHERE id <= (SELECT max(id) FROM override_change) - ${STATEMENTS_KEPT};
    END IF;
    RETURN NULL;
  END $$;
  ${LOGGED.join(';\n  ')}`;

export const OVERRIDE_MARK_TABLES = { override_mark: MARK_TABLE, override_change: CHANGE_TABLE };
