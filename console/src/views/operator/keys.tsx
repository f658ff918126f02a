/** API keys: who may call, from where and how often. A secret is shown once, when it is made. */

import { useMemo, useState } from 'preact/hooks';
import {
  createKey,
  type Key,
  type ListedKey,
  listKeys,
  type MadeKey,
  revokeKey,
  rotateKey,
  updateKey,
} from '../../admin.ts';
import { keyHref } from '../../attention.ts';
import { Sparkline } from '../../parts/bars.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Code } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Empty, Notice } from '../../parts/notice.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { personal } from '../../session.ts';
import { useShared } from '../../shared.ts';
import { day, fromNow, moment, number } from '../../time.ts';
import { changedLimits, KeyForm } from './key-form.tsx';

/** What is in front of the list. */
export type Doing =
  | { readonly what: 'create' }
  | { readonly what: 'edit' | 'rotate' | 'revoke'; readonly key: Key };

/** Until somebody says that they have copied it: the browser's Back takes the view away, but not this. */
const madeKey = personal<{ readonly made: MadeKey; readonly what: string } | undefined>(undefined);
const showSecret = (what: string) => (made: MadeKey) => madeKey.set({ made, what });

export function Keys() {
  return (
    <Loaded what="the keys" load={listKeys}>
      {({ keys }, reload) => <KeysList keys={keys} onChanged={reload} />}
    </Loaded>
  );
}

function KeysList({ keys, onChanged }: { keys: readonly ListedKey[]; onChanged: () => void }) {
  const [open, setOpen] = useState<Doing>();
  const columns = useMemo(() => columnsFor(setOpen), []);
  const rows = useMemo(
    () => keys.toSorted((a, b) => Number(!!a.revoked_at) - Number(!!b.revoked_at)),
    [keys],
  );
  return (
    <>
      <div class="toolbar">
        <h2 tabIndex={-1}>Keys</h2>
        <button
          type="button"
          class="button primary"
          aria-haspopup="dialog"
          onClick={() => setOpen({ what: 'create' })}
        >
          Create a key
        </button>
      </div>
      {keys.length === 0 ? (
        <Empty title="No keys yet">
          <p>Nobody can call the service. Create the first key.</p>
        </Empty>
      ) : (
        <Table caption="API keys" columns={columns} rows={rows} keyOf={key => key.id} />
      )}
      {open && <Front open={open} onOpen={setOpen} onChanged={onChanged} />}
    </>
  );
}

function columnsFor(open: (what: Doing) => void): readonly Column<ListedKey>[] {
  return [
    {
      name: 'Name',
      by: key => key.name,
      show: key => (
        <>
          <a href={keyHref(key.id)}>{key.name}</a>
          <span class="detail mono">{key.shown_as}</span>
          {key.note !== null && <span class="detail">{key.note}</span>}
        </>
      ),
    },
    {
      name: 'State',
      by: stateOf,
      show: key => <span class={`badge state-${stateOf(key)}`}>{stateOf(key)}</span>,
      isMinor: true,
    },
    { name: 'This month', startsDown: true, by: key => key.used ?? 0, show: usedWords, isNumber: true },
    { name: 'Last 30 days', show: key => <Sparkline values={key.days} />, isMinor: true },
    { name: 'Limits', show: key => <Limits limited={key} />, isMinor: true },
    {
      name: 'Change',
      show: key => <KeyButtons listed={key} open={open} />,
    },
  ];
}

export function KeyButtons({ listed: key, open }: { listed: ListedKey; open: (what: Doing) => void }) {
  if (key.revoked_at !== null) return null;
  return (
    <span class="buttons">
      {(['edit', 'rotate', 'revoke'] as const).map(what => (
        <button
          key={what}
          type="button"
          class="button small"
          aria-haspopup="dialog"
          aria-label={`${VERBS[what]} ${key.name}`}
          onClick={() => open({ what, key })}
        >
          {VERBS[what]}
        </button>
      ))}
    </span>
  );
}

const VERBS = { edit: 'Edit', rotate: 'Rotate', revoke: 'Revoke' } as const;

export function stateOf({ revoked_at, expires_at }: Key): 'active' | 'expired' | 'revoked' {
  if (revoked_at !== null) return 'revoked';
  return expires_at === null || isAhead(expires_at) ? 'active' : 'expired';
}

