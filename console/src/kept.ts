/** Small choices and lists that stay in this browser; where it forbids that, they last as long as the page. */

import { type Shared, share } from './shared.ts';

/** Other tabs have the same: each reads what is stored now, not what it once read. */
export function kept<T>(name: string, first: T, check: (value: unknown) => value is T): Shared<T> {
  const shared = share(first);
  const get = (): T => {
    try {
      const value: unknown = JSON.parse(localStorage.getItem(name) ?? 'null');
      return check(value) ? value : first;
    } catch {
      return shared.get();
    }
  };
  addEventListener('storage', ({ key }) => {
    if (key === name || key === null) shared.set(get());
  });
  return {
    ...shared,
    get,
    set(next) {
      try {
        // What is as it is without a choice leaves no trace.
        if (JSON.stringify(next) === JSON.stringify(first)) localStorage.removeItem(name);
        else localStorage.setItem(name, JSON.stringify(next));
      } catch {
        // Then it lasts as long as the page.
      }
      shared.set(next);
    },
  };
}

export const isBoolean = (value: unknown): value is boolean => typeof value === 'boolean';
