/** What operators did, who did it and when. */

import { useMemo } from 'preact/hooks';
import { type Act, type Key, listActs, listKeys } from '../../admin.ts';
import type { Result } from '../../api.ts';
import { keyHref } from '../../attention.ts';
import { Breakable } from '../../parts/breakable.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Empty } from '../../parts/notice.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { moment } from '../../time.ts';

interface Seen {
  readonly acts: readonly Act[];
  readonly keys: readonly Key[];
}

/** Keys have names for people; without their list the ids are shown. */
async function load(): Promise<Result<Seen>> {
  const [acts, keys] = await Promise.all([listActs(), listKeys()]);
  if (!acts.ok) return acts;
  return { ...acts, data: { acts: acts.data.acts, keys: keys.ok ? keys.data.keys : [] } };
}

const columnsFor = (names: ReadonlyMap<string, string>): readonly Column<Act>[] => [
  { name: 'When', show: act => <time dateTime={act.at}>{moment(act.at)}</time>, by: act => act.at },
  { name: 'Who', show: act => act.who, by: act => act.who },
  { name: 'Action', show: act => <code>{act.action}</code>, by: act => act.action },
  {
    name: 'Subject',
    by: act => names.get(act.subject) ?? act.subject,
    show: ({ subject }) =>
      names.has(subject) ? (
        <a href={keyHref(subject)} title={subject}>
          {names.get(subject)}
        </a>
      ) : (
        <span class="mono">
          <Breakable name={subject} />
        </span>
      ),
  },
  { name: 'Detail', show: act => act.detail ?? '–', isMinor: true },
  { name: 'Via', show: act => act.via, by: act => act.via, isMinor: true },
];

export function Audit() {
  return (
    <Loaded what="the audit log" load={load}>
      {(seen, reload) => <Acts {...seen} onReload={reload} />}
    </Loaded>
  );
}

function Acts({ acts, keys, onReload }: Seen & { onReload: () => void }) {
  const columns = useMemo(() => columnsFor(new Map(keys.map(({ id, name }) => [id, name]))), [keys]);
  return (
    <>
      <div class="toolbar">
        <h2 tabIndex={-1}>Audit</h2>
        <button type="button" class="button" onClick={onReload}>
          Refresh
        </button>
      </div>
      {acts.length === 0 ? (
        <Empty title="No changes yet">
          <p>Changes made here or on the command line appear here.</p>
        </Empty>
      ) : (
        <Table
          caption="Changes, newest first"
          columns={columns}
          rows={acts}
          keyOf={act => `${act.at} ${act.action} ${act.subject} ${acts.indexOf(act)}`}
        />
      )}
    </>
  );
}
