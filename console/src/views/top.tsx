/** The most often flagged domains: one counted call, kept until the person asks for it again. */

import { useMemo, useState } from 'preact/hooks';
import { askTop, type Failure, type TopDomain, type TopDomains } from '../api.ts';
import { downloadCsv, downloadJson } from '../csv.ts';
import { type Bar, Bars } from '../parts/bars.tsx';
import { Field } from '../parts/field.tsx';
import { KeyBar } from '../parts/key-bar.tsx';
import { Empty, FailureNotice, Waiting } from '../parts/notice.tsx';
import { BandBadge, ScoreCell } from '../parts/scale.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { apiKey } from '../session.ts';
import { type Shared, share, useShared } from '../shared.ts';
import { plural } from '../time.ts';
import { REASON_WORDS } from '../verdict.ts';

interface Loaded {
  /** What was paid for stays until there is something newer. */
  readonly list?: TopDomains;
  readonly isWaiting: boolean;
  readonly failure?: Failure;
}
const top: Shared<Loaded> = share<Loaded>({ isWaiting: false });

async function load(): Promise<void> {
  const { list } = top.get();
  const kept = list ? { list } : {};
  top.set({ ...kept, isWaiting: true });
  const result = await askTop(apiKey.get().text);
  top.set(
    result.ok ? { list: result.data, isWaiting: false } : { ...kept, isWaiting: false, failure: result },
  );
}

export function Top() {
  const { list, isWaiting, failure } = useShared(top);
  return (
    <>
      <div class="intro">
        <h1 tabIndex={-1}>Top domains</h1>
        <p>What this service flagged most often in the last 30 days, up to 1,000 domains.</p>
      </div>
      <KeyBar button={list ? 'Refresh' : 'Load the list'} isWaiting={isWaiting} onAsk={() => void load()}>
        <p class="hint">
          Each load is one call against your quota. What is loaded stays until you refresh it.
        </p>
      </KeyBar>
      <div class="card tall">
        {!list && !isWaiting && !failure && (
          <Empty title="Not loaded yet">
            <p>Type a key and load the list to see who is flagged, and why.</p>
          </Empty>
        )}
        {!list && isWaiting && <Waiting for="the list" />}
        {failure && <FailureNotice failure={failure} onRetry={() => void load()} />}
        {list && <Listing domains={list.domains} />}
      </div>
    </>
  );
}

const COLUMNS: readonly Column<TopDomain & { rank: number }>[] = [
  { name: 'Domain', show: row => <span class="mono">{row.domain}</span>, by: row => row.domain },
  { name: 'Rank', show: row => row.rank, by: row => row.rank, isNumber: true },
  {
    name: 'Score',
    startsDown: true,
    show: row => <ScoreCell score={row.risk_score} />,
    by: row => row.risk_score,
  },
  { name: 'Advice', show: row => <BandBadge score={row.risk_score} isShort />, isMinor: true },
  {
    name: 'Reason',
    show: row => <span class="whole">{REASON_WORDS[row.reason]}</span>,
    by: row => row.reason,
  },
];

function Listing({ domains }: { domains: readonly TopDomain[] }) {
  const [reason, setReason] = useState('');
  const [wanted, setWanted] = useState('');
  const ranked = useMemo(() => domains.map((row, at) => ({ ...row, rank: at + 1 })), [domains]);
  const text = wanted.trim().toLowerCase();
  const rows = useMemo(
    () => ranked.filter(row => (reason === '' || row.reason === reason) && row.domain.includes(text)),
    [ranked, reason, text],
  );
  return (
    <>
      <div class="charts">
        <Bars title="By reason" bars={byReason(domains)} />
        <Bars title="By ending, the most frequent" bars={byEnding(domains)} />
      </div>
      <div class="toolbar">
        <Field label="Reason">
          {ids => (
            <select {...ids} value={reason} onChange={event => setReason(event.currentTarget.value)}>
              <option value="">All reasons</option>
              {FLAGS.map(name => (
                <option key={name} value={name}>
                  {REASON_WORDS[name]}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label="Search">
          {ids => (
            <input
              {...ids}
              type="search"
              value={wanted}
              placeholder="part of a name"
              onInput={event => setWanted(event.currentTarget.value)}
            />
          )}
        </Field>
        <p role="status">{plural(rows.length, 'domain')}</p>
        <button type="button" class="button" onClick={() => save(rows)}>
          CSV
        </button>
        <button type="button" class="button" onClick={() => downloadJson('top-domains.json', rows)}>
          JSON
        </button>
      </div>
      {rows.length > 0 ? (
        <Table caption="Flagged domains" columns={COLUMNS} rows={rows} keyOf={row => row.domain} />
      ) : (
        <Empty title="None of them">
          <p>No domain of the list matches what you are looking for.</p>
        </Empty>
      )}
    </>
  );
}

const FLAGS = ['disposable', 'undeliverable', 'role_account'] as const;

function byReason(domains: readonly TopDomain[]): Bar[] {
  return FLAGS.map(reason => ({
    name: REASON_WORDS[reason],
    value: domains.filter(row => row.reason === reason).length,
  }));
}

const MOST_ENDINGS = 6;

function byEnding(domains: readonly TopDomain[]): Bar[] {
  const counts = new Map<string, number>();
  for (const { domain } of domains) {
    const ending = domain.slice(domain.lastIndexOf('.'));
    counts.set(ending, (counts.get(ending) ?? 0) + 1);
  }
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .slice(0, MOST_ENDINGS)
    .map(([name, value]) => ({ name, value }));
}

function save(rows: readonly (TopDomain & { rank: number })[]): void {
  const lines = rows.map(row => [row.rank, row.domain, row.risk_score, row.reason]);
  downloadCsv('top-domains.csv', ['rank', 'domain', 'risk_score', 'reason'], lines);
}
