/** What goes by age, and what a clock that jumped must not make go. */

import { dayOf, WINDOW_DAYS } from './quota.ts';

const DAY_MS = 86_400_000;
/** Hardly a service rests for so long, and where one did, old rows go a day later. */
const JUMP_MS = 3 * DAY_MS;

/** Rows before this go. `previous` is the newest that is a day old: after a jump of the clock a second day has to say the same. */
export function forgottenBefore(now: number, keptMs: number, previous: number | null): number {
  const isJump = previous !== null && now - previous > JUMP_MS;
  return (isJump ? previous : now) - keptMs;
}

/**
 * The same by days: `sinceDay` is the first that is kept on `day`, `previous` the last one before it that has a row. Where
 * `sinceDay` is empty nothing goes.
 */
export function forgottenDays(day: string, sinceDay: string, previous: unknown): string {
  if (sinceDay === '') return '';
  const now = Date.parse(day);
  const before = typeof previous === 'string' ? Date.parse(previous) : null;
  return dayOf(forgottenBefore(now, now - Date.parse(sinceDay), before));
}

/** The day whose window begins on `sinceDay`, as `lastDays` makes it; empty where nothing goes. */
export function dayOfWindow(sinceDay: string): string {
  return sinceDay === '' ? '' : dayOf(Date.parse(sinceDay) + (WINDOW_DAYS - 1) * DAY_MS);
}

/** What `previous` is older than. */
export const dayBefore = (now: number): number => now - DAY_MS;
