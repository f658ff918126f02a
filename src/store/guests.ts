/** Parts of statements about guests that both stores make alike. */

import { ESTABLISHED_DAYS, type Guest, LEARNING, STAYING_DAYS, WEEK_DAYS } from '../core/guest.ts';
import { GUEST } from './columns.ts';
import { columnName } from './table.ts';

/** Of a guest that is seen again. */
interface Again {
  /** What its column holds then. */
  readonly becomes: string;
  /** When that is new; left out where another column tells, or it is not worth a write. */
  readonly isNew?: string;
}

/** The members of its key stay: by them it is known again. */
type Returning = Record<Exclude<keyof Guest, 'host' | 'domain'>, Again>;

/** So many days after the last sighting a listed name below a suffix holds its place against another: two sweeps. */
const HELD_DAYS = 2 * WEEK_DAYS;

/** A day and so many, as a store says it. */
type DaysAfter = (day: string, days: number) => string;

/**
 * Of the listed names below a suffix that are received at one host one stands for all. Each is a stranger to the others: it
 * has neither their days nor their keys, and is not elsewhere because they are, by which names that had never moved were
 * not found (2026-11-18).
 */
const IS_ANOTHERS = `(excluded.entry IS NOT NULL AND coalesce(guest.registered <> excluded.registered, false))`;
const isHeld = (after: DaysAfter) =>
  `${IS_ANOTHERS} AND coalesce(guest.elsewhere_day, '') < guest.day AND ${after('guest.day', HELD_DAYS)} > excluded.day`;

/** It is there by its own name, and not by names below it alone. */
const IS_ITSELF = `coalesce(guest.registered, '*.') LIKE '*.%' AND coalesce(excluded.registered, '*.') LIKE '*.%'
  AND (guest.registered IS NULL OR excluded.registered IS NULL)`;

/**
 * It was seen where this host is not since it was here, or on that day: who was at a hoster for an hour of each and at home
 * for the rest had its customers flagged by day 40 (2026-11-18). Where lists no longer name it, what it was before stands. Of a guest that a list has come to name the hosts tell
 * where it was meanwhile, by its own name: nobody has said so as long as it was unlisted.
 */
const IS_ANEW = `(${IS_ANOTHERS} OR (excluded.entry IS NOT NULL
  AND coalesce(guest.elsewhere_day >= CASE WHEN guest.entry IS NULL THEN guest.since_day ELSE guest.day END, false))
  OR (guest.entry IS NULL AND excluded.entry IS NOT NULL AND EXISTS (
    SELECT 1 FROM guest AS there
    WHERE there.domain = excluded.domain AND there.day > guest.day AND there.day < excluded.day
      AND coalesce(there.registered, '') NOT LIKE '*.%')))`;

/** What was written of it as a listed one took the shelter of months away, by a list that was wrong for a day (2026-11-18). */
const IS_BACK = `(guest.before_listed IS NOT NULL AND excluded.entry IS NULL)`;

/**
 * What is seen again takes the place of what was, but for what counts from the first sighting on. A guest that was here
 * before any list could name it has earned that; of unlisted ones no key is kept. The compiler asks for a column that is
 * forgotten here. Who writes yesterday after another wrote today, around midnight, takes no day back: each such pair counted
 * as one more day, so that one night was four (2026-11-18). A day further ahead was a wrong clock's.
 */
