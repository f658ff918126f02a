/** How far a full table is emptied, and what goes by age. */

import { LEARNING } from '../core/guest.ts';

const DAY_MS = 86_400_000;
/** Nobody's service rests for so long. */
const JUMP_DAYS = 30;

/**
 * Guests last seen before this day go, and shared hosts. `previous` is the last day before `day` on which any was seen, as
 * a row has it: after a clock that jumped nothing goes that would not have gone then, until a second day says the same.
 */
export function goneBefore(day: string, sinceDay: string, previous: unknown): string {
  if (typeof previous !== 'string' || Date.parse(day) - Date.parse(previous) <= JUMP_DAYS * DAY_MS)
    return sinceDay;
  const then = new Date(Date.parse(previous) - LEARNING.keptDays * DAY_MS).toISOString().slice(0, 10);
  return then < sinceDay ? then : sinceDay;
}

/**
 * More than must go, by a twentieth of what may stay (hysteresis): finding what goes takes a scan of the whole table,
 * and a flood of names must not pay for that with every flush.
 */
export function rowsToRemove(present: number, most: number): number {
  return present > most ? present - most + most / 20 : 0;
}
