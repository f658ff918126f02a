/** Long work as a generator of small steps (cooperative multitasking): others may be answered in between. */

export type Steps<T> = Generator<undefined, T, undefined>;

/** So many names are a step: well below a millisecond of work for the dearest of them. */
export const STEP = 500;

/** Of work that asks the suffix list, tables and lists about each of them, at 10 to 25 µs (2026-11-17): 0.5 ms. */
export const DEEP_STEP = STEP / 25;

/** Of work on bytes alone so many: 0.1 ms. */
export const BYTE_STEP = 8 * STEP;

/** For whoever has nobody waiting. */
export function allAtOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}
