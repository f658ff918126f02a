/** The operator's first page: what needs attention, then calls, verdicts and latency of the last hour, day, week or month. */

import { useEffect, useRef, useState } from 'preact/hooks';
import { askTraffic, type Feeds, type ListedKey, listFeeds, listKeys, type Traffic } from '../../admin.ts';
import type { Failure } from '../../api.ts';
import { attentionOf, dnsWord, percent } from '../../attention.ts';
import { askDns, type Dns } from '../../calls.ts';
import { isRange, RANGES, type Range } from '../../operator-path.ts';
import { Chart } from '../../parts/chart.tsx';
import { useEvery } from '../../parts/every.ts';
import { FailureNotice, Notice, Waiting } from '../../parts/notice.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Tile } from '../../parts/tile.tsx';
import { route } from '../../route.ts';
import { useShared } from '../../shared.ts';
import { fromNow, moment, number } from '../../time.ts';

const EVERY_MS = 10_000;

interface Seen {
  readonly traffic?: Traffic;
  readonly keys?: readonly ListedKey[];
  readonly feeds?: Feeds;
  readonly dns?: Dns | undefined;
  readonly failure?: Failure | undefined;
}

/** Asked again every so often while somebody looks. */
function useSeen(range: Range): [Seen, () => void] {
  const [seen, setSeen] = useState<Seen>({});
  const look = useRef(() => {});
  useEffect(() => {
    let isGone = false;
    look.current = async () => {
      const [traffic, keys, feeds, dns] = await Promise.all([
        ...([askTraffic(range), listKeys(), listFeeds(), askDns()] as const),
      ]);
      if (isGone) return;
      const failure = [traffic, keys, feeds].find(result => !result.ok);
      setSeen(before => ({
        ...before,
        ...(traffic.ok ? { traffic: traffic.data } : {}),
        ...(keys.ok ? { keys: keys.data.keys } : {}),
        ...(feeds.ok ? { feeds: feeds.data } : {}),
        dns,
        failure: failure?.ok === false ? failure : undefined,
      }));
    };
    look.current();
    return () => {
      isGone = true;
    };
  }, [range]);
  useEvery(EVERY_MS, () => look.current());
  return [seen, () => look.current()];
}

export function Home() {
  const [, , wanted = ''] = useShared(route);
  const range: Range = isRange(wanted) ? wanted : 'day';
  const [{ traffic, keys, feeds, dns, failure }, look] = useSeen(range);
  return (
    <>
      <div class="toolbar">
        <h2 tabIndex={-1}>Home</h2>
        <nav class="ranges" aria-label="Range">
          {Object.entries(RANGES).map(([name, words]) => (
            <a key={name} href={`#/operator/home/${name}`} aria-current={name === range ? 'true' : undefined}>
              {words}
            </a>
          ))}
        </nav>
      </div>
      {failure && <FailureNotice failure={failure} onRetry={look} />}
      {!traffic && !failure && <Waiting for="the traffic" />}
      {traffic && keys && feeds && (
        <Attentions total={traffic.total} keys={keys} dns={dns?.problems ?? []} {...feeds.freshness} />
      )}
      {traffic && <Figures traffic={traffic} feeds={feeds} dns={dns} />}
      {traffic && <OverTime traffic={traffic} />}
    </>
  );
}

function Attentions(props: {
  total: Traffic['total'];
  keys: readonly ListedKey[];
  dns: Dns['problems'];
  failing: readonly string[];
  status: Feeds['freshness']['status'];
}) {
  const { failing, status, ...rest } = props;
  const all = attentionOf({ ...rest, failingFeeds: failing, now: Date.now() });
  // Old lists have a notice of their own above every tab.
  if (all.length === 0 && status !== 'fresh') return null;
  if (all.length === 0) return <p class="soft">Nothing needs your attention.</p>;
  return (
    <section aria-label="Needs attention" class="attention">
      {all.map(({ tone, title, text, href, link }) => (
        <Notice key={title} tone={tone} title={title}>
          <p>
            {text} <a href={href}>{link}</a>
          </p>
        </Notice>
      ))}
    </section>
  );
}

const ms = (value: number | null) => (value === null ? '–' : `${number(value)} ms`);

