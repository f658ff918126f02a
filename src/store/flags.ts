/** Parts of statements about flags that both stores make alike. */

import { dayOfWindow } from '../core/forgetting.ts';
import { dayOf } from '../core/quota.ts';

const DAY_MS = 86_400_000;

/** Keys whose names begin alike up to this are one customer's, and count as one: its names must not show to others. */
export const CUSTOMER_ENDS = '/';
/** Of a key's name, behind `AND`: keys may be named after their web sites. */
export const IS_NO_URL = `name NOT LIKE '%://%'`;

/** How often a name was flagged, of its rows. */
export const TIMES = 'sum(coalesce(times, 1))';

/** By two keys or more: what was gathered is of as many as it counts. */
export const BY_SEVERAL = '(count(DISTINCT key_id) > 1 OR count(times) > 0)';

/**
 * Flags of days before this one may be gathered. Of today each key's own are needed, so that it counts once, and of
 * yesterday too, since a server's clock may be a little behind.
 */
export const gatheredBefore = (sinceDay: string): string =>
  sinceDay === '' ? '' : dayOf(Date.parse(dayOfWindow(sinceDay)) - DAY_MS);

/** Flags that are gathered, before `LIMIT`, and into which one of the same name and day: its key is `kept`. */
export const gathering = (day: string) => `
  SELECT domain, day, key_id, kept FROM (
    SELECT domain, day, key_id, max(key_id) OVER (PARTITION BY domain, day) AS kept FROM flag WHERE day < ${day}
  ) AS placed WHERE key_id <> kept`;
