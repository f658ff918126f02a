/** What callers were told of which domain: why was it refused on Tuesday? */

import { useState } from 'preact/hooks';
import { type Decision, findDecisions } from '../../admin.ts';
import { Field } from '../../parts/field.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Empty } from '../../parts/notice.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { moment } from '../../time.ts';

const COLUMNS: readonly Column<Decision>[] = [
  { name: 'When', show: one => <time dateTime={one.at}>{moment(one.at)}</time> },
  { name: 'Domain', show: one => <span class="mono">{one.domain}</span>, by: one => one.domain },
  {
    name: 'Score',
    show: one => one.risk_score,
    by: one => one.risk_score,
    startsDown: true,
    isNumber: true,
  },
  {
    name: 'Reason',
    show: one => <code>{one.reason + (one.degraded ? ' (no DNS)' : '')}</code>,
    by: one => one.reason,
  },
  { name: 'Key', show: one => one.key_name ?? one.key, by: one => one.key_name ?? one.key },
  { name: 'Lists', show: one => <span class="mono">{one.snapshot}</span>, isMinor: true },
];

const NOTHING = { domain: '', key: '', since: '' };
const FIELDS = [
  ['domain', 'Domain', { type: 'text' }],
  ['key', 'Key name or id', { type: 'text' }],
  ['since', 'Since', { type: 'date' }],
] as const;

export function Decisions() {
  const [typed, setTyped] = useState(NOTHING);
  const [wanted, setWanted] = useState({ ...NOTHING, before: '' });
  // A new function for each search: it loads anew, with the old list in place meanwhile.
  const [load, setLoad] = useState(() => () => findDecisions(wanted));

  function search(next: typeof wanted): void {
    setWanted(next);
    setLoad(() => () => findDecisions(next));
  }

  return (
    <>
      <div class="toolbar">
        <h2 tabIndex={-1}>Decisions</h2>
      </div>
      <form
        class="card ask"
        onSubmit={event => {
          event.preventDefault();
          search({ ...typed, before: '' });
        }}
      >
        {FIELDS.map(([name, label, type]) => (
          <Field key={name} label={label}>
            {ids => (
              <input
                {...ids}
                {...type}
                value={typed[name]}
                autocomplete="off"
                spellcheck={false}
                onInput={event => setTyped({ ...typed, [name]: event.currentTarget.value.trim() })}
              />
            )}
          </Field>
        ))}
        <button type="submit" class="button primary">
          Search
        </button>
      </form>
      <Loaded what="the decisions" load={load}>
        {({ log, decisions, next }) => (
          <>
            {decisions.length === 0 ? <NoDecisions log={log} /> : <Found rows={decisions} />}
            {next !== null && (
              <button type="button" class="button" onClick={() => search({ ...wanted, before: next })}>
                Older decisions
              </button>
            )}
          </>
        )}
      </Loaded>
    </>
  );
}

function Found({ rows }: { rows: readonly Decision[] }) {
  return (
    <Table
      caption="Decisions, the newest first"
      columns={COLUMNS}
      rows={rows}
      keyOf={one => `${one.at} ${one.domain} ${one.key} ${rows.indexOf(one)}`}
    />
  );
}

function NoDecisions({ log }: { log: 'off' | 'flagged' | 'all' }) {
  if (log === 'off')
    return (
      <Empty title="The decision log is off">
        <p>
          Set <code>DECISION_LOG</code> to <code>flagged</code> or <code>all</code> and restart the service to
          keep what callers are told. Only domains are kept, never an email address.
        </p>
      </Empty>
    );
  return (
    <Empty title="No decisions found">
      <p>{log === 'flagged' ? 'Safe answers are not kept (DECISION_LOG=flagged).' : 'Nothing matches.'}</p>
    </Empty>
  );
}
