/** Moments and counts in words, in the reader's own language of numbers and the service's own time, UTC. */

const DAY = 86_400_000;
const dateTime = new Intl.DateTimeFormat('en-GB', {
  dateStyle: 'medium',
  timeStyle: 'short',
  timeZone: 'UTC',
});
const date = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' });
const dayAndMonth = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const count = new Intl.NumberFormat('en');

export const number = (value: number) => count.format(value);
export const plural = (value: number, one: string, many = `${one}s`) =>
  `${number(value)} ${value === 1 ? one : many}`;

export const moment = (iso: string) => `${dateTime.format(new Date(iso))} UTC`;
export const day = (iso: string) => date.format(new Date(iso));
export const shortDay = (milliseconds: number) => dayAndMonth.format(milliseconds);
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
    if (Math.abs(left) >= length) return relative.format(Math.round(left / length), unit);
  }
  return left < 0 ? 'just now' : 'in less than a minute';
}
