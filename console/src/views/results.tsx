/** The results of a list: progress, a table to filter and sort, each row a link to its page, files to take away. */

import { useMemo, useState } from 'preact/hooks';
import { downloadCsv, downloadJson } from '../csv.ts';
import { Breakable } from '../parts/breakable.tsx';
import { Field } from '../parts/field.tsx';
import { useInSight } from '../parts/in-sight.ts';
import { Empty, FailureNotice } from '../parts/notice.tsx';
import { BandBadge, ScoreCell } from '../parts/scale.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { explain } from '../problem.ts';
import { domainHref } from '../route.ts';
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
import { BANDS, bandOf, reasonWord } from '../verdict.ts';

export function Results({ run }: { run: Run }) {
  const done = run.rows.filter(isAsked).length;
  const card = useInSight<HTMLElement>(run.isRunning);
  return (
    <section class="card result" aria-labelledby="results-title" ref={card}>
      <h2 id="results-title">{plural(run.rows.length, 'domain')}</h2>
      <Progress done={done} total={run.rows.length} />
      <Actions run={run} done={done} />
      {run.stoppedBy && <FailureNotice failure={run.stoppedBy} />}
      <Tally run={run} />
      <Filtered rows={run.rows} />
    </section>
  );
}

function Actions({ run, done }: { run: Run; done: number }) {
  const { text: secret } = useShared(apiKey);
  const left = leftOf(run);
  return (
    <div class="toolbar">
      <p role="status">{summary(run, done)}</p>
      {run.isRunning ? (
        <button type="button" class="button" onClick={cancelRun} disabled={run.isStopping}>
          {run.isStopping ? 'Stopping…' : 'Cancel'}
        </button>
      ) : (
        <>
          {left > 0 && (
            <button type="button" class="button primary" onClick={() => continueRun(secret)}>
              {done === run.rows.length ? `Retry ${left} failed` : `Look up the remaining ${left}`}
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
  );
}

const FAILED = 'failed';

function Filtered({ rows }: { rows: readonly Row[] }) {
  const [band, setBand] = useState('');
  const [wanted, setWanted] = useState('');
  const text = wanted.trim().toLowerCase();
  const shown = useMemo(
    () => rows.filter(row => (band === '' || kindOf(row) === band) && row.domain.includes(text)),
    [rows, band, text],
  );
  return (
    <>
      <div class="toolbar">
        <Field label="Advice">
          {ids => (
            <select {...ids} value={band} onChange={event => setBand(event.currentTarget.value)}>
              <option value="">All</option>
              {BANDS.map(({ name, word }) => (
                <option key={name} value={name}>
                  {word}
                </option>
              ))}
              <option value={FAILED}>Failed</option>
            </select>
          )}
        </Field>
        <Field label="Filter">
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
      </div>
      {shown.length > 0 ? (
        <Table caption="Results" columns={COLUMNS} rows={shown} keyOf={row => row.domain} most={200} isTall />
      ) : (
        <Empty title="No matches">
          <p>No result matches the filter.</p>
        </Empty>
      )}
    </>
  );
}

function kindOf({ result, heldBy }: Row): string | undefined {
  if (result?.ok) return bandOf(result.data.risk_score).name;
  return result || heldBy ? FAILED : undefined;
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
    count(isUnanswered, 'failed') +
    count(row => row.result?.ok === false && !isUnanswered(row), 'invalid') +
    count(isDegraded, 'without DNS');
  if (isRunning) return `${done} of ${rows.length}${notes}`;
  const found = plural(rows.filter(row => row.result?.ok).length, 'result');
  return done === rows.length ? `Done: ${found}${notes}` : `Stopped at ${done} of ${rows.length}${notes}`;
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

const COLUMNS: readonly Column<Row>[] = [
  {
    name: 'Domain',
    by: row => row.domain,
    show: ({ domain, result }) =>
      result?.ok ? (
        <a class="mono" href={domainHref(result.data.domain)}>
          <Breakable name={domain} />
        </a>
      ) : (
        <span class="mono soft">
          <Breakable name={domain} />
        </span>
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
  { name: 'Advice', show: row => row.result?.ok && <BandBadge score={score(row)} isShort />, isMinor: true },
  {
    name: 'Reason',
    by: ({ result }) => (result?.ok ? result.data.reason : ''),
    show: ({ result }) =>
      result?.ok && <span class="whole">{reasonWord(result.data.reason, result.degraded)}</span>,
  },
  {
    name: 'Received by',
    by: ({ result }) => (result?.ok ? (result.data.mx_provider_label ?? '') : ''),
    show: ({ result }) => result?.ok && (result.data.mx_provider_label ?? '–'),
    isMinor: true,
  },
];

function Missing({ result, heldBy }: Row) {
  if (heldBy)
    return (
      <>
        <span class="soft">Not looked up</span>
        <span class="detail">{explain(heldBy).title}</span>
      </>
    );
  if (!result) return <span class="soft">–</span>;
  if (result.ok) return null;
  return (
    <>
      <span class="wrong">{explain(result).title}</span>
      {result.detail && <span class="detail">{result.detail}</span>}
    </>
  );
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
  const lines = rows.flatMap(({ domain, heldBy, result = heldBy }) => {
    if (!result) return [];
    if (!result.ok) return [[domain, null, null, null, null, null, null, result.code ?? result.kind]];
    const { data, degraded } = result;
    const flags = [data.is_free_provider, data.is_corporate_email, data.mx_provider_label, degraded, null];
    return [[data.domain, data.risk_score, data.reason, ...flags]];
  });
  downloadCsv('domain-risk.csv', HEAD, lines);
}

function saveJson({ rows }: Run): void {
  const shown = rows.flatMap(({ domain, heldBy, result = heldBy }) => {
    if (!result) return [];
    return [
      result.ok ? result.data : { domain, error: result.code ?? result.kind, detail: result.detail ?? null },
    ];
  });
  downloadJson('domain-risk.json', shown);
}
