/** What operators did, who did it and when. */

import { type Act, listActs } from '../../admin.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { Empty } from '../../parts/notice.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { moment } from '../../time.ts';

const COLUMNS: readonly Column<Act>[] = [
  { name: 'When', show: act => <time dateTime={act.at}>{moment(act.at)}</time>, by: act => act.at },
  { name: 'Who', show: act => act.who, by: act => act.who },
  { name: 'Action', show: act => <code>{act.action}</code>, by: act => act.action },
  { name: 'Subject', show: act => <span class="mono">{act.subject}</span>, by: act => act.subject },
  { name: 'Detail', show: act => act.detail ?? '–', isMinor: true },
  { name: 'Via', show: act => act.via, by: act => act.via, isMinor: true },
];

export function Audit() {
  return (
    <Loaded what="the audit" load={listActs}>
      {({ acts }, reload) => (
        <>
          <div class="toolbar">
            <h2 tabIndex={-1}>Audit</h2>
            <button type="button" class="button" onClick={reload}>
              Refresh
            </button>
          </div>
          {acts.length === 0 ? (
            <Empty title="Nothing was changed yet">
              <p>Changes appear here, made on this page or by the command line.</p>
            </Empty>
          ) : (
            <Table
              caption="Changes, the newest first"
              columns={COLUMNS}
              rows={acts}
              keyOf={act => `${act.at} ${act.action} ${act.subject} ${acts.indexOf(act)}`}
            />
          )}
        </>
      )}
    </Loaded>
  );
}
