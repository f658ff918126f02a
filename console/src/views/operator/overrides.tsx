/** The operator's word about names: it wins over every list and over DNS. */

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import {
  listOverrides,
  type Override,
  type OverrideAction,
  removeOverride,
  setOverride,
} from '../../admin.ts';
import type { Failure } from '../../api.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { Field } from '../../parts/field.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Empty, FailureNotice } from '../../parts/notice.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { ageInDays, day, moment } from '../../time.ts';

const ACTION_WORDS: Readonly<Record<OverrideAction, string>> = {
  allow: 'Allow: safe, score 0',
  deny: 'Deny: disposable, score 100',
  role: 'Role account: score 60',
};

function columnsFor(remove: (override: Override) => void): readonly Column<Override>[] {
  return [
    {
      name: 'Domain',
      by: row => row.domain,
      show: row => (
        <>
          <span class="mono">{row.domain}</span>
          {row.below && <span class="detail">and its subdomains</span>}
        </>
      ),
    },
    {
      name: 'Action',
      by: row => row.action,
      show: row => <span class={`badge action-${row.action}`}>{row.action}</span>,
    },
    { name: 'Note', show: row => row.note ?? '–', isMinor: true },
    { name: 'By', by: row => row.author ?? '', show: row => row.author ?? '–', isMinor: true },
    { name: 'Since', by: row => row.created_at, show: row => day(row.created_at), isMinor: true },
    {
      name: 'Expires',
      by: row => row.expires_at ?? '',
      show: row => (row.expires_at ? <Until end={row.expires_at} /> : 'never'),
    },
    {
      name: 'Change',
      show: row => (
        <button
          type="button"
          class="button small"
          aria-haspopup="dialog"
          aria-label={`Remove the override for ${row.domain}`}
          onClick={() => remove(row)}
        >
          Remove
        </button>
      ),
    },
  ];
}

function Until({ end }: { end: string }) {
  return (
    <>
      <time title={moment(end)}>{day(end)}</time>{' '}
      {ageInDays(end) >= 0 && <span class="badge state-expired">expired</span>}
    </>
  );
}

export function Overrides() {
  return (
    <Loaded what="the overrides" load={listOverrides}>
      {({ overrides }, reload) => (
        <>
          <OverrideForm onSet={reload} />
          <OverridesList overrides={overrides} onChanged={reload} />
        </>
      )}
    </Loaded>
  );
}

function OverridesList({ overrides, onChanged }: { overrides: readonly Override[]; onChanged: () => void }) {
  const [chosen, setChosen] = useState<Override>();
  const columns = useMemo(() => columnsFor(setChosen), []);
  return (
    <>
      <h2 tabIndex={-1}>Overrides</h2>
      {overrides.length === 0 ? (
        <Empty title="No overrides">
          <p>Lists and DNS decide alone. Set one above where they are wrong for you.</p>
        </Empty>
      ) : (
        <Table caption="Overrides" columns={columns} rows={overrides} keyOf={row => row.domain} />
      )}
      {chosen && (
        <Confirm
          title={`Remove the override for ${chosen.domain}`}
          verb="Remove"
          isDangerous
          act={() => removeOverride(chosen.domain)}
          onAnswered={onChanged}
          onClosed={() => setChosen(undefined)}
        >
          <p>Lists and DNS decide about it again, from the next call on.</p>
        </Confirm>
      )}
    </>
  );
}

function OverrideForm({ onSet }: { onSet: () => void }) {
  const [failure, setFailure] = useState<Failure>();
  const [isBusy, setIsBusy] = useState(false);
  const focused = useRef<HTMLElement>(null);

  // What is disabled loses the focus.
  useEffect(() => {
    if (!isBusy && document.activeElement === document.body) focused.current?.focus();
  }, [isBusy]);

  async function submit(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const typed = new FormData(form);
    const text = (name: string) => String(typed.get(name) ?? '').trim();
    const until = text('expires');
    focused.current = document.activeElement as HTMLElement;
    setIsBusy(true);
    const result = await setOverride(text('domain'), {
      action: text('action') as OverrideAction,
      below: typed.has('below'),
      note: text('note') || null,
      expires_at: until === '' ? null : `${until}T00:00:00.000Z`,
    });
    setIsBusy(false);
    setFailure(result.ok ? undefined : result);
    if (!result.ok) return;
    form.reset();
    onSet();
  }

  return (
    <form class="inset" onSubmit={event => void submit(event)} aria-labelledby="set-title">
      <h2 id="set-title">Set an override</h2>
      <div class="form-row">
        <Field label="Domain">
          {ids => (
            <input
              {...ids}
              name="domain"
              class="mono"
              disabled={isBusy}
              required
              placeholder="partner.example"
              autocapitalize="off"
            />
          )}
        </Field>
        <Field label="Action">
          {ids => (
            <select {...ids} name="action" disabled={isBusy}>
              {Object.entries(ACTION_WORDS).map(([action, words]) => (
                <option key={action} value={action}>
                  {words}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label="Note">{ids => <input {...ids} name="note" maxLength={200} disabled={isBusy} />}</Field>
        <Field label="Expires (UTC)" hint="At 00:00 UTC on this date; empty means never.">
          {ids => <input {...ids} name="expires" type="date" disabled={isBusy} />}
        </Field>
      </div>
      <div class="form-end">
        <label class="check">
          <input type="checkbox" name="below" disabled={isBusy} />
          Include subdomains
        </label>
        <button type="submit" class="button primary" disabled={isBusy}>
          Set override
        </button>
      </div>
      {failure && <FailureNotice failure={failure} />}
    </form>
  );
}
