/** What callers were told of which domain, as it happens: and why was it refused on Tuesday? */

import { useEffect, useRef, useState } from 'preact/hooks';
import { type Decision, type DecisionsFound, findDecisions } from '../../admin.ts';
import type { Failure } from '../../api.ts';
import { keyHref } from '../../attention.ts';
import { Breakable } from '../../parts/breakable.tsx';
import { useEvery } from '../../parts/every.ts';
import { Field } from '../../parts/field.tsx';
import { Empty, FailureNotice, Waiting } from '../../parts/notice.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { domainHref } from '../../route.ts';
import { exactMoment } from '../../time.ts';

const COLUMNS: readonly Column<Decision>[] = [
  { name: 'When', show: one => <time dateTime={one.at}>{exactMoment(one.at)}</time> },
  {
    name: 'Domain',
    show: one => (
      <a class="mono" href={domainHref(one.domain)}>
        <Breakable name={one.domain} />
      </a>
    ),
    by: one => one.domain,
  },
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
  {
    name: 'Key',
    // Without a name there is no such key any more.
    show: one => (one.key_name === null ? one.key : <a href={keyHref(one.key)}>{one.key_name}</a>),
    by: one => one.key_name ?? one.key,
  },
  { name: 'Lists', show: one => <span class="mono">{one.snapshot}</span>, isMinor: true },
];

const NOTHING = { domain: '', key: '', since: '' };
const FIELDS = [
  ['domain', 'Domain', { type: 'text' }],
  ['key', 'Key name or ID', { type: 'text' }],
  ['since', 'Since', { type: 'date' }],
] as const;

const NEWEST = { ...NOTHING, before: '' };
const EVERY_SECONDS = 3;

interface Seen {
  readonly found?: DecisionsFound;
  readonly failure?: Failure;
}

/** What was found, and the way to look again: whatever comes late, of another search, is left out. */
function useFound(wanted: typeof NEWEST): [Seen, () => void] {
  const [seen, setSeen] = useState<Seen>({});
  const look = useRef(() => {});
  useEffect(() => {
    let isGone = false;
    let isAsking = false;
    let isFirst = true;
    look.current = async () => {
      if (isAsking) return;
      isAsking = true;
      const result = await findDecisions(wanted);
      isAsking = false;
      if (isGone) return;
      const isNew = isFirst;
      isFirst &&= !result.ok;
      // The rows of another search would be taken for what this one found.
      setSeen(before => (result.ok ? { found: result.data } : { ...(isNew ? {} : before), failure: result }));
    };
    look.current();
    return () => {
      isGone = true;
    };
  }, [wanted]);
  return [seen, () => look.current()];
}

export function Decisions() {
  const [wanted, setWanted] = useState(NEWEST);
  const [isPaused, setIsPaused] = useState(false);
  const [{ found, failure }, look] = useFound(wanted);
  const isNewest = wanted.before === '';
  const canFollow = isNewest && found !== undefined && found.log !== 'off';
  useEvery(1000 * EVERY_SECONDS, look, canFollow && !isPaused);

  function pause(): void {
    setIsPaused(!isPaused);
    if (isPaused) look();
  }

  return (
    <>
      <div class="toolbar">
        <h2 tabIndex={-1}>Decisions</h2>
        {canFollow && (
          <>
            <p class="hint" role="status">
              {isPaused
                ? 'Paused.'
                : `Live: new decisions appear at the top every ${EVERY_SECONDS} seconds while you look.`}
            </p>
            <button type="button" class="button" onClick={pause}>
              {isPaused ? 'Continue' : 'Pause'}
            </button>
          </>
        )}
      </div>
      <Search onSearch={setWanted} />
      {failure && <FailureNotice failure={failure} onRetry={look} />}
      {!found && !failure && <Waiting for="the decisions" />}
      {found && (
        <>
          {found.decisions.length === 0 ? <NoDecisions log={found.log} /> : <Found rows={found.decisions} />}
          <p class="buttons">
            {!isNewest && (
              <button type="button" class="button" onClick={() => setWanted({ ...wanted, before: '' })}>
                Newest decisions
              </button>
            )}
            {found.next !== null && (
              <button
                type="button"
                class="button"
                onClick={() => setWanted({ ...wanted, before: found.next! })}
              >
                Older decisions
              </button>
            )}
          </p>
        </>
      )}
    </>
  );
}

function Search({ onSearch }: { onSearch: (wanted: typeof NEWEST) => void }) {
  const [typed, setTyped] = useState(NOTHING);
  return (
    <form
      class="card ask"
      onSubmit={event => {
        event.preventDefault();
        onSearch({ ...typed, before: '' });
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
  );
}

function Found({ rows }: { rows: readonly Decision[] }) {
  // Counted from the oldest: a row keeps its place in the page, and the focus, when newer ones come above it.
  const names = new Map<Decision, string>();
  const times = new Map<string, number>();
  for (const one of rows.toReversed()) {
    const name = `${one.at} ${one.domain} ${one.key}`;
    times.set(name, (times.get(name) ?? 0) + 1);
    names.set(one, `${name} ${times.get(name)}`);
  }
  return (
    <Table
      caption="Decisions, the newest first"
      columns={COLUMNS}
      rows={rows}
      keyOf={one => names.get(one)!}
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
