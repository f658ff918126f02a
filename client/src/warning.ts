/** What is told to hooks, and what is told to a person where there is none. */

import type { Failure } from './result.ts';

/** These are the caller's to fix, and nobody would see them where every failure means "continue". */
export const LOUD: readonly unknown[] = [401, 403, 404, 422, 'options'];

/** A hook is not to be trusted either: what it throws or rejects with goes nowhere. */
export function tell<T>(hook: (value: T) => unknown, value: T): void {
  (async () => hook(value))().catch(() => {});
}

/** Once for each kind. */
export function createWarner(loud: readonly unknown[]) {
  const told = new Set<unknown>();
  return (problem: Failure, hook: ((problem: Failure) => void) | undefined): void => {
    const kind = problem.status ?? problem.cause;
    if (!loud.includes(kind) || told.has(kind)) return;
    told.add(kind);
    tell(hook ?? (({ message }) => console.error(`@domain-risk/client: ${message}`)), problem);
  };
}
