/** What is used and left of a key's quota, and its last 30 days. Asking is not counted. */

import { useEffect, useState } from 'preact/hooks';
import { askUsage, type Day, type Result, type Usage } from '../api.ts';
import { Meter } from '../parts/bars.tsx';
import { Chart } from '../parts/chart.tsx';
import { KeyBar } from '../parts/key-bar.tsx';
import { Empty, FailureNotice, Waiting } from '../parts/notice.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { apiKey, looksLikeKey } from '../session.ts';
import { useShared } from '../shared.ts';
import { day, fromNow, moment, number, plural } from '../time.ts';

export function Quota() {
  const { text: secret } = useShared(apiKey);
  const [usage, setUsage] = useState<Result<Usage> | 'waiting'>();

  async function load(): Promise<void> {
    setUsage('waiting');
    const result = await askUsage(secret);
    if (apiKey.get().text === secret) setUsage(result);
  }
  useEffect(() => {
    if (looksLikeKey(secret)) void load();
    else setUsage(undefined);
  }, [secret]);

  return (
    <>
      <div class="intro">
        <h1 tabIndex={-1}>Your quota</h1>
        <p>Calls of this calendar month (UTC). Viewing this page does not use quota.</p>
      </div>
      <KeyBar button="Refresh" isWaiting={usage === 'waiting'} onAsk={() => void load()} />
      <div class="card tall">
        {usage === undefined && <Empty title="Enter an API key to see its usage" />}
        {usage === 'waiting' && <Waiting for="your usage" />}
        {usage && usage !== 'waiting' && (usage.ok ? <ThisMonth usage={usage.data} /> : null)}
        {usage && usage !== 'waiting' && !usage.ok && (
          <FailureNotice failure={usage} onRetry={() => void load()} />
        )}
      </div>
    </>
  );
}

function ThisMonth({ usage }: { usage: Usage }) {
  const { monthly_limit: limit, month_count: used, remaining_month: left, reset_at } = usage;
  return (
    <>
      <section aria-labelledby="month-title">
        <h2 id="month-title">This month</h2>
        {limit === null ? (
          <p>
            <strong class="big">{number(used)}</strong> calls. This key has no monthly limit.
          </p>
        ) : (
          <>
            <p>
              <strong class="big">{number(used)}</strong> of {plural(limit, 'call')} used,{' '}
              <strong>{number(left ?? 0)}</strong> left
            </p>
            <Meter label="Quota used" used={used} limit={limit} tone={toneOf(used, limit)} />
          </>
        )}
        <p class="hint">
          Resets {fromNow(reset_at)}, on {moment(reset_at)}.
        </p>
      </section>
      {usage.days && <Days days={usage.days} />}
    </>
  );
}

function toneOf(used: number, limit: number): string {
  if (used >= limit) return 'confirmed';
  return used >= 0.8 * limit ? 'warn' : 'accent';
}

const COLUMNS: readonly Column<Day>[] = [
  { name: 'Day', show: row => day(row.day), by: row => row.day },
  { name: 'Calls', startsDown: true, show: row => number(row.count), by: row => row.count, isNumber: true },
];

function Days({ days }: { days: readonly Day[] }) {
  const sum = days.reduce((all, { count }) => all + count, 0);
  const times = days.map(row => Date.parse(row.day) / 1000);
  const series = [
    { name: 'Calls', startsDown: true, color: '--accent', values: days.map(({ count }) => count) },
  ];
  return (
    <section aria-labelledby="days-title">
      <h2 id="days-title">The last {days.length} days</h2>
      <p>{plural(sum, 'counted call')}</p>
      <Chart
        label={`Calls per day in the last ${days.length} days, ${plural(sum, 'call')} in all`}
        kind="bars"
        times={times}
        series={series}
      />
      <details>
        <summary>As a table</summary>
        <Table caption="Calls per day" columns={COLUMNS} rows={days} keyOf={row => row.day} />
      </details>
    </section>
  );
}
