/** Values that people type on the command line, checked, with a message that names the fix. */

import { isIP } from 'node:net';
import { type Domain, isHostName, parseDomain } from '../core/domain.ts';
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

/** What was typed to take a limit away. Not null, which commander takes for "no value" and replaces by ''. */
export const NONE = Symbol('none');
export type OrNone<T> = T | typeof NONE;

/** The value that was typed, null for none, or what stood before where nothing was typed. */
export function typedOr<T>(typed: OrNone<T> | undefined, before: T | null): T | null {
  if (typed === undefined) return before;
  return typed === NONE ? null : typed;
}

function wholeNumber(name: string, none: string, least: number, most: number) {
  return (text: string): OrNone<number> => {
    if (text === none) return NONE;
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

/** A day or a moment in UTC that is still to come: what ended already is a slip of the keyboard. */
export function dateValue(text: string): OrNone<number> {
  if (text === 'never') return NONE;
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text);
  const ms = isDay || /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/.test(text) ? Date.parse(text) : Number.NaN;
  // Date.parse takes 30 February for 2 March; a day that does not come back as it was typed does not exist.
  const exists = !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text.slice(0, 10));
  if (!exists) throw new UsageProblem('a date must be like 2027-01-31 or 2027-01-31T12:00:00Z, or "never"');
  if (ms <= Date.now())
    throw new UsageProblem(`${text} is over (a day begins at 00:00 UTC): name a later date`);
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

/** A whole number of things, at least one. */
export function countValue(name: string, most: number) {
  return (text: string): number => {
    const value = /^\d{1,10}$/.test(text) ? Number(text) : 0;
    if (value < 1 || value > most) throw new UsageProblem(`${name} must be a whole number from 1 to ${most}`);
    return value;
  };
}

/** A mail host as the store knows it. */
export function hostValue(text: string): string {
  const host = text.toLowerCase().replace(/\.$/, '');
  if (isIP(host) === 0 && !isHostName(host))
    throw new UsageProblem('a host must be a name such as mx.example.com or an address such as 192.0.2.1');
  return host;
}
