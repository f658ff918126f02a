/** Values that people type on the command line, checked, with a message that names the fix. */

import type { Checked } from '../core/checked.ts';
import { type Domain, parseDomain } from '../core/domain.ts';
import { parseLabel } from '../core/label.ts';
import { MAX_QUOTA } from '../core/quota.ts';
import { MAX_RATE } from '../core/rate.ts';
import { LONGEST_OVERLAP } from '../core/rotation.ts';
import { parseHost, parseMoment } from '../core/typed.ts';
import { UsageProblem } from './print.ts';

/**
 * For commander, which passes what it has collected so far as the second argument; an empty list is "any". Beside others
 * that made a key for everybody or not, by which came last (2026-11-19).
 */
export function checkedList(option: string, parse: (text: string) => Checked<string>) {
  return (text: string, before?: readonly string[]): string[] => {
    const isAny = text === 'any';
    if (before && isAny !== (before.length === 0))
      throw new UsageProblem(
        `${option} any is no limit: leave it out to keep the others, or leave these out for no limit`,
      );
    if (isAny) return [];
    const checked = parse(text);
    if (!checked.ok) throw new UsageProblem(checked.problem);
    return [...(before ?? []), checked.value];
  };
}

/** What was typed to take a limit away. Not null, which commander takes for "no value" and replaces by ''. */
export const NONE = Symbol('none');
export type OrNone<T> = T | typeof NONE;

export function orNull<T>(typed: OrNone<T>): T | null {
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
export const rateValue = wholeNumber('the rate', 'none', 1, MAX_RATE);
export const limitValue = (text: string): number => {
  const value = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (value < 1 || value > 1000) throw new UsageProblem('the limit must be a whole number from 1 to 1000');
  return value;
};

export function dateValue(text: string): OrNone<number> {
  if (text === 'never') return NONE;
  const moment = parseMoment(text, Date.now());
  if (!moment.ok) throw new UsageProblem(`a date ${moment.problem}, or "never"`);
  return moment.value;
}

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

export function durationValue(text: string): number {
  const parts = /^(\d{1,6})([smhd])$/.exec(text);
  if (text === '0') return 0;
  if (!parts) throw new UsageProblem('a duration must be like 30m, 24h or 7d, or 0');
  return Number(parts[1]) * UNITS[parts[2]!]!;
}

export function overlapValue(text: string): number {
  const value = durationValue(text);
  if (value > LONGEST_OVERLAP * 1_000)
    throw new UsageProblem(`the overlap must be at most ${LONGEST_OVERLAP / 86_400}d, such as 24h or 30d`);
  return value;
}

export function domainValue(text: string): Domain {
  const parsed = parseDomain(text);
  if (!parsed.ok) throw new UsageProblem(`not a domain: ${parsed.detail}`);
  return parsed.domain;
}

export function labelValue(text: string): string {
  const label = parseLabel(text);
  if (!label.ok) throw new UsageProblem(`a name or note ${label.problem}`);
  return label.value;
}

/** A whole number of things, at least one. */
export function countValue(name: string, most: number) {
  return (text: string): number => {
    const value = /^\d{1,10}$/.test(text) ? Number(text) : 0;
    if (value < 1 || value > most) throw new UsageProblem(`${name} must be a whole number from 1 to ${most}`);
    return value;
  };
}

export function hostValue(text: string): string {
  const host = parseHost(text);
  if (!host.ok) throw new UsageProblem(`a host ${host.problem}`);
  return host.value;
}
