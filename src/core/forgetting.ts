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

/**
 * Two looks at a clock. `previous` is the newest that is believed; `last` is one that does not follow it, which a second
 * day has to confirm, and the same as `previous` where there is none.
 */
export interface Looks {
  readonly previous: number;
  readonly last: number;
}

export const SECOND_DAY_MS = DAY_MS;
/** Who updates once a month is still believed. Two clocks that are wrong differ by more, most of them by years. */
const MOST_APART_MS = 32 * DAY_MS;

/**
 * After one more. What goes by age goes by `sureAt`. A look that does not follow the one that is believed never takes its
 * place: only one of another day by the same clock makes it right. Of two clocks that were wrong, minutes apart, the
 * second one made the first one right (2026-11-18).
 */
export function lookedAt(now: number, looks: Looks = { previous: now, last: now }) {
  const after = looksAfter(now, looks);
  return { looks: after, sureAt: forgottenBefore(now, 0, after.previous) };
}

function looksAfter(now: number, { previous, last }: Looks): Looks {
  const newest = Math.max(now, previous);
  if (follows(now, previous)) return { previous: newest, last: newest };
  if (Math.abs(now - last) < DAY_MS) return { previous, last };
  const isConfirmed = now > last && now - last <= MOST_APART_MS;
  if (!isConfirmed) return { previous, last: now };
  return { previous: follows(now, last) ? now : last, last: now };
}

const follows = (now: number, before: number) => now > before - DAY_MS && now - before <= JUMP_MS;

/** What `previous` is older than. */
export const dayBefore = (now: number): number => now - DAY_MS;
