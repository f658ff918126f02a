/** The lists that the service follows: how many names, of which version, how old. */

import { useEffect, useMemo, useState } from 'preact/hooks';
import { type FeedStatus, type Feeds, listFeeds, returnFeed, rollBackFeed } from '../../admin.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Notice } from '../../parts/notice.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { fromNow, moment, number, plural } from '../../time.ts';

const droppedOf = ({ dropped }: FeedStatus) => Object.values(dropped).reduce((sum, count) => sum + count, 0);

const BASE: readonly Column<FeedStatus>[] = [
  {
    name: 'Feed',
    by: feed => feed.feed,
    show: feed => (
      <>
        {feed.feed}
        <span class="detail">
          {feed.origin} · {feed.own ? 'added by you' : feed.licence}
        </span>
        {feed.held && <span class="detail">Rolled back: not updated until you undo it</span>}
        {feed.problem !== null && <span class="detail">Last update failed: {feed.problem}</span>}
        {feed.fallback !== null && <span class="detail">Last read from {feed.fallback}</span>}
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
    show: feed => (
      <>
        {number(feed.names)}
        {feed.updated_at !== null && (
          <span class="detail" title="What the last change brought and took away">
            +{number(feed.added)} −{number(feed.removed)}
          </span>
        )}
      </>
    ),
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
    name: 'Checked',
    by: feed => feed.checked_at ?? '',
    show: ({ checked_at }) => <When at={checked_at} otherwise="never" />,
  },
  {
    name: 'Changed',
    by: feed => feed.updated_at ?? '',
    show: ({ updated_at }) => <When at={updated_at} otherwise="as installed" />,
  },
];

/** A feed, and which way it is to go. */
interface Step {
  readonly feed: string;
  readonly isBack: boolean;
}
const verbOf = ({ isBack }: Step) => (isBack ? 'Roll back' : 'Undo rollback');

/** Back to the version before, and forth again. */
function Steps({
  of,
  choose,
}: {
  of: Pick<FeedStatus, 'feed' | 'can_roll_back' | 'held'>;
  choose: (step: Step) => void;
}) {
  const steps = [...(of.can_roll_back ? [true] : []), ...(of.held ? [false] : [])];
  return steps
    .map(isBack => ({ feed: of.feed, isBack }))
    .map(step => (
      <button
        key={verbOf(step)}
        type="button"
        class="button small"
        aria-haspopup="dialog"
        aria-label={`${verbOf(step)} ${of.feed}`}
        onClick={() => choose(step)}
      >
        {verbOf(step)}
      </button>
    ));
}

const columnsFor = (choose: (step: Step) => void): readonly Column<FeedStatus>[] => [
  ...BASE,
  { name: 'Change', show: feed => <Steps of={feed} choose={choose} /> },
];

function Change({ step, onChanged, onClosed }: { step: Step; onChanged: () => void; onClosed: () => void }) {
  const { feed, isBack } = step;
  return (
    <Confirm
      title={`${verbOf(step)} ${feed}`}
      verb={verbOf(step)}
      isDangerous={isBack}
      act={() => (isBack ? rollBackFeed(feed) : returnFeed(feed))}
      onAnswered={onChanged}
      onClosed={onClosed}
    >
      <p>
        {isBack
          ? 'Uses the version before this one, and updates leave the list alone until you undo it. '
          : 'Uses the next newer version. Updates go on once the newest is in use. '}
        Servers follow within a minute.
      </p>
    </Confirm>
  );
}

function When({ at, otherwise }: { at: string | null; otherwise: string }) {
  if (at === null) return <span class="soft">{otherwise}</span>;
  return (
    <time dateTime={at} title={moment(at)}>
      {fromNow(at)}
    </time>
  );
}

function droppedWords({ dropped }: FeedStatus): string {
  return Object.entries(dropped)
    .map(([why, count]) => `${why} ${count}`)
    .join(', ');
}

/** On every tab: lists that nobody updates miss more of the abuse each day. */
export function StaleNotice() {
  const [feeds, setFeeds] = useState<Feeds>();
  useEffect(() => {
    void listFeeds().then(result => result.ok && setFeeds(result.data));
  }, []);
  if (!feeds || feeds.freshness.status === 'fresh') return null;
  const { status, checked_at } = feeds.freshness;
  const title =
    status === 'never'
      ? 'The lists have not been updated yet'
      : `The lists were last updated ${fromNow(checked_at!)}`;
  return (
    <Notice tone="warning" title={title}>
      <p>
        Lookups still work, but miss newer disposable domains. With <code>FEEDS_UPDATE=daily</code> the
        service updates them by itself, if it can reach the internet; <code>domain-risk feeds update</code>{' '}
        does it now.
      </p>
    </Notice>
  );
}

export function FeedsTab() {
  return (
    <Loaded what="the feeds" load={listFeeds}>
      {(feeds, reload) => <FeedsList feeds={feeds} onReload={reload} />}
    </Loaded>
  );
}

function FeedsList({
  feeds: { snapshot, domains, panel, feeds, missing },
  onReload,
}: {
  feeds: Feeds;
  onReload: () => void;
}) {
  const [step, setStep] = useState<Step>();
  const columns = useMemo(() => columnsFor(setStep), []);
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
      {[...feeds, ...missing]
        .filter(({ waiting }) => waiting.length > 0)
        .map(({ feed, waiting }) => (
          <Notice key={feed} tone="warning" title={`${feed}: a new version is held back`}>
            <p>
              It would flag {plural(waiting.length, 'established domain')} that you were asked for lately:{' '}
              {waiting.slice(0, 20).join(', ')}
              {waiting.length > 20 && '…'}. <code>domain-risk feeds approve {feed}</code> takes it,{' '}
              <code>domain-risk feeds reject {feed}</code> does not.
            </p>
          </Notice>
        ))}
      {missing.length > 0 && (
        <Notice tone="warning" title={`${missing.map(({ feed }) => feed).join(', ')}: not in use`}>
          {missing.map(one => (
            <p key={one.feed}>
              {one.feed}: {one.problem ?? (one.held ? 'rolled back' : 'empty')}{' '}
              <Steps of={one} choose={setStep} />
            </p>
          ))}
        </Notice>
      )}
      <Table caption="Feeds" columns={columns} rows={feeds} keyOf={feed => feed.feed} />
      {step && <Change step={step} onChanged={onReload} onClosed={() => setStep(undefined)} />}
    </>
  );
}
