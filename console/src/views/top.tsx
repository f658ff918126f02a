/** The most often flagged domains: one counted call, kept until the person asks for it again. */

import { useMemo, useState } from 'preact/hooks';
import type { Failure, TopDomain, TopDomains } from '../api.ts';
import { askTop } from '../calls.ts';
import { downloadCsv, downloadJson } from '../csv.ts';
import { type Bar, Bars } from '../parts/bars.tsx';
import { Breakable } from '../parts/breakable.tsx';
import { Field } from '../parts/field.tsx';
import { KeyBar } from '../parts/key-bar.tsx';
import { Empty, FailureNotice, Waiting } from '../parts/notice.tsx';
import { BandBadge, ScoreCell } from '../parts/scale.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { domainHref } from '../route.ts';
import { apiKey, personal } from '../session.ts';
import { useShared } from '../shared.ts';
import { number, plural } from '../time.ts';
import { REASON_WORDS } from '../verdict.ts';

interface Loaded {
  /** What was paid for stays until there is something newer. */
  readonly list?: TopDomains;
  readonly isWaiting: boolean;
  readonly failure?: Failure;
}
const top = personal<Loaded>({ isWaiting: false });

async function load(): Promise<void> {
  const { list } = top.get();
  const kept = list ? { list } : {};
  top.set({ ...kept, isWaiting: true });
  const { text: secret } = apiKey.get();
  const result = await askTop(secret);
  // Signed out meanwhile.
  if (apiKey.get().text !== secret) return;
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
        <p>
          The domains that this service flagged most often in the last 30 days, then widely listed ones: up to
          1,000.
        </p>
      </div>
      <KeyBar button={list ? 'Refresh' : 'Load the list'} isWaiting={isWaiting} onAsk={() => void load()}>
        <p class="hint">
          Each load uses one lookup of your quota, and so does opening a domain. The list stays here until you
          refresh it.
        </p>
      </KeyBar>
      <div class="card tall">
        {!list && !isWaiting && !failure && (
          <Empty title="Not loaded yet">
            <p>Sign in with an API key and load the list to see which domains are flagged, and why.</p>
          </Empty>
        )}
        {!list && isWaiting && <Waiting for="the list" />}
        {failure && <FailureNotice failure={failure} onRetry={() => void load()} />}
        {list && <Listing domains={list.domains} />}
      </div>
    </>
  );
}

type Ranked = TopDomain & { readonly rank: number };
const isObserved = ({ source }: TopDomain) => source === 'observed';

const SOURCE_WORDS: Readonly<Record<string, string>> = {
  observed: 'Flagged here',
  lists: 'Lists only',
};

const COLUMNS: readonly Column<Ranked>[] = [
  {
    name: 'Domain',
    show: row => (
      <a class="mono" href={domainHref(row.domain)}>
        <Breakable name={row.domain} />
      </a>
    ),
    by: row => row.domain,
  },
  { name: 'Rank', show: row => row.rank, by: row => row.rank, isNumber: true },
  {
    name: 'Flags',
    startsDown: true,
    show: row => (isObserved(row) ? number(row.flags ?? 0) : <span class="soft">–</span>),
    by: row => row.flags ?? 0,
    isNumber: true,
  },
  {
    name: 'Source',
    show: row => <span class="whole">{SOURCE_WORDS[row.source ?? ''] ?? '–'}</span>,
    by: row => row.source ?? '',
    isMinor: true,
  },
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
  const observed = useMemo(() => domains.filter(isObserved), [domains]);
  return (
    <>
      <Observed observed={observed} hasLists={observed.length < domains.length} />
      <Rows domains={domains} />
    </>
  );
}

/** Only what lookups flagged here is counted: the lists would drown it. */
function Observed({ observed, hasLists }: { observed: readonly TopDomain[]; hasLists: boolean }) {
  if (observed.length === 0)
    return (
      <Empty title="Nothing flagged here in the last 30 days">
        <p>
          Domains appear here once lookups flag them. One that no list names appears when two keys flagged it.
          {hasLists && ' Below are widely listed domains.'}
        </p>
      </Empty>
    );
  return (
    <>
      <p>
        <strong>Flagged here in the last 30 days: {number(observed.length)}.</strong>
        {hasLists && ' Below them are widely listed domains.'}
      </p>
      <div class="charts">
        <Bars title="Flagged here, by reason" bars={byReason(observed)} />
        <Bars title="Flagged here, top TLDs" bars={byEnding(observed)} />
      </div>
    </>
  );
}

function Rows({ domains }: { domains: readonly TopDomain[] }) {
  const [reason, setReason] = useState('');
  const [source, setSource] = useState('');
  const [wanted, setWanted] = useState('');
  const ranked = useMemo(() => domains.map((row, at) => ({ ...row, rank: at + 1 })), [domains]);
  const text = wanted.trim().toLowerCase();
  const rows = useMemo(() => {
    const fits = (row: Ranked) =>
      (reason === '' || row.reason === reason) && (source === '' || row.source === source);
    return ranked.filter(row => fits(row) && row.domain.includes(text));
  }, [ranked, reason, source, text]);
  return (
    <>
      <div class="toolbar">
        <Choice label="Source" all="All sources" words={SOURCE_WORDS} value={source} onChoose={setSource} />
        <Choice label="Reason" all="All reasons" words={FLAG_WORDS} value={reason} onChoose={setReason} />
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
        <Table caption="Flagged domains" columns={COLUMNS} rows={rows} keyOf={row => row.domain} isTall />
      ) : (
        <Empty title="No matches">
          <p>No domain of the list matches the filter.</p>
        </Empty>
      )}
    </>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly all: string;
  readonly words: Readonly<Record<string, string>>;
  readonly value: string;
  onChoose(value: string): void;
}

function Choice({ label, all, words, value, onChoose }: ChoiceProps) {
  return (
    <Field label={label}>
      {ids => (
        <select {...ids} value={value} onChange={event => onChoose(event.currentTarget.value)}>
          <option value="">{all}</option>
          {Object.entries(words).map(([name, word]) => (
            <option key={name} value={name}>
              {word}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

const FLAGS = ['disposable', 'undeliverable', 'role_account'] as const;
const FLAG_WORDS = Object.fromEntries(FLAGS.map(name => [name, REASON_WORDS[name]]));

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

const HEAD = ['rank', 'domain', 'risk_score', 'reason', 'flags', 'source'];

function save(rows: readonly Ranked[]): void {
  const lines = rows.map(row => [
    row.rank,
    row.domain,
    row.risk_score,
    row.reason,
    row.flags ?? null,
    row.source ?? null,
  ]);
  downloadCsv('top-domains.csv', HEAD, lines);
}
