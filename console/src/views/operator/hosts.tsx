/** Mail hosts that were learned from their guests, and the way to correct what was learned. */

import { useMemo, useState } from 'preact/hooks';
import { forgetHost, type Host, listHosts, relearnHost } from '../../admin.ts';
import { Breakable } from '../../parts/breakable.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { LazyGraph } from '../../parts/lazy-graph.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Empty } from '../../parts/notice.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { number } from '../../time.ts';

/** The page of a host. */
const hostHref = (host: string) => `#/hosts/${encodeURIComponent(host)}`;

/** What is shown for each state, and what it means. */
export const STATES: Readonly<Record<Host['state'], readonly [string, string]>> = {
  disposable: ['disposable', 'Unlisted domains on this host are flagged.'],
  undecided: ['undecided', 'Too little evidence to flag unlisted domains.'],
  shared: ['shared', 'Also used by ordinary domains. Nobody is flagged because of it.'],
  forgotten: ['ignored', 'An operator chose to ignore it.'],
};

export const verbFor = ({ state }: Host) => (state === 'forgotten' ? 'Watch again' : 'Ignore');

function columnsFor(choose: (host: Host) => void): readonly Column<Host>[] {
  return [
    {
      name: 'Host',
      by: row => row.host,
      show: row => (
        <>
          <a class="mono" href={hostHref(row.host)}>
            <Breakable name={row.host} />
          </a>
          {row.neighbours.length > 0 && (
            <span class="detail">receives mail for {row.neighbours.join(', ')}</span>
          )}
        </>
      ),
    },
    {
      name: 'State',
      by: row => STATES[row.state][0],
      show: row => <span title={STATES[row.state][1]}>{STATES[row.state][0]}</span>,
    },
    {
      name: 'Disposable domains',
      startsDown: true,
      by: row => row.flagged,
      show: row => number(row.flagged),
      isNumber: true,
    },
    {
      name: 'Other domains',
      startsDown: true,
      by: row => row.innocent,
      show: row => number(row.innocent),
      isNumber: true,
      isMinor: true,
    },
    {
      name: 'Evidence',
      startsDown: true,
      by: row => row.sum,
      show: row => row.sum.toFixed(1),
      isNumber: true,
      isMinor: true,
    },
    { name: 'Last seen', by: row => row.last_seen ?? '', show: row => row.last_seen ?? '–', isMinor: true },
    {
      name: 'Change',
      show: row => (
        <button
          type="button"
          class="button small"
          aria-haspopup="dialog"
          aria-label={`${verbFor(row)} ${row.host}`}
          onClick={() => choose(row)}
        >
          {verbFor(row)}
        </button>
      ),
    },
  ];
}

export function Hosts() {
  return (
    <Loaded what="the learned hosts" load={listHosts}>
      {({ hosts }, reload) => <HostsList hosts={hosts} onChanged={reload} />}
    </Loaded>
  );
}

function HostsList({ hosts, onChanged }: { hosts: readonly Host[]; onChanged: () => void }) {
  const [chosen, setChosen] = useState<Host>();
  const columns = useMemo(() => columnsFor(setChosen), []);
  return (
    <>
      <div class="toolbar">
        <h2 tabIndex={-1}>Learned hosts</h2>
        <p class="hint">Choose one to see its addresses and domains as a graph.</p>
        <button type="button" class="button" onClick={onChanged}>
          Refresh
        </button>
      </div>
      {hosts.length === 0 ? (
        <Empty title="Nothing learned yet">
          <p>
            Hosts appear when listed domains are looked up. <code>domain-risk feeds sweep</code> looks up all
            of them.
          </p>
        </Empty>
      ) : (
        <>
          <Drawn hosts={hosts} />
          <Table caption="Mail hosts and addresses" columns={columns} rows={hosts} keyOf={row => row.host} />
        </>
      )}
      {chosen && <Change host={chosen} onChanged={onChanged} onClosed={() => setChosen(undefined)} />}
    </>
  );
}

/** More would be a page of their own. */
const MOST_DRAWN = 20;

/** Who shares which host at a glance; the table below has all of them, and the page of each more names. */
function Drawn({ hosts }: { hosts: readonly Host[] }) {
  const drawn = useMemo(
    () =>
      hosts
        .filter(({ state, neighbours }) => state !== 'forgotten' && neighbours.length > 0)
        .slice(0, MOST_DRAWN)
        .map(graphOf),
    [hosts],
  );
  if (drawn.length === 0) return null;
  return (
    <section aria-label="Hosts and their listed domains">
      <LazyGraph hosts={drawn} />
    </section>
  );
}

/** As the graph of a domain has its hosts. */
export const graphOf = ({ host, addresses, flagged, neighbours }: Host) => ({
  ...{ host, addresses, listed_guests: flagged, guests: neighbours },
});

export function Change({
  host,
  onChanged,
  onClosed,
}: {
  host: Host;
  onChanged: () => void;
  onClosed: () => void;
}) {
  const isForgotten = host.state === 'forgotten';
  return (
    <Confirm
      title={`${verbFor(host)} ${host.host}`}
      verb={verbFor(host)}
      isDangerous={!isForgotten}
      act={() => (isForgotten ? relearnHost(host.host) : forgetHost(host.host))}
      onAnswered={onChanged}
      onClosed={onClosed}
    >
      <p>
        {isForgotten
          ? 'It starts without evidence and can be learned again.'
          : 'It no longer flags anyone. It is not learned again until you choose to watch it.'}
      </p>
    </Confirm>
  );
}
