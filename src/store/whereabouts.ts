/** Statements about where hosts are that both stores make alike. */

import { WHEREABOUTS } from '../core/whereabouts.ts';
import { WHEREABOUT } from './columns-of-hosts.ts';

/** Behind `INSERT`: whoever writes it because a host has moved knows less of when it was met than who has met it. */
export const MET_AGAIN = `ON CONFLICT (${WHEREABOUT.key}) DO UPDATE SET
  below = excluded.below, addresses = excluded.addresses,
  day = CASE WHEN whereabouts.day > excluded.day THEN whereabouts.day ELSE excluded.day END`;

/** Hosts that go: those that were not met for longest, below one domain and in all. */
export const BEYOND_BOUNDS = `
  SELECT host FROM (
    SELECT host, row_number() OVER (PARTITION BY below ORDER BY day DESC, host) AS below_one,
      row_number() OVER (ORDER BY day DESC, host) AS in_all
    FROM whereabouts
  ) AS placed
  WHERE below_one > ${WHEREABOUTS.mostBelowOne} OR in_all > ${WHEREABOUTS.most}`;
