/** Guests of a host in few groups, in statements that both stores make alike. */

import { ESTABLISHED_DAYS, type GuestGroup, STAYING_DAYS } from '../core/guest.ts';
import { columnName } from './table.ts';

/** Guests that weigh the same: what no weight depends on is left out, so that they are few groups. */
const GROUP: Record<Exclude<keyof GuestGroup, 'lately' | 'count' | 'entries'>, string> = {
  listed: 'entry IS NOT NULL',
  corroborated: 'corroborated',
  earned: 'earned',
  swept: 'swept',
  keys: 'CASE WHEN entry IS NULL THEN 0 ELSE coalesce(keys, 0) END',
  sinceDay: 'coalesce(since_day, day)',
  lastDay: "CASE WHEN entry IS NULL THEN '' ELSE day END",
  days: `CASE WHEN entry IS NULL AND days > ${ESTABLISHED_DAYS} THEN ${ESTABLISHED_DAYS} WHEN days > ${STAYING_DAYS} THEN ${STAYING_DAYS} ELSE coalesce(days, 1) END`,
  via: "coalesce(via, '')",
};

/** Unlisted guests by their names only where they may be residents (core/residents.ts). */
const NAMED = `CASE WHEN entry IS NULL AND days >= ${ESTABLISHED_DAYS} THEN domain ELSE entry END`;

export const GROUPED = `${Object.entries(GROUP)
  .map(([member, value]) => `${value} AS ${columnName(member)}`)
  .join(', ')}, count(*) AS count, coalesce(string_agg(${NAMED}, ' ' ORDER BY domain), '') AS entries`;
export const GROUP_KEYS = Object.values(GROUP).join(', ');

/** The members of one group in JSON, where `json_object` or its like makes it: name, column, name, column. */
export const GROUP_MEMBERS = [...Object.keys(GROUP), 'count', 'entries']
  .map(member => `'${member}', ${columnName(member)}`)
  .join(', ');
