/** Days as numbers, so that two bytes hold since when a name is known: 172,000 names in a third of a megabyte. */

/** Days since 1970-01-01 in UTC, up to the year 2149; 0 where nobody tells. */
export type Day = number;

const DAY_MS = 86_400_000;
const LAST = 2 ** 16 - 1;

export function dayAt(ms: number): Day {
  return Math.min(LAST, Math.max(0, Math.floor(ms / DAY_MS)));
}

/** From `YYYY-MM-DD`; 0 for anything else, since it may stand in a stranger's list. */
export function dayFrom(text: string): Day {
  return /^\d{4}-\d\d-\d\d$/.test(text) ? dayAt(Date.parse(text) || 0) : 0;
}

export function dayText(day: Day): string | null {
  return day === 0 ? null : new Date(day * DAY_MS).toISOString().slice(0, 10);
}

/** Equal numbers that follow each other, as pairs of the number and how often it comes. */
export type Runs = readonly (readonly [value: number, times: number])[];

export function runsOf(values: ArrayLike<number>): Runs {
  const runs: [number, number][] = [];
  for (let from = 0, to = 0; from < values.length; from = to) {
    const value = values[from]!;
    while (values[to] === value) to++;
    runs.push([value, to - from]);
  }
  return runs;
}

/** Puts them into a row of numbers from a place on; gives the place behind them. What does not fit is left out. */
export function spread(runs: Runs, into: Uint16Array | Uint8Array, from: number): number {
  let at = from;
  for (const [value, times] of runs) {
    into.fill(value, at, at + times);
    at += times;
  }
  return at;
}

/** As they are, or as runs, a pair of numbers each, where these are shorter: a list that came on ten days has ten. */
export type PackedDays = Uint16Array | Uint32Array;

export function packDays(days: Uint16Array): PackedDays {
  let runs = 0;
  let before = -1;
  for (let at = 0; at < days.length; at++) {
    if (days[at] !== before) runs++;
    before = days[at]!;
  }
  if (4 * runs >= days.length) return days;
  const packed = new Uint32Array(2 * runs);
  let run = -2;
  let from = 0;
  for (let at = 0; at < days.length; at++) {
    if (run >= 0 && days[at] === packed[run]) continue;
    if (run >= 0) packed[run + 1] = at - from;
    run += 2;
    packed[run] = days[at]!;
    from = at;
  }
  packed[run + 1] = days.length - from;
  return packed;
}

/** Of so many names. */
export function unpackDays(packed: PackedDays, count: number): Uint16Array {
  if (packed instanceof Uint16Array) return packed;
  const days = new Uint16Array(count);
  for (let run = 0, at = 0; run < packed.length; run += 2) {
    days.fill(packed[run]!, at, at + packed[run + 1]!);
    at += packed[run + 1]!;
  }
  return days;
}
