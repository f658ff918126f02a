/** The tables of the shared store, as steps that each run once, and what its server must be like. */

import { StoreRefused } from '../refused.ts';
import { DECISION_TABLE } from './decisions.ts';
import { EVENT_TABLE } from './events.ts';
import { KEY_INDEXES } from './key-names.ts';
import { LIST_TABLES } from './list-tables.ts';
import { VERDICT_DAY_TABLE } from './mix.ts';
import { OPERATOR_TABLE } from './operators.ts';
import { OVERRIDE_MARK_TABLES } from './override-mark.ts';
import { SCHEMA, type Session } from './session.ts';
import { TRAFFIC_TABLE } from './traffic.ts';

/**
 * Step n brings a database from version n to n + 1. Steps are only ever added, and they only ever add: servers of
 * the version before go on working beside new ones until they are replaced.
 *
 * Names sort by their bytes (COLLATE "C"), as they do in SQLite.
 */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE revision (
    id smallint PRIMARY KEY CHECK (id = 1),
    value bigint NOT NULL
  );
  INSERT INTO revision VALUES (1, 1);

  CREATE TABLE proof (
    id smallint PRIMARY KEY CHECK (id = 1),
    at timestamptz NOT NULL
  );
  INSERT INTO proof VALUES (1, now());

  CREATE TABLE key (
    id text COLLATE "C" PRIMARY KEY,
    name text NOT NULL,
    digest text COLLATE "C" NOT NULL UNIQUE,
    prefix text NOT NULL,
    last4 text NOT NULL,
    previous_digest text COLLATE "C" UNIQUE,
    previous_until bigint,
    quota bigint CHECK (quota BETWEEN 0 AND 2147483648),
    rate integer CHECK (rate > 0),
    origins text[] NOT NULL,
    networks text[] NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint,
    revoked_at bigint
  );

  -- quota and granted are of the last batch that was counted: the statement that counts returns them.
  CREATE TABLE usage (
    key_id text COLLATE "C" NOT NULL REFERENCES key (id),
    month text COLLATE "C" NOT NULL,
    used bigint NOT NULL CHECK (used >= 0),
    quota bigint,
    granted bigint NOT NULL DEFAULT 0 CHECK (granted >= 0),
    PRIMARY KEY (key_id, month)
  ) WITH (fillfactor = 50);

  CREATE TABLE override (
    domain text COLLATE "C" PRIMARY KEY,
    action text NOT NULL CHECK (action IN ('allow', 'deny', 'role')),
    below boolean NOT NULL,
    note text,
    author text,
    created_at bigint NOT NULL,
    expires_at bigint
  );

  CREATE TABLE flag (
    day text COLLATE "C" NOT NULL,
    domain text COLLATE "C" NOT NULL,
    key_id text COLLATE "C" NOT NULL,
    listed boolean NOT NULL,
    reason text NOT NULL,
    score integer NOT NULL,
    PRIMARY KEY (domain, day, key_id)
  );
  CREATE INDEX flag_by_day ON flag (day);

  CREATE TABLE host (
    name text COLLATE "C" PRIMARY KEY,
    flagged integer NOT NULL DEFAULT 0,
    innocent integer NOT NULL DEFAULT 0,
    last_day text COLLATE "C",
    shared_day text COLLATE "C",
    forgotten_at bigint
  );
  CREATE INDEX host_by_shared ON host (shared_day) WHERE shared_day IS NOT NULL;

  CREATE TABLE guest (
    host text COLLATE "C" NOT NULL,
    domain text COLLATE "C" NOT NULL,
    entry text COLLATE "C",
    day text COLLATE "C" NOT NULL,
    PRIMARY KEY (host, domain)
  );
  CREATE INDEX guest_by_day ON guest (day);

  -- The counts of a host follow its guests by themselves: whoever adds or removes guests cannot forget them.
  CREATE FUNCTION count_guests() RETURNS trigger LANGUAGE plpgsql SET search_path = ${SCHEMA} AS $$
  BEGIN
    IF TG_OP <> 'DELETE' THEN
      INSERT INTO host AS h (name, flagged, innocent, last_day)
        SELECT host, count(entry), count(*) - count(entry), max(day) FROM came GROUP BY host
      ON CONFLICT (name) DO UPDATE SET
        flagged = h.flagged + excluded.flagged,
        innocent = h.innocent + excluded.innocent,
        last_day = greatest(h.last_day, excluded.last_day);
    END IF;
    IF TG_OP <> 'INSERT' THEN
      UPDATE host AS h SET flagged = h.flagged - less.flagged, innocent = h.innocent - less.innocent
      FROM (SELECT host, count(entry) AS flagged, count(*) - count(entry) AS innocent FROM went GROUP BY host) AS less
      WHERE h.name = less.host;
    END IF;
    RETURN NULL;
  END $$;
  CREATE TRIGGER guests_came AFTER INSERT ON guest
    REFERENCING NEW TABLE AS came FOR EACH STATEMENT EXECUTE FUNCTION count_guests();
  CREATE TRIGGER guests_returned AFTER UPDATE ON guest
    REFERENCING OLD TABLE AS went NEW TABLE AS came FOR EACH STATEMENT EXECUTE FUNCTION count_guests();
  CREATE TRIGGER guests_went AFTER DELETE ON guest
    REFERENCING OLD TABLE AS went FOR EACH STATEMENT EXECUTE FUNCTION count_guests();

  CREATE FUNCTION drop_host() RETURNS trigger LANGUAGE plpgsql SET search_path = ${SCHEMA} AS $$
  BEGIN
    DELETE FROM host WHERE name = new.name;
    RETURN NULL;
  END $$;
  CREATE TRIGGER host_emptied AFTER UPDATE ON host FOR EACH ROW
    WHEN (new.flagged = 0 AND new.innocent = 0 AND new.shared_day IS NULL AND new.forgotten_at IS NULL)
    EXECUTE FUNCTION drop_host();

  CREATE TABLE sweep (
    id smallint PRIMARY KEY CHECK (id = 1),
    generation text NOT NULL,
    last text NOT NULL,
    ended_at bigint
  );
  `,
  `
  CREATE TABLE usage_day (
    key_id text COLLATE "C" NOT NULL REFERENCES key (id),
    day text COLLATE "C" NOT NULL,
    used bigint NOT NULL CHECK (used >= 0),
    PRIMARY KEY (key_id, day)
  ) WITH (fillfactor = 50);
  CREATE INDEX usage_day_by_day ON usage_day (day);

  CREATE TABLE audit (
    id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    at bigint NOT NULL,
    who text NOT NULL,
    via text NOT NULL,
    action text NOT NULL,
    subject text NOT NULL,
    detail text
  );
  CREATE INDEX audit_by_time ON audit (at);

  CREATE TABLE snapshot (
    feed text COLLATE "C" PRIMARY KEY,
    version text NOT NULL,
    digest text NOT NULL,
    names integer NOT NULL,
    accepted_at bigint NOT NULL,
    body text NOT NULL
  );
  `,
];

/**
 * Added where they are missing, as later columns are, with an index: the version before does not miss them, and can take
 * over again.
 */
export const LATER_TABLES: Readonly<Record<string, string>> = {
  server: `CREATE TABLE ${SCHEMA}.server (
    id text COLLATE "C" PRIMARY KEY,
    version text NOT NULL,
    host text NOT NULL,
    started_at bigint NOT NULL,
    seen_at bigint NOT NULL
  )`,
  signing: `CREATE TABLE ${SCHEMA}.signing (
    id smallint PRIMARY KEY CHECK (id = 1),
    secret text NOT NULL
  )`,
  lease: `CREATE TABLE ${SCHEMA}.lease (
    name text COLLATE "C" PRIMARY KEY,
    holder text,
    until bigint NOT NULL,
    due_at bigint NOT NULL
  )`,
  feed_check: `CREATE TABLE ${SCHEMA}.feed_check (
    feed text COLLATE "C" PRIMARY KEY,
    tried_at bigint NOT NULL,
    checked_at bigint,
    added integer NOT NULL,
    removed integer NOT NULL,
    problem text
  )`,
  past_snapshot: `CREATE TABLE ${SCHEMA}.past_snapshot (
    feed text COLLATE "C" NOT NULL,
    version text NOT NULL,
    digest text NOT NULL,
    names integer NOT NULL,
    accepted_at bigint NOT NULL,
    body text NOT NULL,
    PRIMARY KEY (feed, accepted_at)
  )`,
  operator: OPERATOR_TABLE,
  listing_change: `CREATE TABLE ${SCHEMA}.listing_change (
    id bigint PRIMARY KEY,
    domain text NOT NULL,
    change text NOT NULL,
    at bigint NOT NULL,
    feeds text[] NOT NULL
  );
  CREATE INDEX listing_change_by_time ON ${SCHEMA}.listing_change (at)`,
  traffic: TRAFFIC_TABLE,
  decision: DECISION_TABLE,
  event: EVENT_TABLE,
  ...LIST_TABLES,
  verdict_day: VERDICT_DAY_TABLE,
  ...OVERRIDE_MARK_TABLES,
  ...KEY_INDEXES,
  guest_by_domain: `CREATE INDEX guest_by_domain ON ${SCHEMA}.guest (domain)`,
};

/** What would make counts inexact or names unreadable, and no setting of a session can change. */
export async function checkServer(session: Session): Promise<void> {
  const { rows } = await session.query(
    "SELECT current_setting('server_encoding') AS encoding, current_setting('fsync') AS fsync",
  );
  const { encoding, fsync } = rows[0] ?? {};
  if (encoding !== 'UTF8')
    throw new StoreRefused(
      `the database is in ${encoding}`,
      `create one with ENCODING 'UTF8' (DATABASE_URL)`,
    );
  if (fsync === 'off')
    throw new StoreRefused(
      'PostgreSQL runs with fsync = off and may lose counts',
      'set fsync = on in postgresql.conf',
    );
}
