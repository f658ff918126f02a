/** How large the process tests are: a short form for every run, the full form when `CHAOS` is set. */

/** `CHAOS=1` runs the full form of the promises. */
export const full = process.env.CHAOS === '1';

export function sized<T>(short: T, whole: T): T {
  return full ? whole : short;
}

/** Printed by every test that uses it; `SEED=n` replays a run. */
export const SEED = Number(process.env.SEED ?? (full ? Date.now() % 2 ** 31 : 20261115));

/** Numbers from 0 to 1. */
export type Random = () => number;

export const upTo = (random: Random, most: number) => Math.floor(random() * (most + 1));
export const pick = <T>(random: Random, list: readonly T[]): T => list[Math.floor(random() * list.length)]!;

/** Such that only the seed decides (mulberry32). */
export function randomFrom(seed: number): Random {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export const pause = (ms: number) => new Promise<void>(resolve => setTimeout(resolve, ms));

/** Once around the event loop: what was to happen in its next check phase has happened. */
export const turn = () => new Promise<void>(resolve => setImmediate(resolve));

/** Holds the event loop, as a long piece of work would, and leaves the processor to others. */
export function hold(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/**
 * The least of many times, whatever else the machine does meanwhile: until one is below what is enough. Of 50 rounds none was
 * where the compiler had no time for it (2026-11-18), nor of 5 s without a pause beside two busy processes (2026-11-19).
 */
export function leastMs(work: () => void, enough: number): number {
  const until = performance.now() + 20_000;
  const nobody = new Int32Array(new SharedArrayBuffer(4));
  let least = Number.POSITIVE_INFINITY;
  for (let round = 1; least >= enough && performance.now() < until; round++) {
    const begun = performance.now();
    work();
    least = Math.min(least, performance.now() - begun);
    // The compiler is another thread.
    if (round % 100 === 0) Atomics.wait(nobody, 0, 0, 10);
  }
  return least;
}

/** Pauses between two looks: asking all the time costs as much as what it waits for. */
const LOOK_MS = { least: 20, most: 200, share: 0.05 };

/** Asks again until it is true, which it notices a twentieth late at the most, or fails with `what` after `ms`. */
export async function eventually(
  what: string,
  isTrue: () => boolean | Promise<boolean>,
  ms = 90_000,
): Promise<void> {
  const began = performance.now();
  while (!(await isTrue())) {
    const waited = performance.now() - began;
    if (waited > ms) throw new Error(`not within ${ms} ms: ${what}`);
    await pause(Math.min(LOOK_MS.most, Math.max(LOOK_MS.least, LOOK_MS.share * waited)));
  }
}