const again = (after: DaysAfter): Returning => ({
  entry: { becomes: 'excluded.entry', isNew: "coalesce(guest.entry, '') <> coalesce(excluded.entry, '')" },
  day: {
    becomes: `CASE WHEN guest.day = ${after('excluded.day', 1)} THEN guest.day ELSE excluded.day END`,
    isNew: 'guest.day <> excluded.day',
  },
  sinceDay: {
    becomes: `CASE WHEN ${IS_BACK} THEN substr(guest.before_listed, 1, 10)
      WHEN guest.since_day < excluded.since_day AND NOT ${IS_ANEW} THEN guest.since_day ELSE excluded.since_day END`,
    isNew: 'guest.since_day IS NULL OR excluded.since_day < guest.since_day',
  },
  days: {
    becomes: `CASE WHEN ${IS_BACK} THEN CAST(substr(guest.before_listed, 12) AS INTEGER) + 1
      WHEN ${IS_ANEW} THEN 1 ELSE coalesce(guest.days, 1) + CASE WHEN guest.day < excluded.day THEN 1 ELSE 0 END END`,
  },
  swept: {
    becomes: `CASE WHEN guest.swept IS NULL OR ${IS_ANEW} THEN excluded.swept WHEN guest.swept = 0 AND excluded.swept = 1 THEN 1 ELSE guest.swept END`,
    isNew: 'guest.swept IS NULL OR (guest.swept = 0 AND excluded.swept = 1)',
  },
  keys: {
    becomes: `CASE WHEN excluded.entry IS NOT NULL THEN
      CASE WHEN ${IS_ANEW} THEN 0 ELSE coalesce(guest.keys, 0) END | coalesce(excluded.keys, 0) END`,
    isNew: 'coalesce(guest.keys, 0) <> coalesce(guest.keys, 0) | coalesce(excluded.keys, 0)',
  },
  corroborated: {
    becomes: 'excluded.corroborated',
    isNew: 'coalesce(guest.corroborated, false) <> coalesce(excluded.corroborated, false)',
  },
  earnedBy: { becomes: 'excluded.earned_by' },
  earned: {
    becomes: `CASE WHEN excluded.entry IS NOT NULL THEN
      CASE WHEN guest.entry IS NOT NULL THEN guest.earned
        ELSE coalesce(guest.swept = 2 AND guest.since_day <= excluded.earned_by, false) END END`,
  },
  via: {
    becomes: `coalesce(CASE WHEN NOT ${IS_ANOTHERS} THEN guest.via END, excluded.via)`,
    isNew: 'guest.via IS NULL AND excluded.via IS NOT NULL',
  },
  elsewhereDay: { becomes: 'guest.elsewhere_day' },
  beforeListed: {
    becomes: `CASE WHEN excluded.entry IS NULL THEN NULL WHEN guest.entry IS NULL
      THEN coalesce(guest.since_day, guest.day) || ' ' || coalesce(guest.days, 1) ELSE guest.before_listed END`,
  },
  registered: {
    becomes: `CASE WHEN NOT (${IS_ITSELF}) THEN coalesce(CASE WHEN NOT ${IS_ANOTHERS} THEN guest.registered END, excluded.registered) END`,
    isNew: `(guest.registered IS NULL AND excluded.registered NOT LIKE '*.%') OR (guest.registered LIKE '*.%' AND excluded.registered IS NULL)`,
  },
});

/** Behind `INSERT`, where most sightings of a day say nothing new. */
export function returned(after: DaysAfter): string {
  const members = Object.entries(again(after));
  const set = members.map(([member, { becomes }]) => `${columnName(member)} = ${becomes}`).join(', ');
  const changed = members.flatMap(([, { isNew }]) => isNew ?? []).join(' OR ');
  return `ON CONFLICT (${GUEST.key}) DO UPDATE SET ${set} WHERE (${changed}) AND NOT (${isHeld(after)})`;
}

/** What hosts of a domain's own are called follows from their address. */
export const IS_SHARED = `shared_day IS NOT NULL AND name NOT LIKE 'own@%'`;

/**
 * A listed name that is not the domain itself is kept under `*.`, apart from others of that domain. Rows of versions that
 * did not do so would count beside those.
 */
export const IS_COUNTED = `(entry IS NULL OR entry = domain OR domain LIKE '*.%')`;

/** On how many days a guest was seen, as far as that counts. */
const SEEN_DAYS = `CASE WHEN guest.days > ${ESTABLISHED_DAYS} THEN ${ESTABLISHED_DAYS} ELSE coalesce(guest.days, 1) END`;
/** By two keys, or by a sweep, which asks for what lists name and not for what somebody has made up. */
const BY_OTHERS = 'CASE WHEN guest.swept = 1 OR (guest.keys & (guest.keys - 1)) <> 0 THEN 1 ELSE 0 END';
const ALL_GUESTS = '(host.flagged + host.innocent)';
/** Hosts with fewer listed guests are not read, whoever the others are. */
const TELLS_NOTHING = `host.flagged < ${LEARNING.fewestFlagged}`;

/** Of hosts that were seen alike the domain of hosts first, then addresses, by the alphabet. */
const WHERE_IT_TELLS_MOST = `CASE WHEN guest.host LIKE '*.%' THEN 0 ELSE 1 END, guest.host`;

const FIRST = `${BY_OTHERS} DESC, ${SEEN_DAYS} DESC, guest.day DESC, ${WHERE_IT_TELLS_MOST}`;

/**
 * Where a domain is no longer a guest: at more hosts than it needs, all but those where it was seen by several, on most
 * days, and last. With a wildcard record each name below it has other hosts, for nothing: with one such domain one key
 * filled the store, and with four of them, far from filling it, what is read of it (2026-11-17). `ofDomains` tells of
 * which. Below a suffix each registered name has as many, and one before a second of any.
 */
export const inTooMany = (ofDomains: string) => `
  SELECT host, domain FROM (
    SELECT host, domain, of_one, row_number() OVER (PARTITION BY domain ORDER BY of_one, ${FIRST}) AS of_all FROM (
      SELECT guest.*, row_number() OVER (PARTITION BY domain, registered ORDER BY ${FIRST}) AS of_one
      FROM guest WHERE ${ofDomains}
    ) AS guest
  ) AS placed
  WHERE of_one > ${LEARNING.mostHostsOfOne} OR of_all > ${LEARNING.mostHostsOfSuffix}`;

