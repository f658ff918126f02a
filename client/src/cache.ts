/** Answers that may be given again: as long as the service allowed, and only so many. */

export interface Cache<T> {
  get(key: string): T | undefined;
  set(key: string, value: T, milliseconds: number): void;
}

/** The one used longest ago makes room. */
export function createCache<T>(most: number, now: () => number): Cache<T> {
  const kept = new Map<string, { readonly value: T; readonly until: number }>();
  return {
    get(key) {
      const entry = kept.get(key);
      if (!entry) return undefined;
      kept.delete(key);
      if (entry.until <= now()) return undefined;
      kept.set(key, entry);
      return entry.value;
    },
    set(key, value, milliseconds) {
      if (milliseconds <= 0 || most <= 0) return;
      kept.delete(key);
      kept.set(key, { value, until: now() + milliseconds });
      if (kept.size > most) kept.delete(kept.keys().next().value!);
    },
  };
}
