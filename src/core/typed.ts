/** Values that operators type, on the command line or into a form, checked with a problem that names the fix. */

import { isIP } from 'node:net';
import { bad, type Checked, good } from './checked.ts';
import { isHostName } from './domain.ts';

/** A day or a moment in UTC. */
export function parseTime(text: string): Checked<number> {
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text);
  const ms = isDay || /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/.test(text) ? Date.parse(text) : Number.NaN;
  // Date.parse takes 30 February for 2 March; a day that does not come back as it was typed does not exist.
  const exists = !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text.slice(0, 10));
  return exists ? good(ms) : bad('must be like 2027-01-31 or 2027-01-31T12:00:00Z');
}

/** One that is still to come: what ended already is a slip of the keyboard. */
export function parseMoment(text: string, now: number): Checked<number> {
  const time = parseTime(text);
  if (!time.ok || time.value > now) return time;
  return bad(`must be in the future (${text} is past; a date means 00:00 UTC)`);
}

/** A mail host as the store knows it. */
export function parseHost(text: string): Checked<string> {
  const host = text.toLowerCase().replace(/\.$/, '');
  return isIP(host.replace(/^own@/, '')) !== 0 || isHostName(host.replace(/^\*\./, ''))
    ? good(host)
    : bad('must be a name such as mx.example.com or *.example.com, or an address such as 192.0.2.1');
}
