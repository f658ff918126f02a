/** The service's own numbers, out of Prometheus' text format: totals at one moment, and what happened between two. */

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;

export function parseMetrics(text: string): Sample[] {
  return text.split('\n').flatMap(line => {
    const [, name, labels = '', value] = LINE.exec(line) ?? [];
    if (name === undefined) return [];
    const pairs = [...labels.matchAll(LABEL)].map(([, key, word]) => [key!, word!.replace(/\\(.)/g, '$1')]);
    return [{ name, labels: Object.fromEntries(pairs), value: Number(value) }];
  });
}

/** What the health view is drawn from, at one moment. Counters only grow while the service lives. */
export interface Totals {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly statuses: ReadonlyMap<string, number>;
  readonly questions: ReadonlyMap<string, number>;
  readonly lookups: ReadonlyMap<string, number>;
  readonly verdicts: ReadonlyMap<string, number>;
  /** Calls of the API by upper bound in seconds, each including the ones before. */
  readonly buckets: ReadonlyMap<number, number>;
  readonly gauges: ReadonlyMap<string, number>;
}

/** Probes, pages and this page's own polling say nothing about callers. */
const API_ROUTES = new Set(['domain', 'top_domains', 'usage']);

export function totalsOf(samples: readonly Sample[], at: number): Totals {
  const requests = samples.filter(
    ({ name, labels }) =>
      name.startsWith('domain_risk_request_seconds') && API_ROUTES.has(labels.route ?? ''),
  );
  const named = (name: string) => samples.filter(sample => sample.name === name);
  const buckets = new Map<number, number>();
  for (const { name, labels, value } of requests) {
    if (!name.endsWith('_bucket')) continue;
    const bound = labels.le === '+Inf' ? Infinity : Number(labels.le);
    buckets.set(bound, (buckets.get(bound) ?? 0) + value);
  }
  return {
    at,
    statuses: sumBy(
      requests.filter(({ name }) => name.endsWith('_count')),
      'status',
    ),
    questions: sumBy(named('domain_risk_dns_questions_total'), 'outcome'),
    lookups: sumBy(named('domain_risk_dns_lookups_total'), 'how'),
    verdicts: sumBy(named('domain_risk_verdicts_total'), 'reason'),
    buckets,
    gauges: new Map(
      samples.filter(({ labels }) => Object.keys(labels).length === 0).map(one => [one.name, one.value]),
    ),
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

/** What came between two moments; a service that was started again begins anew. */
export function between<K>(before: ReadonlyMap<K, number>, after: ReadonlyMap<K, number>): Map<K, number> {
  const isNew = [...before].some(([key, value]) => (after.get(key) ?? 0) < value);
  return new Map([...after].map(([key, value]) => [key, isNew ? value : value - (before.get(key) ?? 0)]));
}

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
