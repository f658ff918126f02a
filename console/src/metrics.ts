/** The service's own numbers, out of Prometheus' text format: totals at one moment, and what happened between two. */

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/;
const LABEL = /,(\w+)="((?:[^"\\]|\\.)*)"/g;

export function parseMetrics(text: string): Sample[] {
  return text.split('\n').flatMap(line => {
    const [, name, labels = '', value] = LINE.exec(line) ?? [];
    if (name === undefined) return [];
    const pairs = [...`,${labels}`.matchAll(LABEL)].map(([, key, word]) => [
      key!,
      word!.replace(/\\(.)/g, '$1'),
    ]);
    return [{ name, labels: Object.fromEntries(pairs), value: Number(value) }];
  });
}

/** Counters: they only grow while a process lives. */
export interface Counts {
  readonly statuses: ReadonlyMap<string, number>;
  readonly lookups: ReadonlyMap<string, number>;
  /** Calls of the API by upper bound in seconds, each including the ones before. */
  readonly buckets: ReadonlyMap<number, number>;
}

/** What the health view is drawn from, at one moment, as one process of the service told it. */
export interface Totals extends Counts {
  /** Milliseconds since the epoch: when it was asked, since the answer may be late. */
  readonly at: number;
  /** When the process began, in seconds since the epoch: by it servers that answer in turn are told apart. */
  readonly start: number;
  readonly cpuSeconds: number;
  readonly questions: ReadonlyMap<string, number>;
  readonly verdicts: ReadonlyMap<string, number>;
  readonly inFlight: number;
}

/** What callers ask with a key, by the names of the routes. Probes, pages and this page's own polling say nothing of them. */
export const API_ROUTES: ReadonlySet<string> = new Set([
  ...['domain', 'domains', 'check', 'top_domains', 'changes', 'filter', 'usage'],
]);

export function totalsOf(samples: readonly Sample[], at: number): Totals {
  const requests = samples.filter(
    ({ name, labels }) =>
      name.startsWith('domain_risk_request_seconds') && API_ROUTES.has(labels.route ?? ''),
  );
  const named = (name: string) => samples.filter(sample => sample.name === name);
  const only = (name: string) => named(name)[0]?.value ?? 0;
  const buckets = new Map<number, number>();
  for (const { name, labels, value } of requests) {
    if (!name.endsWith('_bucket')) continue;
    const bound = labels.le === '+Inf' ? Infinity : Number(labels.le);
    buckets.set(bound, (buckets.get(bound) ?? 0) + value);
  }
  return {
    at,
    start: only('process_start_time_seconds'),
    cpuSeconds: only('process_cpu_seconds_total'),
    statuses: sumBy(
      requests.filter(({ name }) => name.endsWith('_count')),
      'status',
    ),
    questions: sumBy(named('domain_risk_dns_questions_total'), 'outcome'),
    lookups: sumBy(named('domain_risk_dns_lookups_total'), 'how'),
    verdicts: sumBy(named('domain_risk_verdicts_total'), 'reason'),
    buckets,
    inFlight: only('domain_risk_requests_in_flight'),
  };
}

function sumBy(samples: readonly Sample[], label: string): Map<string, number> {
  const sums = new Map<string, number>();
  for (const { labels, value } of samples)
    sums.set(labels[label] ?? '', (sums.get(labels[label] ?? '') ?? 0) + value);
  return sums;
}

export const sum = (counts: ReadonlyMap<unknown, number>) =>
  [...counts.values()].reduce((all, one) => all + one, 0);

const NOTHING: Counts = { statuses: new Map(), lookups: new Map(), buckets: new Map() };

function added<K>(to: ReadonlyMap<K, number>, more: ReadonlyMap<K, number>, sign: 1 | -1): Map<K, number> {
  const all = new Map(to);
  for (const [key, value] of more) all.set(key, (all.get(key) ?? 0) + sign * value);
  return all;
}

const combined = (a: Counts, b: Counts, sign: 1 | -1): Counts => ({
  statuses: added(a.statuses, b.statuses, sign),
  lookups: added(a.lookups, b.lookups, sign),
  buckets: added(a.buckets, b.buckets, sign),
});

/** What one process did between two looks at it. */
export interface Interval extends Counts {
  readonly start: number;
  /** The end of it, in milliseconds since the epoch. */
  readonly at: number;
  readonly seconds: number;
}

interface Process {
  readonly last: Totals;
  /** Since the first look at any process. */
  readonly counted: Counts;
  /** Two that began in the same second: nothing tells whose numbers these are. */
  readonly isMixed: boolean;
}

/** All that was seen since the first look. */
export interface Watch {
  /** Milliseconds since the epoch. */
  readonly since: number;
  readonly last: Totals;
  readonly processes: ReadonlyMap<number, Process>;
  readonly intervals: readonly Interval[];
}

/** An hour of looks. */
const MOST_INTERVALS = 720;

export function watchOn(watch: Watch | undefined, now: Totals): Watch {
  const since = watch?.since ?? now.at;
  const processes = new Map(watch?.processes);
  const known = processes.get(now.start);
  const before = known?.last ?? newborn(now, watch);
  const isMixed = known !== undefined && (known.isMixed || hasFallen(known.last, now));
  const done = before && !isMixed ? combined(now, before, -1) : NOTHING;
  const counted = isMixed ? NOTHING : combined(known?.counted ?? NOTHING, done, 1);
  processes.set(now.start, { last: now, counted, isMixed });
  const intervals = (watch?.intervals ?? []).filter(({ start }) => !isMixed || start !== now.start);
  if (before && !isMixed) {
    const seconds = Math.max(0.001, (now.at - before.at) / 1000);
    intervals.push({ ...done, start: now.start, at: now.at, seconds });
  }
  return { since, last: now, processes, intervals: intervals.slice(-MOST_INTERVALS) };
}

/**
 * A process that began after the first look had counted nothing then; of an older one nobody knows what it had. The
 * clock here may not be that of the service: what a new one did is spread over the time since the last look at least.
 */
function newborn({ start }: Totals, watch: Watch | undefined): (Counts & { at: number }) | undefined {
  if (!watch || start * 1000 < watch.since) return undefined;
  return { ...NOTHING, at: Math.min(start * 1000, watch.last.at) };
}

const hasFallen = (before: Totals, after: Totals) =>
  after.cpuSeconds < before.cpuSeconds ||
  [...before.statuses].some(([status, count]) => (after.statuses.get(status) ?? 0) < count);

/** What all of them did since the first look. */
export const countedIn = ({ processes }: Watch): Counts =>
  [...processes.values()].reduce((all, { counted }) => combined(all, counted, 1), NOTHING);

/** Seconds below which this share of calls was answered, guessed evenly inside a bucket; null without a call. */
export function quantile(buckets: ReadonlyMap<number, number>, share: number): number | null {
  const bounds = [...buckets].sort(([a], [b]) => a - b);
  const all = bounds.at(-1)?.[1] ?? 0;
  if (all === 0) return null;
  let [low, below] = [0, 0];
  for (const [bound, count] of bounds) {
    if (count >= share * all) {
      if (bound === Infinity) return low;
      return count === below ? bound : low + ((bound - low) * (share * all - below)) / (count - below);
    }
    [low, below] = [bound, count];
  }
  return low;
}
