/** One row that differs after every change of an override, whoever made it: earlier versions of the program included. */

import { SCHEMA } from './session.ts';

/** By chance and no count: a database that was set back counts again what it has counted before. */
const RENEW = `INSERT INTO ${SCHEMA}.override_mark VALUES (1, md5(random()::text || clock_timestamp()::text))
  ON CONFLICT (id) DO UPDATE SET value = excluded.value`;

export const OVERRIDE_MARK_TABLE = `CREATE TABLE ${SCHEMA}.override_mark (
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
