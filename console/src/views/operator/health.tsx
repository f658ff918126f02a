/** How the service is doing, from its metrics: asked every five seconds while somebody looks. */

import { useEffect } from 'preact/hooks';
import type { Failure } from '../../api.ts';
import { percent } from '../../attention.ts';
import { askDns, askMetrics, type DnsProblem } from '../../calls.ts';
import {
  countedIn,
  type Interval,
  parseMetrics,
  quantile,
  sum,
  type Totals,
  totalsOf,
  type Watch,
  watchOn,
} from '../../metrics.ts';
import { type Bar, Bars } from '../../parts/bars.tsx';
import { Chart } from '../../parts/chart.tsx';
import { useEvery } from '../../parts/every.ts';
import { FailureNotice, Notice, Waiting } from '../../parts/notice.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Tile } from '../../parts/tile.tsx';
import { type Shared, share, useShared } from '../../shared.ts';
import { number, plural } from '../../time.ts';

const EVERY_MS = 5_000;

interface Watched {
  readonly watch?: Watch;
  readonly failure?: Failure;
  readonly dns?: readonly DnsProblem[];
}
/** Kept while the page lives: the charts begin where they were. */
const watched: Shared<Watched> = share<Watched>({});
let isAsking = false;

async function poll(): Promise<void> {
  if (isAsking) return;
  isAsking = true;
  const at = Date.now();
  const [result, ofDns] = await Promise.all([askMetrics(), askDns()]);
  isAsking = false;
  const dns = ofDns?.problems ?? [];
  const before = watched.get();
  if (result.ok) watched.set({ watch: watchOn(before.watch, totalsOf(parseMetrics(result.data), at)), dns });
  else watched.set({ ...before, failure: result, dns });
}

export function Health() {
  const { watch, failure, dns = [] } = useShared(watched);
  useEffect(() => void poll(), []);
  useEvery(EVERY_MS, () => void poll());
  return (
    <>
      <div class="toolbar">
        <h2>Health</h2>
        <p class="hint">
          API calls since you opened this tab, refreshed every 5 seconds. Home has the last hour, day, week
          and month.
        </p>
      </div>
      {failure?.code === 'not_found' ? (
        <Notice tone="warning" title="The metrics are not served here">
          <p>
            They are switched off (<code>METRICS_PORT=off</code>), or a proxy does not pass them on. Home does
            without them.
          </p>
        </Notice>
      ) : (
        failure && <FailureNotice failure={failure} onRetry={() => void poll()} />
      )}
      {dns.map(({ address, problem }) => (
        <Notice key={address} tone="warning" title={`DNS server ${address} is not trusted`}>
          <p>It {problem}.</p>
        </Notice>
      ))}
      {!watch && !failure && <Waiting for="the metrics" />}
      {watch && <Figures watch={watch} />}
    </>
  );
}

const ms = (seconds: number | null) => (seconds === null ? '–' : `${Math.round(seconds * 100_000) / 100} ms`);

function Figures({ watch }: { watch: Watch }) {
  const { statuses, buckets, lookups } = countedIn(watch);
  const calls = sum(statuses);
  const failed = [...statuses]
    .filter(([status]) => status.startsWith('5'))
    .reduce((all, [, one]) => all + one, 0);
  const { hits, asked } = cacheUse(lookups);
  return (
    <>
      <Several watch={watch} />
      <dl class="tiles">
        <Tile name="Calls" value={number(calls)} />
        <Tile name="Failed (5xx)" value={number(failed)} isBad={failed > 0} />
        <Tile name="Median (p50)" value={ms(quantile(buckets, 0.5))} />
        <Tile name="p99" value={ms(quantile(buckets, 0.99))} />
        <Tile name="DNS cache hits" value={percent(hits, asked)} />
        <Tile name="In flight now" value={number(watch.last.inFlight)} />
      </dl>
      <OverTime intervals={watch.intervals} />
      <SinceStart last={watch.last} isOneOfMany={watch.processes.size > 1} />
    </>
  );
}

/** Behind a balancer another server may answer each time. */
function Several({ watch: { processes } }: { watch: Watch }) {
  if ([...processes.values()].some(({ isMixed }) => isMixed))
    return (
      <Notice tone="warning" title="Some servers cannot be told apart">
        <p>
          They began in the same second and answer in turn, so their calls are left out here. Look at the
          metrics of each by its own address.
        </p>
      </Notice>
    );
  if (processes.size === 1) return null;
  return (
    <p class="hint">
      {processes.size} processes answered so far: servers that take turns, or one that was started again. Each
      interval is of the one that answered then.
    </p>
  );
}

