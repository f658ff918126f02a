/** Moments and counts in words, in the reader's own language of numbers and the service's own time, UTC. */

const DAY = 86_400_000;
/** Made when first needed: the browser's tables for it take a third of the work of the first page to load (2026-11-17). */
function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}
const dateTime = once(
  () => new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' }),
);
const dateSecond = once(
  () => new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium', timeZone: 'UTC' }),
);
const date = once(() => new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' }));
const dayAndMonth = once(
  () => new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' }),
);
const relative = once(() => new Intl.RelativeTimeFormat('en', { numeric: 'auto' }));
const count = once(() => new Intl.NumberFormat('en'));

export const number = (value: number) => count().format(value);
export const plural = (value: number, one: string, many = `${one}s`) =>
  `${number(value)} ${value === 1 ? one : many}`;

export const moment = (iso: string) => `${dateTime().format(new Date(iso))} UTC`;
/** With the second. */
export const exactMoment = (iso: string) => `${dateSecond().format(new Date(iso))} UTC`;
export const day = (iso: string) => date().format(new Date(iso));
export const shortDay = (milliseconds: number) => dayAndMonth().format(milliseconds);
export const ageInDays = (iso: string) => (Date.now() - Date.parse(iso)) / DAY;

const UNITS = [
  ['day', DAY],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;

/** `in 15 days`, `3 hours ago`. */
export function fromNow(iso: string): string {
  const left = Date.parse(iso) - Date.now();
  for (const [unit, length] of UNITS) {
    if (Math.abs(left) >= length) return relative().format(Math.round(left / length), unit);
  }
  return left < 0 ? 'just now' : 'in less than a minute';
}