/** As core/weights.ts has it, at hosts: at addresses nobody asks for them. */
const isEstablished = (monthAgo: string) =>
  `entry IS NULL AND days >= ${ESTABLISHED_DAYS} AND since_day <= ${monthAgo} AND via IS NULL`;

/**
 * Who is established, a line for each host, in their order: the host, or `own@` and the domain where hosts are its own, and
 * the unlisted domains, each between spaces. Beside those also the listed names below a domain, as one with `*.`, with the
 * marks of the keys that asked for them.
 */
export const establishedBy = (monthAgo: string) => `
  SELECT string_agg(line, '\n' ORDER BY line) AS lines FROM (
    SELECT at || ' ' || string_agg(name, ' ' ORDER BY name) || ' ' AS line FROM (
      SELECT DISTINCT
        CASE WHEN host LIKE 'own@%' THEN 'own@' || CASE WHEN entry IS NULL THEN domain ELSE substr(domain, 3) END
          ELSE host END AS at,
        CASE WHEN entry IS NULL THEN domain ELSE domain || '=' || coalesce(keys, 0) END AS name
      FROM guest
      WHERE ${isEstablished(monthAgo)} OR (entry IS NOT NULL AND corroborated AND days >= ${STAYING_DAYS}
        AND domain LIKE '*.%' AND since_day <= ${monthAgo} AND via IS NULL)
    ) AS each_name GROUP BY at
  ) AS each_host`;

/** How many listed guests of a host somebody else has seen than the one key that alone has seen most of them. */
const SEEN_BY_OTHERS = `(
  SELECT sum(seen) - max(CASE WHEN alone >= 0 THEN seen ELSE 0 END) FROM (
    SELECT CASE WHEN ${BY_OTHERS} = 1 THEN -1 ELSE coalesce(guest.keys, 0) END AS alone, count(*) AS seen
    FROM guest WHERE guest.host = host.name AND entry IS NOT NULL GROUP BY 1
  ) AS by_key)`;

/**
 * Which hosts are read where there are more: what an operator took out first, since behind more hosts than are read it would
 * count again. Then those of which most was seen by several: what one key has seen alone teaches nothing, and must not
 * stand before what does. That is counted only where there are more (0.3 s of 66,000 hosts, 2026-11-17); `fewest` and
 * `most` are the store's places.
 */
export const readFirst = (fewest: string, most: string) => `
  forgotten_at IS NULL,
  CASE WHEN (SELECT count(*) FROM host AS each_host WHERE each_host.flagged >= ${fewest}) > ${most}
    THEN ${SEEN_BY_OTHERS} END DESC,
  flagged DESC, name`;

/** Where a host has more unlisted guests, those that are not established tell nothing new. */
const MOST_UNLISTED = `CASE WHEN ${LEARNING.innocentsToOne} * host.flagged > ${LEARNING.mostGuests}
  THEN ${LEARNING.innocentsToOne} * host.flagged ELSE ${LEARNING.mostGuests} END`;
const COUNTED = 'CASE WHEN guest.entry IS NULL THEN host.innocent ELSE host.flagged END';

/**
 * The guests that go first from a full store, before `LIMIT`: unlisted ones at hosts that have enough of them, then those of
 * hosts that tell nothing yet. Of these small hosts before large ones, so that names at hosts of their own cannot push out
 * who speaks for a hoster, and who was seen once before who was seen on several days: many names that somebody asks for on
 * one day must not take away what speaks for a small host. Then of every host the same share of those that are listed and of
 * those that are not: who was seen by one key before others, then who was seen on fewest days, then the longest unseen. Who
 * is established has places of his own, given to those that were seen on most days: by the size of their host, three
 * customers of months went before 67,000 names that one key had asked for on a day (2026-11-18).
 */
export const leastTelling = (monthAgo: string) => `
  SELECT guest.host, guest.domain FROM (
    SELECT guest.host, domain, entry, day, days, row_number() OVER (
      PARTITION BY guest.host, entry IS NULL ORDER BY ${BY_OTHERS} DESC, ${SEEN_DAYS} DESC, day DESC) AS place
    FROM guest
    WHERE NOT coalesce(${isEstablished(monthAgo)} AND days > coalesce((
      SELECT days FROM guest WHERE ${isEstablished(monthAgo)}
      ORDER BY days DESC LIMIT 1 OFFSET ${LEARNING.mostEstablished}), 0), false)
  ) AS guest JOIN host ON host.name = guest.host
  ORDER BY
    NOT (guest.entry IS NULL AND place > ${MOST_UNLISTED}),
    NOT ${TELLS_NOTHING},
    CASE WHEN ${TELLS_NOTHING} THEN ${ALL_GUESTS} * ${SEEN_DAYS} ELSE 0 END,
    (${COUNTED} - place + 1) * 1.0 / ${COUNTED},
    guest.day`;
