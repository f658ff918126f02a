/** Parts of statements about guests that both stores make alike. */

import { ESTABLISHED_DAYS } from '../core/guest.ts';
import { GUEST } from './columns.ts';

/**
 * What is seen again takes the place of what was, but for what counts from the first sighting on. A guest that was here
 * before any list could name it has earned that; of unlisted ones no key is kept.
 */
export const RETURNED = `
  ON CONFLICT (${GUEST.key}) DO UPDATE SET
    entry = excluded.entry,
    day = excluded.day,
    since_day = CASE WHEN guest.since_day < excluded.since_day THEN guest.since_day ELSE excluded.since_day END,
    days = coalesce(guest.days, 1) + CASE WHEN guest.day <> excluded.day THEN 1 ELSE 0 END,
    swept = CASE WHEN guest.swept IS NULL THEN excluded.swept WHEN guest.swept = 0 AND excluded.swept = 1 THEN 1 ELSE guest.swept END,
    keys = CASE WHEN excluded.entry IS NOT NULL THEN coalesce(guest.keys, 0) | coalesce(excluded.keys, 0) END,
    corroborated = excluded.corroborated,
    earned_by = excluded.earned_by,
    earned = CASE WHEN excluded.entry IS NOT NULL THEN
      CASE WHEN guest.entry IS NOT NULL THEN guest.earned
        ELSE coalesce(guest.swept = 2 AND guest.since_day <= excluded.earned_by, false) END END`;

/** For `WHERE`: most sightings of a day say nothing new. */
export const CHANGED = `
  coalesce(guest.entry, '') <> coalesce(excluded.entry, '')
  OR guest.day <> excluded.day
  OR guest.since_day IS NULL OR excluded.since_day < guest.since_day
  OR guest.swept IS NULL OR (guest.swept = 0 AND excluded.swept = 1)
  OR coalesce(guest.keys, 0) <> coalesce(guest.keys, 0) | coalesce(excluded.keys, 0)
  OR coalesce(guest.corroborated, false) <> coalesce(excluded.corroborated, false)`;

/** The members of one group in JSON, where `json_object` or its like makes it: name, column, name, column. */
export const GROUP_MEMBERS = `
  'listed', listed, 'corroborated', corroborated, 'earned', earned, 'swept', swept,
  'keys', keys, 'sinceDay', since_day, 'days', days, 'count', count, 'entries', entries`;

/** Guests that weigh the same: what no weight depends on is left out, so that they are few groups. */
const GROUP = {
  listed: 'entry IS NOT NULL',
  corroborated: 'corroborated',
  earned: 'earned',
  swept: 'swept',
  keys: 'CASE WHEN entry IS NULL THEN 0 ELSE coalesce(keys, 0) END',
  since_day: 'coalesce(since_day, day)',
  days: `CASE WHEN entry IS NOT NULL THEN 1 WHEN days > ${ESTABLISHED_DAYS} THEN ${ESTABLISHED_DAYS} ELSE coalesce(days, 1) END`,
};

export const GROUPED = `${Object.entries(GROUP)
  .map(([name, value]) => `${value} AS ${name}`)
  .join(', ')}, count(*) AS count, coalesce(string_agg(entry, ' ' ORDER BY domain), '') AS entries`;
export const GROUP_KEYS = Object.values(GROUP).join(', ');

/** A host that must not be learned is not forgotten before the last of its guests. */
export const HAS_NO_GUEST = 'flagged = 0 AND innocent = 0';

/**
 * For `ORDER BY`, which guests of a full store go first: those of hosts without listed ones, which tell nothing, small
 * hosts before large ones, so that names at hosts of their own cannot push out who speaks for a hoster. Then the longest
 * unseen, of every host the same share of those that are listed and of those that are not.
 */
export const LEAST_FIRST = `
  host.flagged > 0,
  CASE WHEN host.flagged = 0 THEN host.innocent ELSE 0 END,
  row_number() OVER (PARTITION BY guest.host, guest.entry IS NULL ORDER BY guest.day)
    * 1.0 / CASE WHEN guest.entry IS NULL THEN host.innocent ELSE host.flagged END,
  guest.day`;
