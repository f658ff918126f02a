/** Statements about where hosts are that both stores make alike. */

import { forgottenDays } from '../core/forgetting.ts';
import { ESTABLISHED_DAYS } from '../core/guest.ts';
import { dayOf } from '../core/quota.ts';
import { WHEREABOUTS } from '../core/whereabouts.ts';
import { MET } from './columns-of-hosts.ts';

/** Behind `INSERT`: whoever writes it because a host has moved knows less of when it was met than who has met it. */
export const MET_AGAIN = `ON CONFLICT (${MET.key}) DO UPDATE SET
  below = excluded.below, addresses = excluded.addresses,
  days = coalesce(whereabouts.days, 1) + CASE WHEN whereabouts.day < excluded.day THEN 1 ELSE 0 END,
  day = CASE WHEN whereabouts.day > excluded.day THEN whereabouts.day ELSE excluded.day END`;

const DAY_MS = 86_400_000;

/** The day whose first kept one is `sinceDay`; empty where nothing goes. */
export const dayOfKeeping = (sinceDay: string): string =>
  sinceDay === '' ? '' : dayOf(Date.parse(sinceDay) + WHEREABOUTS.keptDays * DAY_MS);

/** What was last met before this goes; `previous` is the last day before this one on which any was. */
export const goneBefore = (sinceDay: string, previous: unknown): string =>
  forgottenDays(dayOfKeeping(sinceDay), sinceDay, previous);

/** The first ones stay: those that are somewhere, that were met on several days, and last. */
const FIRST = `CASE WHEN days > ${ESTABLISHED_DAYS} THEN ${ESTABLISHED_DAYS} ELSE coalesce(days, 1) END DESC, day DESC, host`;
const IS_NOWHERE = `CASE WHEN addresses = '' THEN 1 ELSE 0 END`;

/**
 * Hosts that go, below one domain and in all. Of each domain one before a second of any: so many domains would have to be
 * paid for to push out the only host of another. By the day and the alphabet alone, 540 lookups filled it with hosts that
 * do not exist (2026-11-17).
 */
export const BEYOND_BOUNDS = `
  SELECT host FROM (
    SELECT host, below_one, row_number() OVER (ORDER BY ${IS_NOWHERE}, below_one, ${FIRST}) AS in_all FROM (
      SELECT host, addresses, day, days,
        row_number() OVER (PARTITION BY below ORDER BY ${IS_NOWHERE}, ${FIRST}) AS below_one
      FROM whereabouts
    ) AS below_each
  ) AS placed
  WHERE below_one > ${WHEREABOUTS.mostBelowOne} OR in_all > ${WHEREABOUTS.most}`;
