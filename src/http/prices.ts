/**
 * What an answer of each kind costs, in microseconds of the event loop, all in: what a caller is charged when not all
 * can be served (fairness.ts). Rough is good enough: they only decide who waits. Measured 2026-11-15, 2 arm64 cores.
 */
export const PRICES = {
  /** Prepared bytes: a probe, a refusal, a small page. */
  bytes: 60,
  /** Of 95 KB: most of it is the kernel's, and comes when the turn is over. */
  page: 300,
  /** A list of up to 95 KB of which the bytes are there, counted in the store (2026-11-17: 1.5 times a call). */
  list: 150,
  /** Counted in the store and judged. */
  call: 100,
  /** Read from the store, and written as JSON. */
  read: 250,
  /** 250 changes that have to be read from the store. */
  portion: 1_000,
} as const;

/** Few names are longer, … */
const USUAL_LENGTH = 64;
/** … and none is looked at that is longer than this. */
const MOST_LENGTH = 1_024;
/** Each label is a parent, looked for in every table. A name has no more than so many. */
const LABEL = 4;
const MOST_LABELS = 127;

/**
 * Of one name: names made to be slow take a microsecond for each character and some for each label, after they were counted
 * and with nobody else to pay for it (2026-11-18).
 */
export function priceOf(price: number, segment: string): number {
  if (segment.length <= USUAL_LENGTH || segment.length > MOST_LENGTH) return price;
  return price + segment.length + LABEL * Math.min(MOST_LABELS, segment.split('.').length);
}
