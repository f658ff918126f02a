/** Values that people type on the command line, checked, with a message that names the fix. */

import { type Domain, parseDomain } from '../core/domain.ts';
import type { Checked } from '../core/origin.ts';
import { MAX_QUOTA } from '../core/quota.ts';
import { UsageProblem } from './print.ts';

/** For commander, which passes what it has collected so far as the second argument. */
export function checkedList(parse: (text: string) => Checked<string>) {
  return (text: string, before: readonly string[] = []): string[] => {
    if (text === 'any') return [];
    const checked = parse(text);
    if (!checked.ok) throw new UsageProblem(checked.problem);
    return [...before, checked.value];
  };
}

function wholeNumber(name: string, none: string, least: number, most: number) {
  return (text: string): number | null => {
    if (text === none) return null;
    const value = /^\d{1,10}$/.test(text) ? Number(text) : -1;
    if (value < least || value > most) {
      throw new UsageProblem(`${name} must be a whole number from ${least} to ${most}, or "${none}"`);
    }
    return value;
  };
}

export const quotaValue = wholeNumber('the quota', 'unlimited', 0, MAX_QUOTA);
export const rateValue = wholeNumber('the rate', 'none', 1, 1_000_000);
export const limitValue = (text: string): number => {
  const value = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (value < 1 || value > 1000) throw new UsageProblem('the limit must be a whole number from 1 to 1000');
  return value;
};

/** A day or a moment in UTC. */
export function dateValue(text: string): number | null {
  if (text === 'never') return null;
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text);
  const ms = isDay || /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/.test(text) ? Date.parse(text) : Number.NaN;
  // Date.parse takes 30 February for 2 March; a day that does not come back as it was typed does not exist.
  const exists = !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text.slice(0, 10));
  if (!exists) throw new UsageProblem('a date must be like 2027-01-31 or 2027-01-31T12:00:00Z, or "never"');
  return ms;
}

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

export function durationValue(text: string): number {
  const parts = /^(\d{1,6})([smhd])$/.exec(text);
  if (text === '0') return 0;
  if (!parts) throw new UsageProblem('a duration must be like 30m, 24h or 7d, or 0');
  return Number(parts[1]) * UNITS[parts[2]!]!;
}

export function domainValue(text: string): Domain {
  const parsed = parseDomain(text);
  if (!parsed.ok) throw new UsageProblem(`not a domain: ${parsed.detail}`);
  return parsed.domain;
}

/** Names and notes are shown in tables and on pages: one line of text, bounded. */
export function labelValue(text: string): string {
  const clean = text.trim();
  if (clean === '' || clean.length > 200 || /[\p{Cc}]/u.test(clean)) {
    throw new UsageProblem('a name or note must be one line of 1 to 200 characters');
  }
  return clean;
}
