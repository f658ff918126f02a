/** Small choices and lists that stay in this browser; where it forbids that, they last as long as the page. */

import { type Shared, share } from './shared.ts';

export function kept<T>(name: string, first: T, check: (value: unknown) => value is T): Shared<T> {
  const shared = share(stored(name, first, check));
  shared.watch(next => {
    try {
      // What is as it is without a choice leaves no trace.
      if (JSON.stringify(next) === JSON.stringify(first)) localStorage.removeItem(name);
      else localStorage.setItem(name, JSON.stringify(next));
    } catch {
      // Then it lasts as long as the page.
    }
  });
  return shared;
}

function stored<T>(name: string, first: T, check: (value: unknown) => value is T): T {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(name) ?? 'null');
    return check(value) ? value : first;
  } catch {
    return first;
  }
}

export const isBoolean = (value: unknown): value is boolean => typeof value === 'boolean';
