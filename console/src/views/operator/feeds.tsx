/** The lists that the service follows: how many names, of which version, how old. */

import { type FeedStatus, type Feeds, listFeeds } from '../../admin.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { Notice } from '../../parts/notice.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { ageInDays, fromNow, moment, number, plural } from '../../time.ts';

/** An update that is older is a feed that nobody updates any more. */
const OLD_DAYS = 7;

const droppedOf = ({ dropped }: FeedStatus) => Object.values(dropped).reduce((sum, count) => sum + count, 0);
const isOld = ({ updated_at }: FeedStatus) => updated_at !== null && ageInDays(updated_at) > OLD_DAYS;

const COLUMNS: readonly Column<FeedStatus>[] = [
  {
    name: 'Feed',
    by: feed => feed.feed,
    show: feed => (
      <>
        {feed.feed}
        <span class="detail">
          {feed.origin} · {feed.licence}
        </span>
      </>
    ),
  },
  {
    name: 'Kind',
    by: feed => feed.kind,
    show: feed => (
      <>
        {feed.kind} {feed.kind === 'disposable' && <span class="badge">{feed.family}</span>}
      </>
    ),
  },
  {
    name: 'Entries',
    startsDown: true,
    by: feed => feed.names,
    show: feed => number(feed.names),
    isNumber: true,
  },
  {
    name: 'Dropped',
    startsDown: true,
    by: droppedOf,
    isNumber: true,
    isMinor: true,
    show: feed => <span title={droppedWords(feed)}>{number(droppedOf(feed))}</span>,
  },
  { name: 'Version', by: feed => feed.version, show: feed => <code>{feed.version}</code> },
  {
    name: 'Age',
    by: feed => feed.updated_at ?? '',
    show: ({ updated_at }) =>
      updated_at === null ? (
        <span class="soft">as installed</span>
      ) : (
        <time dateTime={updated_at} title={moment(updated_at)}>
          {fromNow(updated_at)}
        </time>
      ),
  },
];

function droppedWords({ dropped }: FeedStatus): string {
  return Object.entries(dropped)
    .map(([why, count]) => `${why} ${count}`)
    .join(', ');
}

export function FeedsTab() {
  return (
    <Loaded what="the feeds" load={listFeeds}>
      {(feeds, reload) => <FeedsList feeds={feeds} onReload={reload} />}
    </Loaded>
  );
}

function FeedsList({
  feeds: { snapshot, domains, panel, feeds },
  onReload,
}: {
  feeds: Feeds;
  onReload: () => void;
}) {
  const old = feeds.filter(isOld).map(({ feed }) => feed);
  return (
    <>
      <div class="toolbar">
        <h2 tabIndex={-1}>Feeds</h2>
        <p>
          {plural(domains, 'disposable domain')} in snapshot <code>{snapshot}</code>
          {' · '}
          <span title="Widely used domains. Only a verified list can flag them.">
            {plural(panel, 'popular domain')} in the panel
          </span>
        </p>
        <button type="button" class="button" onClick={onReload}>
          Refresh
        </button>
      </div>
      {old.length > 0 && (
        <Notice tone="warning" title={`${old.join(', ')}: not updated for more than ${OLD_DAYS} days`}>
          <p>
            The names are still used. Run <code>domain-risk feeds update</code>, and look at why it stopped.
          </p>
        </Notice>
      )}
      <Table caption="Feeds" columns={COLUMNS} rows={feeds} keyOf={feed => feed.feed} />
    </>
  );
}
