/** The lists that the service follows: how many names, of which version, how old. */

import { useEffect, useMemo, useState } from 'preact/hooks';
import {
  approveFeed,
  type FeedStatus,
  type Feeds,
  listFeeds,
  rejectFeed,
  returnFeed,
  rollBackFeed,
} from '../../admin.ts';
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
        {feed.next !== null && <span class="detail">{nextWords(feed.next)}</span>}
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

/** Of one list. */
const MOST_REJECTED = 20;

/** What was rolled back is no longer what its row shows, though this server may have it for some seconds more. */
function nextWords({ version, names }: NonNullable<FeedStatus['next']>): string {
  const entries = plural(names ?? 0, 'entry', 'entries');
  const what = version === null ? 'no downloaded version' : `version ${version} with ${entries}`;
  return `Changing to ${what}: servers follow within a minute`;
}

/** What can be done to a list, in the words of the buttons and of what comes before each. */
const ACTS = {
  back: {
    verb: 'Roll back',
    act: ({ feed, digest }: Step) => rollBackFeed(feed, digest),
    isDangerous: true,
    says: 'Uses the version before this one, and updates leave the list alone until you undo it. Servers follow within a minute.',
  },
  forth: {
    verb: 'Undo rollback',
    act: ({ feed, digest }: Step) => returnFeed(feed, digest),
    isDangerous: false,
    says: 'Uses the next newer version. Updates go on once the newest is in use. Servers follow within a minute.',
  },
  approve: {
    verb: 'Approve',
    act: ({ feed, waiting }: Step) => approveFeed(feed, waiting),
    isDangerous: true,
    says: 'The list may flag these domains. The next update takes the version; a service that updates by itself begins it within two minutes.',
  },
  reject: {
    verb: 'Reject',
    act: ({ feed, waiting }: Step) => rejectFeed(feed, waiting),
    isDangerous: false,
    says: 'Versions that flag these domains are refused from now on.',
  },
} as const;

/** With what was shown beside it: another version may be in use, and other domains may wait, by now. */
interface Step extends Pick<FeedStatus, 'feed' | 'digest' | 'waiting'> {
  readonly way: keyof typeof ACTS;
}

function Steps({
  of: { feed, digest, waiting },
  ways,
  choose,
}: {
  of: Omit<Step, 'way'>;
  ways: readonly Step['way'][];
  choose: (step: Step) => void;
}) {
  return ways.map(way => (
    <button
      key={way}
      type="button"
      class="button small"
      aria-haspopup="dialog"
      aria-label={`${ACTS[way].verb} ${feed}`}
      onClick={() => choose({ feed, digest, waiting, way })}
    >
      {ACTS[way].verb}
    </button>
  ));
}

/** Back to the version before, and forth again. */
const versionsOf = (feed: Pick<FeedStatus, 'can_roll_back' | 'held'>): readonly Step['way'][] => [
  ...(feed.can_roll_back ? (['back'] as const) : []),
  ...(feed.held ? (['forth'] as const) : []),
];

const columnsFor = (choose: (step: Step) => void): readonly Column<FeedStatus>[] => [
  ...BASE,
  { name: 'Change', show: feed => <Steps of={feed} ways={versionsOf(feed)} choose={choose} /> },
];

function Change({ step, onChanged, onClosed }: { step: Step; onChanged: () => void; onClosed: () => void }) {
  const { feed, way } = step;
  const { verb, act, isDangerous, says } = ACTS[way];
  return (
    <Confirm<unknown>
      title={`${verb} ${feed}`}
      verb={verb}
      isDangerous={isDangerous}
      act={() => act(step)}
      onAnswered={onChanged}
      onClosed={onClosed}
    >
      <p>{says}</p>
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
        .map(one => (
          <Notice key={one.feed} tone="warning" title={`${one.feed}: a new version is held back`}>
            <p>
              It would flag {plural(one.waiting.length, 'established domain')} that you were asked for lately:{' '}
              {one.waiting.join(', ')}.
            </p>
            <p>
              <Steps of={one} ways={['approve', 'reject']} choose={setStep} />
            </p>
          </Notice>
        ))}
      {[...feeds, ...missing]
        .filter(({ rejected_in_use: rejected }) => rejected.length > 0)
        .map(one => (
          <Notice key={one.feed} tone="warning" title={`${one.feed}: rejected domains are in use`}>
            <p>
              {plural(one.rejected_in_use.length, 'domain')} that you rejected:{' '}
              {one.rejected_in_use.slice(0, MOST_REJECTED).join(', ')}
              {one.rejected_in_use.length > MOST_REJECTED && ' …'}. Take another version, or allow them by
              overrides.
            </p>
          </Notice>
        ))}
      {missing.length > 0 && (
        <Notice tone="warning" title={`${missing.map(({ feed }) => feed).join(', ')}: not in use`}>
          {missing.map(one => (
            <p key={one.feed}>
              {one.feed}: {one.problem ?? (one.held ? 'rolled back' : 'empty')}
              {one.next !== null && `. ${nextWords(one.next)}`}{' '}
              <Steps of={one} ways={versionsOf(one)} choose={setStep} />
            </p>
          ))}
        </Notice>
      )}
      <Table caption="Feeds" columns={columns} rows={feeds} keyOf={feed => feed.feed} />
      {step && <Change step={step} onChanged={onReload} onClosed={() => setStep(undefined)} />}
    </>
  );
}
