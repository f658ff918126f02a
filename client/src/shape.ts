/** Checks of parsed JSON: the words that the generated checks are made of. */

export type Check = (value: unknown) => boolean;

export const string: Check = value => typeof value === 'string';
export const boolean: Check = value => typeof value === 'boolean';
export const number: Check = value => typeof value === 'number';
export const nothing: Check = value => value === null;

export function integer(least = -Infinity, most: number = Infinity): Check {
  return value => Number.isInteger(value) && (value as number) >= least && (value as number) <= most;
}

export function literal(wanted: unknown): Check {
  return value => value === wanted;
}

export function either(...checks: Check[]): Check {
  return value => checks.some(check => check(value));
}

export function optional(check: Check): Check {
  return value => value === undefined || check(value);
}

export function array(check: Check): Check {
  return value => Array.isArray(value) && value.every(check);
}

/** Members that it does not know are allowed. */
export function object(members: Record<string, Check>): Check {
  return value =>
    typeof value === 'object' &&
    value !== null &&
    Object.entries(members).every(([name, check]) => check((value as Record<string, unknown>)[name]));
}
