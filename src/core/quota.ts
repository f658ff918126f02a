/** The meter: calendar months in UTC, and what a key has left of its quota. */

export const MAX_QUOTA = 2 ** 31;

export interface Month {
  /** `YYYY-MM`: the name of the row that a call is counted in. A new month is a new row, never a reset. */
  readonly name: string;
  readonly start: number;
  /** The first instant of the next month. */
  readonly end: number;
}

let latest: Month = { name: '', start: 0, end: 0 };

/** The month of a moment. Remembers the last one, because nearly every call falls into it. */
export function monthOf(now: number): Month {
  if (now >= latest.start && now < latest.end) return latest;
  const at = new Date(now);
  const start = Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 1);
  const end = Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 1);
  latest = { name: new Date(start).toISOString().slice(0, 7), start, end };
  return latest;
}

const DAY_MS = 86_400_000;
/** How many days back anybody can ask: for the ranking, and for the calls of a key. Today is one of them. */
export const WINDOW_DAYS = 30;
let today = { name: '1970-01-01', start: 0 };

/** `YYYY-MM-DD` in UTC. */
export function dayOf(now: number): string {
  if (now >= today.start && now < today.start + DAY_MS) return today.name;
  today = { name: new Date(now).toISOString().slice(0, 10), start: now - (now % DAY_MS) };
  return today.name;
}

/** The last so many days, the oldest first, the one of this moment last. */
export function lastDays(now: number, count: number): string[] {
  return Array.from({ length: count }, (_, at) => {
    return new Date(now - (count - 1 - at) * DAY_MS).toISOString().slice(0, 10);
  });
}

/** From one day (`YYYY-MM-DD`) to another. */
export function daysBetween(since: string, day: string): number {
  return (Date.parse(day) - Date.parse(since)) / DAY_MS;
}

/** The day so many days before one. */
export function daysBefore(day: string, count: number): string {
  return new Date(Date.parse(day) - count * DAY_MS).toISOString().slice(0, 10);
}

/** The name of the month that a day lies in. */
export function monthOfDay(day: string): string {
  return day.slice(0, 7);
}

/** What is left after a call: `limit` and `remaining` are null for an unlimited key. */
export interface Allowance {
  readonly limit: number | null;
  readonly used: number;
  readonly remaining: number | null;
  readonly month: Month;
}

export function allowanceOf(limit: number | null, used: number, month: Month): Allowance {
  return { limit, used, remaining: limit === null ? null : Math.max(0, limit - used), month };
}

/** Whole seconds until the month ends, at least 1. */
export function secondsLeft(month: Month, now: number): number {
  return Math.max(1, Math.ceil((month.end - now) / 1000));
}

/** A moment as people and programs read it, in UTC: `2026-12-01T00:00:00Z`. */
export function toSecond(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19)}Z`;
}

export function resetAt(month: Month): string {
  return toSecond(month.end);
}
