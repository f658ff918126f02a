/** One key: what it has used, when it was last used, its limits, and what can be done about it. */

import { useEffect, useState } from 'preact/hooks';
import { type ListedKey, listKeys } from '../../admin.ts';
import { percent } from '../../attention.ts';
import { type Bar, Bars, Meter } from '../../parts/bars.tsx';
import { Chart } from '../../parts/chart.tsx';
import { focusHeading } from '../../parts/dialog.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Empty, Notice } from '../../parts/notice.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Tile } from '../../parts/tile.tsx';
import { day, fromNow, moment, number, plural } from '../../time.ts';
import { reasonWord } from '../../verdict.ts';
import { type Doing, Front, isAhead, KeyButtons, stateOf } from './keys.tsx';

const DAY_MS = 86_400_000;

export function KeyPage({ id }: { id: string }) {
  return (
    <>
      <p>
        <a href="#/operator/keys">All keys</a>
      </p>
      <Loaded what="the key" load={listKeys}>
        {({ keys }, reload) => {
          const key = keys.find(one => one.id === id);
          return key ? <OneKey listed={key} onChanged={reload} /> : <NoKey id={id} />;
        }}
      </Loaded>
    </>
  );
}

function NoKey({ id }: { id: string }) {
  return (
    <Empty title="Key not found">
      <p>
        There is no key <code>{id}</code>.
      </p>
    </Empty>
  );
}

function OneKey({ listed, onChanged }: { listed: ListedKey; onChanged: () => void }) {
  const [open, setOpen] = useState<Doing>();
  useEffect(focusHeading, []);
  const { name, note, shown_as, used = 0, quota, created_at, last_used_at, previous_until } = listed;
  const state = stateOf(listed);
  return (
    <>
      <div class="toolbar">
        <h2 tabIndex={-1}>{name}</h2>
        <span class={`badge state-${state}`}>{state}</span>
        <code>{shown_as}</code>
        <KeyButtons listed={listed} open={setOpen} />
      </div>
      {note !== null && <p>{note}</p>}
      {state !== 'revoked' && isAhead(previous_until) && (
        <Notice tone="info" title={`The old secret works until ${moment(previous_until)}`}>
          <p>Give every caller the new one before then.</p>
        </Notice>
      )}
      <dl class="tiles">
        <Tile name="Calls this month" value={number(used)} />
        <Tile
          name="Left this month"
          value={quota === null ? 'no limit' : number(Math.max(0, quota - used))}
        />
        <Tile name="Last used" value={last_used_at ? fromNow(last_used_at) : 'never'} />
        <Tile name="Created" value={day(created_at)} />
      </dl>
      {quota !== null && (
        <Meter
          label={`Quota of ${name}`}
          used={used}
          limit={quota}
          tone={used >= quota ? 'confirmed' : used >= 0.9 * quota ? 'warn' : 'accent'}
        />
      )}
      <VerdictMix listed={listed} />
      <Days listed={listed} />
      <LimitsOf listed={listed} />
      {open && <Front open={open} onOpen={setOpen} onChanged={onChanged} />}
    </>
  );
}

const MIX = [
  { reason: 'safe', tone: 'accept' },
  { reason: 'disposable', tone: 'confirmed' },
  { reason: 'undeliverable', tone: 'block' },
  { reason: 'role_account', tone: 'warn' },
] as const;

/** What its callers were told: the mix at a glance, and the numbers. */
function VerdictMix({ listed: { verdicts } }: { listed: ListedKey }) {
  const { degraded, ...reasons } = verdicts;
  const total = Object.values(reasons).reduce((sum, count) => sum + count, 0);
  const barOf = ({ reason, tone }: (typeof MIX)[number]): Bar => ({
    name: `${reasonWord(reason, false)}, ${percent(reasons[reason], total)}`,
    value: reasons[reason],
    tone,
  });
  return (
    <section aria-labelledby="mix-title">
      <h3 id="mix-title">Verdicts, last 30 days</h3>
      {total === 0 ? (
        <p class="hint">No domain was judged for this key yet.</p>
      ) : (
        <>
          <Bars title={`${plural(total, 'domain')} judged, by reason`} bars={MIX.map(barOf)} />
          {degraded > 0 && (
            <p class="hint">{number(degraded)} of them without DNS, because it did not answer.</p>
          )}
        </>
      )}
    </section>
  );
}

const DAYS: readonly Column<{ at: number; calls: number }>[] = [
  { name: 'Day', show: row => day(new Date(row.at).toISOString()), by: row => row.at },
  { name: 'Calls', show: row => number(row.calls), by: row => row.calls, isNumber: true },
];

function Days({ listed: { days } }: { listed: ListedKey }) {
  const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  const rows = days.map((calls, at) => ({ at: today - (days.length - 1 - at) * DAY_MS, calls }));
  return (
    <section aria-label="Last 30 days">
      <figure>
        <figcaption>Calls per day, last 30 days</figcaption>
        <Chart
          label="Calls per day of the last 30 days; the table below has the numbers"
          kind="bars"
          times={rows.map(({ at }) => at / 1000)}
          series={[{ name: 'Calls', color: '--accent', values: days }]}
        />
      </figure>
      <details>
        <summary>As a table</summary>
        <Table
          caption="Calls per day"
          columns={DAYS}
          rows={rows.toReversed()}
          keyOf={({ at }) => String(at)}
        />
      </details>
    </section>
  );
}

function LimitsOf({ listed }: { listed: ListedKey }) {
  const { quota, rate, origins, networks, expires_at } = listed;
  const rows: readonly (readonly [string, string])[] = [
    ['Calls per month', quota === null ? 'no limit' : number(quota)],
    ['Calls per second', rate === null ? 'no limit' : number(rate)],
    ['Origins', origins.join(', ') || 'any'],
    ['Networks', networks.join(', ') || 'any'],
    ['Expires', expires_at === null ? 'never' : moment(expires_at)],
  ];
  return (
    <section aria-labelledby="limits-title">
      <h3 id="limits-title">Limits</h3>
      <dl class="facts">
        {rows.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
