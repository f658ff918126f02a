/** The results of a list: progress, a table to sort, a detail for each row, files to take away. */

import { useMemo, useState } from 'preact/hooks';
import type { DomainRisk, Result } from '../api.ts';
import { downloadCsv, downloadJson } from '../csv.ts';
import { Answer } from '../parts/answer.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { FailureNotice } from '../parts/notice.tsx';
import { BandBadge, ScoreCell } from '../parts/scale.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { explain } from '../problem.ts';
import {
  cancelRun,
  continueRun,
  forgetRun,
  isAsked,
  isUnanswered,
  leftOf,
  type Row,
  type Run,
} from '../run.ts';
import { apiKey } from '../session.ts';
import { useShared } from '../shared.ts';
import { plural } from '../time.ts';
import { BANDS, bandOf, REASON_WORDS } from '../verdict.ts';

export function Results({ run }: { run: Run }) {
  const { text: secret } = useShared(apiKey);
  const [open, setOpen] = useState<Row>();
  const columns = useMemo(() => columnsFor(setOpen), []);
  const left = leftOf(run);
  const done = run.rows.filter(isAsked).length;
  return (
    <section class="card result" aria-labelledby="results-title">
      <h2 id="results-title">{plural(run.rows.length, 'domain')}</h2>
      <Progress done={done} total={run.rows.length} />
      <div class="toolbar">
        <p role="status">{summary(run, done)}</p>
        {run.isRunning ? (
          <button type="button" class="button" onClick={cancelRun} disabled={run.isStopping}>
            {run.isStopping ? 'Stopping …' : 'Cancel'}
          </button>
        ) : (
          <>
            {left > 0 && (
              <button type="button" class="button primary" onClick={() => continueRun(secret)}>
                {done === run.rows.length ? `Ask ${left} again` : `Look up the remaining ${left}`}
              </button>
            )}
            <button type="button" class="button" onClick={() => saveCsv(run)} disabled={done === 0}>
              CSV
            </button>
            <button type="button" class="button" onClick={() => saveJson(run)} disabled={done === 0}>
              JSON
            </button>
            <button type="button" class="button plain" onClick={forgetRun}>
              Clear
            </button>
          </>
        )}
      </div>
      {run.stoppedBy && <FailureNotice failure={run.stoppedBy} />}
      <Tally run={run} />
      <Table caption="Results" columns={columns} rows={run.rows} keyOf={row => row.domain} most={200} />
      {open?.result && (
        <Dialog title={open.domain} isWide onClosed={() => setOpen(undefined)}>
          {() => <Detail result={open.result!} secret={secret} />}
        </Dialog>
      )}
    </section>
  );
}

function Detail({ result, secret }: { result: Result<DomainRisk>; secret: string }) {
  if (!result.ok) return <FailureNotice failure={result} />;
  return <Answer risk={result.data} degraded={result.degraded} {...(secret ? { secret } : {})} />;
}

function Progress({ done, total }: { done: number; total: number }) {
  return <progress class="progress" value={done} max={total} aria-label="Domains looked up" />;
}

function summary({ rows, isRunning }: Run, done: number): string {
  const count = (isOne: (row: Row) => unknown, words: string) => {
    const found = rows.filter(isOne).length;
    return found > 0 ? `, ${found} ${words}` : '';
  };
  const notes =
    count(isUnanswered, 'without an answer') +
    count(row => row.result?.ok === false && !isUnanswered(row), 'refused') +
    count(isDegraded, 'judged without DNS');
  if (isRunning) return `${done} of ${rows.length}${notes}`;
  return done === rows.length ? `All looked up${notes}` : `Stopped at ${done} of ${rows.length}${notes}`;
}

/** How many are in which band: the list at a glance. */
function Tally({ run }: { run: Run }) {
  const counts = new Map<string, number>();
  for (const { result } of run.rows) {
    if (!result?.ok) continue;
    const { name } = bandOf(result.data.risk_score);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return (
    <ul class="tally" aria-label="Domains by band">
      {BANDS.map(({ name, word }) => (
        <li key={name} class={`band-${name}`}>
          <b>{counts.get(name) ?? 0}</b> {word}
        </li>
      ))}
    </ul>
  );
}

const isDegraded = ({ result }: Row) => result?.ok && result.degraded;
const score = ({ result }: Row) => (result?.ok ? result.data.risk_score : -1);

function columnsFor(open: (row: Row) => void): readonly Column<Row>[] {
  return [
    {
      name: 'Domain',
      by: row => row.domain,
      show: row =>
        isAsked(row) ? (
          <button type="button" class="link mono" aria-haspopup="dialog" onClick={() => open(row)}>
            {row.domain}
          </button>
        ) : (
          <span class="mono soft">{row.domain}</span>
        ),
    },
    {
      name: 'Score',
      by: score,
      startsDown: true,
      show: row =>
        row.result?.ok ? (
          <>
            <ScoreCell score={score(row)} />
            {isDegraded(row) && <span class="detail">DNS did not answer</span>}
          </>
        ) : (
          <Missing {...row} />
        ),
    },
    { name: 'Advice', show: row => row.result?.ok && <BandBadge score={score(row)} />, isMinor: true },
    {
      name: 'Reason',
      by: ({ result }) => (result?.ok ? result.data.reason : ''),
      show: ({ result }) => result?.ok && <span class="whole">{REASON_WORDS[result.data.reason]}</span>,
    },
    {
      name: 'Received by',
      by: ({ result }) => (result?.ok ? (result.data.mx_provider_label ?? '') : ''),
      show: ({ result }) => result?.ok && (result.data.mx_provider_label ?? '–'),
      isMinor: true,
    },
  ];
}

function Missing({ result }: Row) {
  if (!result) return <span class="soft">–</span>;
  return <span class="wrong">{result.ok ? '' : explain(result).title}</span>;
}

const HEAD = [
  'domain',
  'risk_score',
  'reason',
  'is_free_provider',
  'is_corporate_email',
  'mx_provider_label',
  'degraded',
  'error',
];

function saveCsv({ rows }: Run): void {
  const lines = rows.flatMap(({ domain, result }) => {
    if (!result) return [];
    if (!result.ok) return [[domain, null, null, null, null, null, null, result.code ?? result.kind]];
    const { data, degraded } = result;
    const flags = [data.is_free_provider, data.is_corporate_email, data.mx_provider_label, degraded, null];
    return [[data.domain, data.risk_score, data.reason, ...flags]];
  });
  downloadCsv('domain-risk.csv', HEAD, lines);
}

function saveJson({ rows }: Run): void {
  const shown = rows.flatMap(({ domain, result }) => {
    if (!result) return [];
    return [
      result.ok ? result.data : { domain, error: result.code ?? result.kind, detail: result.detail ?? null },
    ];
  });
  downloadJson('domain-risk.json', shown);
}
