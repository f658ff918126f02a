/** Query parameters, checked. */

import { type Refusal, refuse } from '../core/refusal.ts';

/** A whole number from 1 on; undefined where it is not asked for. */
export function readCount(query: string, name: string, most: number): number | undefined | Refusal {
  const text = query === '' ? null : new URLSearchParams(query).get(name);
  if (text === null) return undefined;
  const count = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= most) return count;
  return refuse('validation_error', `${name} must be a whole number from 1 to ${most}`);
}

/** Undefined where it is not there, or empty. */
export function readText(query: string, name: string): string | undefined {
  return query === '' ? undefined : new URLSearchParams(query).get(name) || undefined;
}

/** False where it is not asked for. */
export function readFlag(query: string, name: string): boolean | Refusal {
  if (query === '') return false;
  const value = new URLSearchParams(query).get(name) ?? 'false';
  if (value === 'true' || value === 'false') return value === 'true';
  return refuse('validation_error', `${name} must be true or false`);
}
