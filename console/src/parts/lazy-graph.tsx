/** The graph, whose code is loaded with the first one that is shown: most domains have none. */

import { useEffect, useState } from 'preact/hooks';
import type { DomainRisk } from '../api.ts';
import { bandOf } from '../verdict.ts';
import type { GraphProps } from './graph.tsx';
import { Empty, Waiting } from './notice.tsx';

export function LazyGraph(props: GraphProps) {
  const [Loaded, setLoaded] = useState<{ Graph: (props: GraphProps) => preact.JSX.Element } | 'lost'>();
  useEffect(() => {
    void import('./graph.tsx').then(
      ({ default: Graph }) => setLoaded({ Graph }),
      // After an upgrade the service no longer has the file that this page knows by name.
      () => setLoaded('lost'),
    );
  }, []);
  if (Loaded === undefined) return <Waiting for="the graph" />;
  if (Loaded !== 'lost') return <Loaded.Graph {...props} />;
  return (
    <Empty title="The graph could not be loaded">
      <p>Reload the page to try again.</p>
    </Empty>
  );
}

export function GraphCard({ risk }: { risk: DomainRisk }) {
  const hosts = risk.evidence?.graph;
  if (!hosts) return null;
  // A listed domain is a guest of its own hosts, and not its own neighbour.
  const others = hosts.map(host => ({
    ...host,
    guests: host.guests.filter(name => name !== risk.domain),
    listed_guests: host.listed_guests - (host.guests.includes(risk.domain) ? 1 : 0),
  }));
  return (
    <section class="card" aria-labelledby="graph-title">
      <h2 id="graph-title">Who shares its mail servers</h2>
      <p class="soft">
        Listed disposable domains on the same mail hosts and addresses. Unlisted ones are never shown. Opening
        a name uses one lookup of your quota.
      </p>
      <LazyGraph domain={risk.domain} hosts={others} band={bandOf(risk.risk_score).name} />
    </section>
  );
}