const usedWords = ({ used = 0, quota }: Key) =>
  quota === null ? number(used) : `${number(used)} of ${number(quota)}`;

export const isAhead = (moment: string | null | undefined): moment is string =>
  typeof moment === 'string' && Date.parse(moment) > Date.now();

function Limits({ limited }: { limited: Key }) {
  const { rate, origins, networks, expires_at, previous_until, revoked_at } = limited;
  const words = [
    rate === null ? '' : `${rate} per second`,
    ...origins,
    ...networks,
    expires_at === null ? '' : `expires ${day(expires_at)}`,
    revoked_at === null && isAhead(previous_until) ? `old secret expires ${fromNow(previous_until)}` : '',
  ].filter(word => word !== '');
  return words.length === 0 ? <span class="soft">none</span> : <span>{words.join(' · ')}</span>;
}

interface FrontProps {
  readonly open: Doing;
  onOpen(open: Doing | undefined): void;
  onChanged(): void;
}

export function Front({ open, onOpen, onChanged }: FrontProps) {
  const [overlap, setOverlap] = useState('86400');
  const then = { onAnswered: onChanged, onClosed: () => onOpen(undefined) };
  switch (open.what) {
    case 'create':
      return (
        <KeyForm
          title="Create a key"
          verb="Create"
          send={createKey}
          onDone={showSecret('Key created')}
          {...then}
        />
      );
    case 'edit':
      return (
        <KeyForm
          title={`Edit ${open.key.name}`}
          verb="Save"
          before={open.key}
          send={limits => updateKey(open.key.id, changedLimits(open.key, limits))}
          {...then}
        />
      );
    case 'rotate':
      return (
        <Confirm
          title={`Rotate ${open.key.name}`}
          verb="Rotate"
          act={() => rotateKey(open.key.id, Number(overlap), isAhead(open.key.previous_until))}
          onDone={showSecret('New secret')}
          {...then}
        >
          <p>It gets a new secret. Its name, limits and counter stay.</p>
          <Field label="Old secret" hint="Keep it until every caller has the new one.">
            {ids => (
              <select {...ids} value={overlap} onChange={event => setOverlap(event.currentTarget.value)}>
                {OVERLAPS.map(([seconds, words]) => (
                  <option key={seconds} value={seconds}>
                    {words}
                  </option>
                ))}
              </select>
            )}
          </Field>
          {isAhead(open.key.previous_until) && (
            <Notice tone="warning" title="The secret before still works, and ends now">
              <p>It was kept until {moment(open.key.previous_until)}. Only one old secret can be kept.</p>
            </Notice>
          )}
          {overlap === '0' && (
            <Notice tone="warning" title="Callers with the old secret get 401 at once">
              <p>Choose this only when the secret has leaked.</p>
            </Notice>
          )}
        </Confirm>
      );
    case 'revoke':
      return (
        <Confirm
          title={`Revoke ${open.key.name}`}
          verb="Revoke"
          isDangerous
          act={() => revokeKey(open.key.id)}
          {...then}
        >
          <p>
            Every caller with <code>{open.key.shown_as}</code> gets 401 from the next call on. This cannot be
            undone.
          </p>
        </Confirm>
      );
  }
}

const OVERLAPS = [
  [86_400, 'keep for 1 day'],
  [604_800, 'keep for 1 week'],
  [3_600, 'keep for 1 hour'],
  [0, 'revoke now'],
] as const;

/** In front of whatever part of the operator's side is shown. */
export function MadeSecret() {
  const shown = useShared(madeKey);
  if (!shown) return null;
  const { made, what } = shown;
  return (
    <Dialog title={`${what}: ${made.name}`} onClosed={() => madeKey.set(undefined)} isInsistent>
      {close => (
        <>
          <Notice tone="warning" title="Copy it now">
            <p>The secret is shown only once. The service stores its hash and cannot show it again.</p>
          </Notice>
          <Code text={made.key} what="API key" isWrapped />
          <div class="dialog-buttons">
            <button type="button" class="button primary" onClick={close}>
              I have copied it
            </button>
          </div>
        </>
      )}
    </Dialog>
  );
}
