/** The graph of a domain's mail hosts and who shares them: drawn, by keyboard as links, and as a table of the same. */

import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { draw, type GraphHost, hasPage, type Node, titleOf } from '../graph.ts';
import { domainHref } from '../route.ts';
import { number } from '../time.ts';
import { Breakable } from './breakable.tsx';

export interface GraphProps {
  /** Without one the hosts stand for themselves. */
  readonly domain?: string;
  readonly hosts: readonly GraphHost[];
  /** Of the domain's own score: what colour it has. */
  readonly band?: string;
}

/** What is heard of each, and what follows from it. */
const SPOKEN: Readonly<Record<Node['kind'], string>> = {
  domain: 'the domain looked up',
  host: 'mail host',
  address: 'address',
  listed: 'listed disposable domain',
};

const STEPS: Readonly<Record<string, number>> = {
  ArrowRight: 1,
  ArrowDown: 1,
  ArrowLeft: -1,
  ArrowUp: -1,
  Home: -Infinity,
  End: Infinity,
};

export default function Graph({ domain, hosts, band = '' }: GraphProps) {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const node = box.current;
    if (!node) return;
    const measure = () => setWidth(node.clientWidth);
    measure();
    const resize = new ResizeObserver(measure);
    resize.observe(node);
    return () => resize.disconnect();
  }, []);
  const drawing = useMemo(() => draw(domain, hosts, width), [domain, hosts, width]);
  return (
    <>
      <div class="graph" ref={box}>
        {width > 0 && <Picture drawing={drawing} label={labelOf(domain, hosts)} band={band} />}
      </div>
      <details>
        <summary>As a table</summary>
        <HostTable hosts={hosts} />
      </details>
    </>
  );
}

const labelOf = (domain: string | undefined, hosts: readonly GraphHost[]) =>
  domain === undefined
    ? `${hosts.length === 1 ? hosts[0]!.host : 'Mail hosts'} and the listed domains on ${hosts.length === 1 ? 'it' : 'them'}`
    : `Mail hosts of ${domain} and the listed domains that share them`;

interface PictureProps {
  readonly drawing: ReturnType<typeof draw>;
  readonly label: string;
  readonly band: string;
}

/** One stop of the Tab key; arrow keys go on from name to name. */
function Picture({ drawing: { width, height, nodes, groups, edges }, label, band }: PictureProps) {
  const svg = useRef<SVGSVGElement>(null);
  const [current, setCurrent] = useState(0);

  function move(event: KeyboardEvent): void {
    const step = STEPS[event.key];
    const links = [...(svg.current?.querySelectorAll<SVGAElement>('a') ?? [])];
    if (step === undefined || links.length === 0) return;
    event.preventDefault();
    const next = Math.max(0, Math.min(links.length - 1, current + step));
    setCurrent(next);
    links[next]?.focus();
  }

  const linked = nodes.filter(({ kind }) => kind !== 'address');
  return (
    // biome-ignore lint/a11y/useSemanticElements: no element of HTML groups what is drawn
    <svg
      ref={svg}
      role="group"
      aria-label={label}
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      onKeyDown={move}
    >
      {edges.map(path => (
        <path key={path} class="edge" d={path} />
      ))}
      {groups.map(({ host, title, x, y, width: wide, height: tall }) => (
        <g key={host}>
          <rect class="group" x={x} y={y} width={wide} height={tall} rx="8" />
          <text class="group-title" x={x + 8} y={y + 16}>
            {title}
          </text>
        </g>
      ))}
      {nodes.map(node => {
        const at = linked.indexOf(node);
        return (
          <Drawn
            key={`${node.kind} ${node.name} ${node.y}`}
            node={node}
            band={band}
            isStop={at === Math.min(current, linked.length - 1)}
            onFocus={() => setCurrent(at)}
          />
        );
      })}
    </svg>
  );
}

interface DrawnProps {
  readonly node: Node;
  readonly band: string;
  readonly isStop: boolean;
  onFocus(): void;
}

/** An address has no page of its own: only names can be looked up. */
function Drawn({ node, band, isStop, onFocus }: DrawnProps) {
  const { kind, name, label, x, y, width, height } = node;
  const look = `node node-${kind} ${kind === 'domain' ? `band-${band}` : ''}`;
  const shape = (
    <>
      <title>{`${name}, ${name.startsWith('*.') ? 'all its numbered hosts' : SPOKEN[kind]}`}</title>
      <rect x={x} y={y} width={width} height={height} rx="5" />
      {/* biome-ignore lint/a11y/noAriaHiddenOnFocusable: text that is drawn takes no focus, and the title names it whole */}
      <text x={x + 8} y={y + 17} aria-hidden="true">
        {label}
      </text>
    </>
  );
  if (kind === 'address') return <g class={look}>{shape}</g>;
  return (
    <a
      class={look}
      href={domainHref(name)}
      aria-current={kind === 'domain' ? 'page' : undefined}
      // In SVG names of attributes have upper and lower case, and this one has no upper.
      tabindex={isStop ? 0 : -1}
      onFocus={onFocus}
    >
      {shape}
    </a>
  );
}

function HostTable({ hosts }: { hosts: readonly GraphHost[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section class="table listing cards" tabIndex={0} aria-label="Mail hosts, table">
      <table>
        <caption class="hidden">Mail hosts and the listed domains that share them</caption>
        <thead>
          <tr>
            <th scope="col">Mail host</th>
            <th scope="col">Addresses</th>
            <th scope="col" class="number">
              Listed domains
            </th>
            <th scope="col">Names</th>
          </tr>
        </thead>
        <tbody>
          {hosts.map(host => (
            <tr key={host.host}>
              <th scope="row" class="mono">
                {hasPage(host.host) ? (
                  <a href={domainHref(host.host)}>
                    <Breakable name={host.host} />
                  </a>
                ) : (
                  host.host
                )}
              </th>
              <td class="mono" data-label="Addresses">
                {host.addresses.join(' ') || 'Not known'}
              </td>
              <td class="number" data-label="Listed domains" title={titleOf(host)}>
                {number(host.listed_guests)}
              </td>
              <td data-label="Names">
                <ul class="names">
                  {host.guests.map(name => (
                    <li key={name} class="mono">
                      <a href={domainHref(name)}>
                        <Breakable name={name} />
                      </a>
                    </li>
                  ))}
                </ul>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
