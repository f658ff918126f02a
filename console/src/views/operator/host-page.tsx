/** One learned host: where it is, and the listed domains that it receives mail for, drawn. */

import { useCallback, useEffect, useState } from 'preact/hooks';
import { findHost, type Host } from '../../admin.ts';
import { Breakable } from '../../parts/breakable.tsx';
import { focusHeading } from '../../parts/dialog.tsx';
import { LazyGraph } from '../../parts/lazy-graph.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Empty } from '../../parts/notice.tsx';
import { Tile } from '../../parts/tile.tsx';
import { day, number } from '../../time.ts';
import { Change, graphOf, STATES, verbFor } from './hosts.tsx';

export function HostPage({ host }: { host: string }) {
  const load = useCallback(() => findHost(host), [host]);
  return (
    <>
      <p>
        <a href="#/operator/hosts">All learned hosts</a>
      </p>
      <Loaded what="the host" load={load}>
        {({ hosts: [found] }, reload) =>
          found ? <OneHost host={found} onChanged={reload} /> : <NoHost host={host} />
        }
      </Loaded>
    </>
  );
}

function NoHost({ host }: { host: string }) {
  return (
    <Empty title="Host not found">
      <p>
        Fewer than two listed domains are known at <code>{host}</code>.
      </p>
    </Empty>
  );
}

function OneHost({ host, onChanged }: { host: Host; onChanged: () => void }) {
  const [isChanging, setIsChanging] = useState(false);
  useEffect(focusHeading, []);
  const [word, meaning] = STATES[host.state];
  return (
    <>
      <div class="toolbar">
        <h2 tabIndex={-1} class="mono">
          <Breakable name={host.host} />
        </h2>
        <button type="button" class="button" aria-haspopup="dialog" onClick={() => setIsChanging(true)}>
          {verbFor(host)}
        </button>
      </div>
      <p>
        {word}: {meaning}
      </p>
      <dl class="tiles">
        <Tile name="Disposable domains" value={number(host.flagged)} />
        <Tile name="Other domains" value={number(host.innocent)} />
        <Tile name="Evidence" value={host.sum.toFixed(1)} />
        <Tile name="Last seen" value={host.last_seen ? day(host.last_seen) : 'never'} />
      </dl>
      {host.flagged > 0 && <LazyGraph hosts={[graphOf(host)]} />}
      {isChanging && <Change host={host} onChanged={onChanged} onClosed={() => setIsChanging(false)} />}
    </>
  );
}