function SinceStart({ last, isOneOfMany }: { last: Totals; isOneOfMany: boolean }) {
  return (
    <section aria-labelledby="start-title">
      <h3 id="start-title">
        {isOneOfMany ? 'Since the server that answered last was started' : 'Since the service was started'}
      </h3>
      <div class="charts">
        <Bars title="Calls by status" bars={bars(last.statuses)} />
        <Bars title="DNS answers by outcome" bars={bars(last.questions)} />
        <Bars title="DNS cache" bars={bars(last.lookups, CACHE_WORDS)} />
        <Bars title="Verdicts by reason" bars={bars(last.verdicts)} />
      </div>
    </section>
  );
}

/** Lookups that needed no question of their own, of all that needed DNS. */
function cacheUse(lookups: Totals['lookups']): { hits: number; asked: number } {
  const count = (how: string) => lookups.get(how) ?? 0;
  const hits = count('hit') + count('joined');
  return { hits, asked: hits + count('miss') };
}

const CACHE_WORDS: Readonly<Record<string, string>> = {
  background: 'refreshed in background',
  capped: 'no room to ask',
  joined: 'shared with a running query',
  stale: 'older answer',
};

function bars(counts: ReadonlyMap<string, number>, words: Readonly<Record<string, string>> = {}): Bar[] {
  return [...counts]
    .filter(([, value]) => value > 0)
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([name, value]) => ({ name: words[name] ?? name, value, tone: toneOf(name) }));
}

const toneOf = (name: string) =>
  /^5\d\d$/.test(name) ? 'confirmed' : /^4\d\d$/.test(name) ? 'warn' : 'accent';

/** One row for each interval: what happened in these five seconds. */
interface Row {
  readonly at: number;
  readonly good: number;
  readonly refused: number;
  readonly failed: number;
  readonly half: number | null;
  readonly most: number | null;
}

function rowOf({ at, seconds, statuses, buckets }: Interval): Row {
  const rate = (digits: string) =>
    [...statuses]
      .filter(([status]) => digits.includes(status[0] ?? ''))
      .reduce((all, [, one]) => all + one, 0) / seconds;
  const inMs = (share: number) => {
    const value = quantile(buckets, share);
    return value === null ? null : value * 1000;
  };
  return { at, good: rate('23'), refused: rate('4'), failed: rate('5'), half: inMs(0.5), most: inMs(0.99) };
}

const rounded = (value: number | null) => (value === null ? '–' : String(Math.round(value * 100) / 100));

const COLUMNS: readonly Column<Row>[] = [
  { name: 'Time', show: row => new Date(row.at).toISOString().slice(11, 19), by: row => row.at },
  { name: '2xx and 3xx per second', show: row => rounded(row.good), isNumber: true },
  { name: '4xx per second', show: row => rounded(row.refused), isNumber: true },
  { name: '5xx per second', show: row => rounded(row.failed), isNumber: true },
  { name: 'p50, ms', show: row => rounded(row.half), isNumber: true },
  { name: 'p99, ms', show: row => rounded(row.most), isNumber: true },
];

function OverTime({ intervals }: { intervals: readonly Interval[] }) {
  const rows = intervals.map(rowOf);
  const times = rows.map(({ at }) => at / 1000);
  return (
    <section aria-labelledby="time-title">
      <h3 id="time-title">Over time</h3>
      <div class="charts">
        <figure>
          <figcaption>Calls per second</figcaption>
          <Chart
            label={`Calls per second in ${plural(rows.length, 'interval')}; the table below has the numbers`}
            kind="lines"
            times={times}
            series={[
              { name: '2xx, 3xx', color: '--accept', values: rows.map(row => row.good) },
              { name: '4xx', color: '--warn', values: rows.map(row => row.refused) },
              { name: '5xx', color: '--confirmed', values: rows.map(row => row.failed) },
            ]}
          />
        </figure>
        <figure>
          <figcaption>Time to answer</figcaption>
          <Chart
            label={`Time to answer in ${plural(rows.length, 'interval')}; the table below has the numbers`}
            kind="lines"
            times={times}
            unit=" ms"
            series={[
              { name: 'Median (p50)', color: '--accent', values: rows.map(row => row.half) },
              { name: 'p99', color: '--warn', values: rows.map(row => row.most) },
            ]}
          />
        </figure>
      </div>
      <details>
        <summary>As a table</summary>
        <Table
          caption="Every five seconds"
          columns={COLUMNS}
          rows={rows.toReversed()}
          keyOf={row => String(row.at)}
          most={20}
        />
      </details>
    </section>
  );
}
