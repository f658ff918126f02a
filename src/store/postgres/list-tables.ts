/** Tables of what belongs to the lists, and of where hosts are, that came later: as in schema.ts. */

import { SCHEMA } from './session.ts';

export const LIST_TABLES: Readonly<Record<string, string>> = {
  added_feed: `CREATE TABLE ${SCHEMA}.added_feed (
    name text COLLATE "C" PRIMARY KEY,
    place text NOT NULL,
    kind text NOT NULL,
    format text NOT NULL,
    verified boolean NOT NULL,
    added_at bigint NOT NULL
  )`,
  asked: `CREATE TABLE ${SCHEMA}.asked (
    day text COLLATE "C" NOT NULL,
    server text COLLATE "C" NOT NULL,
    names text NOT NULL,
    PRIMARY KEY (day, server)
  )`,
  whereabouts: `CREATE TABLE ${SCHEMA}.whereabouts (
    host text COLLATE "C" PRIMARY KEY,
    below text COLLATE "C" NOT NULL,
    addresses text NOT NULL,
    day text COLLATE "C" NOT NULL
  )`,
  changes_mark: `CREATE TABLE ${SCHEMA}.changes_mark (
    id smallint PRIMARY KEY CHECK (id = 1),
    generation text NOT NULL,
    floor bigint NOT NULL,
    last bigint NOT NULL
  )`,
};
