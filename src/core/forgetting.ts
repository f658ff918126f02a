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

/** Two looks at a clock, at least a day apart where there were two: the last one is the first of its day. */
export interface Looks {
  readonly previous: number;
  readonly last: number;
}

export const SECOND_DAY_MS = DAY_MS;

/**
 * After one more. What goes by age goes by `sureAt`. A look that nothing fits, neither the one before nor the one after
 * it, was by a wrong clock, and is left out; one that the second day confirms is not.
 */
export function lookedAt(now: number, looks: Looks = { previous: now, last: now }) {
  const after = Math.abs(now - looks.last) < DAY_MS ? looks : { previous: lookBefore(now, looks), last: now };
  return { looks: after, sureAt: forgottenBefore(now, 0, after.previous) };
}

function lookBefore(now: number, { previous, last }: Looks): number {
  return !fits(now, last) && fits(now, previous) ? previous : last;
}

const fits = (now: number, before: number) => now > before - DAY_MS && now - before <= JUMP_MS;

/** What `previous` is older than. */
export const dayBefore = (now: number): number => now - DAY_MS;
