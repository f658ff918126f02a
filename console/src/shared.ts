/** A value that several parts of the page look at, and the hook that keeps them up to date. */

import { useLayoutEffect, useState } from 'preact/hooks';

export interface Shared<T> {
  get(): T;
  set(next: T): void;
  /** Gives the way to end it. */
  watch(tell: (value: T) => void): () => void;
}

export function share<T>(first: T): Shared<T> {
  let value = first;
  const watchers = new Set<(value: T) => void>();
  return {
    get: () => value,
    set(next) {
      value = next;
      // One of them may have set it again meanwhile.
      for (const tell of watchers) tell(value);
    },
    watch(tell) {
      watchers.add(tell);
      return () => void watchers.delete(tell);
    },
  };
}

export function useShared<T>(shared: Shared<T>): T {
  const [value, setValue] = useState(() => shared.get());
  useLayoutEffect(() => {
    setValue(() => shared.get());
    return shared.watch(next => setValue(() => next));
  }, [shared]);
  return value;
}
