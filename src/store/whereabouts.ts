/** Statements about where hosts are that both stores make alike. */

import { forgottenDays } from '../core/forgetting.ts';
import { dayOf } from '../core/quota.ts';
import { WHEREABOUTS } from '../core/whereabouts.ts';
import { WHEREABOUT } from './columns-of-hosts.ts';

/** Behind `INSERT`: whoever writes it because a host has moved knows less of when it was met than who has met it. */
export const MET_AGAIN = `ON CONFLICT (${WHEREABOUT.key}) DO UPDATE SET
  below = excluded.below, addresses = excluded.addresses,
  day = CASE WHEN whereabouts.day > excluded.day THEN whereabouts.day ELSE excluded.day END`;

const DAY_MS = 86_400_000;

/** The day whose first kept one is `sinceDay`; empty where nothing goes. */
export const dayOfKeeping = (sinceDay: string): string =>
  sinceDay === '' ? '' : dayOf(Date.parse(sinceDay) + WHEREABOUTS.keptDays * DAY_MS);

/** What was last met before this goes; `previous` is the last day before this one on which any was. */
export const goneBefore = (sinceDay: string, previous: unknown): string =>
  forgottenDays(dayOfKeeping(sinceDay), sinceDay, previous);

/** Hosts that go: those that were not met for longest, below one domain and in all. */
export const BEYOND_BOUNDS = `
  SELECT host FROM (
    SELECT host, row_number() OVER (PARTITION BY below ORDER BY day DESC, host) AS below_one,
      row_number() OVER (ORDER BY day DESC, host) AS in_all
    FROM whereabouts
  ) AS placed
  WHERE below_one > ${WHEREABOUTS.mostBelowOne} OR in_all > ${WHEREABOUTS.most}`;
