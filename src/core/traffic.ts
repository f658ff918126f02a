/** What was answered, counted by minute and by hour: for operators who look back further than the page was open. */

/** In seconds: from a tenth of a millisecond, a cached answer, to the whole DNS budget. Stored counts go by these. */
export const LATENCY_BOUNDS = [
  ...[0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005],
  ...[0.01, 0.025, 0.1, 0.5, 1, 2.5],
] as const;

/** One for each bound, for answers that took no longer, and one for all above. */
export const LATENCIES = [
  ...(['t0', 't1', 't2', 't3', 't4', 't5', 't6'] as const),
  ...(['t7', 't8', 't9', 't10', 't11', 't12'] as const),
] as const;

export const COUNTS = ['calls', 'verdicts', 'flagged', 'degraded', 'refused', 'failed'] as const;

/**
 * `calls` are requests that the quota is for, `refused` those answered with 4xx or shed, `failed` those with another 5xx.
 * One call may have many verdicts, or none. Latencies are of calls that were answered.
 */
export type Traffic = Readonly<Record<(typeof COUNTS)[number] | (typeof LATENCIES)[number], number>>;

/** All calls of `span` milliseconds from `at` on, of every server on the store. */
export type TrafficSlot = Traffic & { readonly span: number; readonly at: number };

const MEMBERS = [...COUNTS, ...LATENCIES];

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** What is kept, and for how long: 121 and 769 rows at most, however many calls there are. */
export const KEPT = [
  { span: MINUTE_MS, forMs: 2 * HOUR_MS },
  { span: HOUR_MS, forMs: 32 * DAY_MS },
] as const;

/** What can be asked for: `step` is one place of the chart, made of slots of `span`. */
export const RANGES = {
  hour: { span: MINUTE_MS, step: MINUTE_MS, steps: 60 },
  day: { span: HOUR_MS, step: HOUR_MS, steps: 24 },
  week: { span: HOUR_MS, step: 6 * HOUR_MS, steps: 28 },
  month: { span: HOUR_MS, step: DAY_MS, steps: 30 },
} as const;
export type Range = keyof typeof RANGES;
export const isRange = (text: string): text is Range => Object.hasOwn(RANGES, text);

const combined = (of: (member: (typeof MEMBERS)[number]) => number) =>
  Object.fromEntries(MEMBERS.map(member => [member, of(member)])) as Traffic;

export const NO_TRAFFIC: Traffic = combined(() => 0);
export const sumOf = (all: readonly Traffic[]): Traffic =>
  combined(member => all.reduce((sum, one) => sum + one[member], 0));
export const since = (before: Traffic, now: Traffic): Traffic =>
  combined(member => now[member] - before[member]);
export const isNothing = (traffic: Traffic) => MEMBERS.every(member => traffic[member] === 0);

/** Both slots that a moment belongs to. */
export const slotsAt = (now: number, traffic: Traffic): TrafficSlot[] =>
  KEPT.map(({ span }) => ({ ...traffic, span, at: now - (now % span) }));

/** The moment of the first place; the last one is the one that is under way. */
export function beginningOf(range: Range, now: number): number {
  const { step, steps } = RANGES[range];
  return now - (now % step) - (steps - 1) * step;
}

/** Every place of a range, also those in which nothing was asked. */
export function placesOf(
  range: Range,
  now: number,
  slots: readonly TrafficSlot[],
): { readonly at: number; readonly traffic: Traffic }[] {
  const { step, steps } = RANGES[range];
  const first = beginningOf(range, now);
  const byPlace = Map.groupBy(slots, ({ at }) => Math.floor((at - first) / step));
  return Array.from({ length: steps }, (_, place) => ({
    at: first + place * step,
    traffic: sumOf(byPlace.get(place) ?? []),
  }));
}

/** In milliseconds, by where it lies between the bounds around it; null where nothing was answered. */
export function latencyOf(traffic: Traffic, share: number): number | null {
  const counts = LATENCIES.map(member => traffic[member]);
  const wanted = share * counts.reduce((sum, count) => sum + count, 0);
  if (wanted === 0) return null;
  let below = 0;
  const at = counts.findIndex(count => {
    below += count;
    return below >= wanted;
  });
  const most = LATENCY_BOUNDS[at];
  // Above the last bound nothing is known but that.
  if (most === undefined) return 1_000 * LATENCY_BOUNDS.at(-1)!;
  const least = LATENCY_BOUNDS[at - 1] ?? 0;
  const within = (wanted - (below - counts[at]!)) / counts[at]!;
  return Math.round(100_000 * (least + within * (most - least))) / 100;
}