function Figures({
  traffic: { total },
  feeds,
  dns,
}: {
  traffic: Traffic;
  feeds: Feeds | undefined;
  dns: Dns | undefined;
}) {
  const { calls, verdicts, flagged, degraded, refused, failed } = total;
  const ofDns = dnsWord(dns, total);
  const checked = feeds?.freshness.checked_at;
  return (
    <dl class="tiles">
      <Tile name="Calls" value={number(calls)} />
      <Tile name="Flagged" value={percent(flagged, verdicts)} />
      <Tile name="Degraded" value={percent(degraded, verdicts)} isBad={degraded > 0} />
      <Tile name="Refused" value={percent(refused, calls)} />
      <Tile name="Failed (5xx)" value={number(failed)} isBad={failed > 0} />
      <Tile name="Median (p50)" value={ms(total.p50_ms)} />
      <Tile name="p99" value={ms(total.p99_ms)} />
      <Tile name="DNS" value={ofDns} isBad={ofDns !== 'OK'} />
      <Tile
        name="Lists checked"
        value={feeds === undefined ? '–' : checked ? fromNow(checked) : 'never'}
        isBad={feeds !== undefined && feeds.freshness.status !== 'fresh'}
      />
    </dl>
  );
}

type Slot = Traffic['slots'][number];

const COLUMNS: readonly Column<Slot>[] = [
  { name: 'From', show: slot => moment(slot.at), by: slot => slot.at },
  { name: 'Calls', show: slot => number(slot.calls), by: slot => slot.calls, isNumber: true },
  { name: 'Verdicts', show: slot => number(slot.verdicts), by: slot => slot.verdicts, isNumber: true },
  { name: 'Flagged', show: slot => number(slot.flagged), by: slot => slot.flagged, isNumber: true },
  { name: 'Degraded', show: slot => number(slot.degraded), by: slot => slot.degraded, isNumber: true },
  { name: 'Refused', show: slot => number(slot.refused), by: slot => slot.refused, isNumber: true },
  { name: 'Failed', show: slot => number(slot.failed), by: slot => slot.failed, isNumber: true },
  { name: 'p50', show: slot => ms(slot.p50_ms), by: slot => slot.p50_ms ?? -1, isNumber: true },
  { name: 'p99', show: slot => ms(slot.p99_ms), by: slot => slot.p99_ms ?? -1, isNumber: true },
];

const STEPS: Readonly<Record<number, string>> = {
  60: 'minute',
  3600: 'hour',
  21600: '6 hours',
  86400: 'day',
};

function OverTime({ traffic: { slots, step_seconds } }: { traffic: Traffic }) {
  const times = slots.map(({ at }) => Date.parse(at) / 1000);
  const step = STEPS[step_seconds] ?? 'step';
  const chart = { kind: 'lines' as const, times, step: step_seconds };
  return (
    <section aria-label="Over time">
      <div class="charts">
        <figure>
          <figcaption>Calls and verdicts per {step}</figcaption>
          <Chart
            {...chart}
            label={`Calls and verdicts per ${step}; the table below has the numbers`}
            series={[
              { name: 'Calls', color: '--accent', values: slots.map(({ calls }) => calls) },
              { name: 'Verdicts', color: '--accept', values: slots.map(({ verdicts }) => verdicts) },
              { name: 'Flagged', color: '--confirmed', values: slots.map(({ flagged }) => flagged) },
              { name: 'Refused', color: '--warn', values: slots.map(({ refused }) => refused) },
            ]}
          />
        </figure>
        <figure>
          <figcaption>Time to answer</figcaption>
          <Chart
            {...chart}
            unit=" ms"
            label={`Time to answer per ${step}; the table below has the numbers`}
            series={[
              { name: 'Median (p50)', color: '--accent', values: slots.map(({ p50_ms }) => p50_ms) },
              { name: 'p99', color: '--warn', values: slots.map(({ p99_ms }) => p99_ms) },
            ]}
          />
        </figure>
      </div>
      <details>
        <summary>As a table</summary>
        <Table
          caption={`Traffic per ${step}`}
          columns={COLUMNS}
          rows={slots.toReversed()}
          keyOf={slot => slot.at}
          most={30}
        />
      </details>
    </section>
  );
}
