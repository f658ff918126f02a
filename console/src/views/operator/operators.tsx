/** Operators with a token each: the audit then has their names. A token is shown once, when it is made. */

import { useState } from 'preact/hooks';
import {
  addOperator,
  listOperators,
  type MadeOperator,
  type NamedOperator,
  revokeOperator,
} from '../../admin.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { Code } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Empty } from '../../parts/notice.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { personal } from '../../session.ts';
import { useShared } from '../../shared.ts';
import { day } from '../../time.ts';

/** Until somebody says that they have copied it: the browser's Back takes the view away, but not this. */
const madeOperator = personal<MadeOperator | undefined>(undefined);

const columnsFor = (revoke: (one: NamedOperator) => void): readonly Column<NamedOperator>[] => [
  { name: 'Name', show: one => one.name, by: one => one.name },
  { name: 'Since', show: one => day(one.created_at), by: one => one.created_at },
  {
    name: 'State',
    show: one => (one.revoked_at === null ? 'active' : `revoked ${day(one.revoked_at)}`),
    by: one => one.revoked_at ?? '',
  },
  {
    name: 'Change',
    show: one =>
      one.revoked_at === null && (
        <button
          type="button"
          class="button"
          aria-haspopup="dialog"
          aria-label={`Revoke ${one.name}`}
          onClick={() => revoke(one)}
        >
          Revoke
        </button>
      ),
  },
];

export function Operators() {
  return (
    <Loaded what="the operators" load={listOperators}>
      {({ operators }, reload) => <List operators={operators} onChanged={reload} />}
    </Loaded>
  );
}

function List({ operators, onChanged }: { operators: readonly NamedOperator[]; onChanged: () => void }) {
  const [name, setName] = useState<string>();
  const [revoked, setRevoked] = useState<NamedOperator>();
  return (
    <>
      <div class="toolbar">
        <h2 tabIndex={-1}>Operators</h2>
        <button type="button" class="button primary" aria-haspopup="dialog" onClick={() => setName('')}>
          Add an operator
        </button>
      </div>
      {operators.length === 0 ? (
        <Empty title="Everybody shares the ADMIN_TOKEN">
          <p>Give each person a token of their own, and the audit log names who it really was.</p>
        </Empty>
      ) : (
        <Table
          caption="Operators"
          columns={columnsFor(setRevoked)}
          rows={operators}
          keyOf={one => one.name}
        />
      )}
      {name !== undefined && (
        <Confirm
          title="Add an operator"
          verb="Add"
          act={() => addOperator(name)}
          onAnswered={onChanged}
          onDone={madeOperator.set}
          onClosed={() => setName(undefined)}
        >
          <Field label="Name" hint="What the audit log calls them.">
            {ids => <input {...ids} value={name} onInput={event => setName(event.currentTarget.value)} />}
          </Field>
        </Confirm>
      )}
      {revoked && (
        <Confirm
          title={`Revoke ${revoked.name}`}
          verb="Revoke"
          isDangerous
          act={() => revokeOperator(revoked.name)}
          onAnswered={onChanged}
          onClosed={() => setRevoked(undefined)}
        >
          <p>The token is refused from the next request on.</p>
        </Confirm>
      )}
    </>
  );
}

/** In front of whatever part of the operator's side is shown. */
export function MadeToken() {
  const made = useShared(madeOperator);
  if (!made) return null;
  return (
    <Dialog title={`The token of ${made.name}`} onClosed={() => madeOperator.set(undefined)} isInsistent>
      {close => (
        <>
          <p>Copy it now: it is not stored and cannot be shown again.</p>
          <Code text={made.token} what="Operator token" isWrapped />
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
