/** Where the parts of the graph go: a domain, its mail hosts, their addresses, and the listed domains that share them. */

import type { Evidence } from './api.ts';

export type GraphHost = NonNullable<Evidence['graph']>[number];

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface Node extends Box {
  readonly kind: 'domain' | 'host' | 'address' | 'listed';
  readonly name: string;
  /** The name as far as it has room. */
  readonly label: string;
}

/** The listed domains of one host, in rows and columns. */
export interface Group extends Box {
  readonly host: string;
  readonly title: string;
}

export interface Drawing {
  readonly width: number;
  readonly height: number;
  readonly nodes: readonly Node[];
  readonly groups: readonly Group[];
  /** Paths of SVG. */
  readonly edges: readonly string[];
}

const HEIGHT = 26;
const ROW = 31;
const PAD = 8;
const TITLE = 24;
/** Of a letter of 12 px; the stroke around a box is outside of it. */
const LETTER = 7.3;
/** Below this columns beside each other have no room for names. */
const NARROW = 640;
const LEAST_GUEST = 160;
const MOST_NAME = 300;

/** Both ends of a long name tell more than its beginning. */
export function shortened(name: string, width: number): string {
  const most = Math.max(6, Math.floor((width - 2 * PAD) / LETTER));
  if (name.length <= most) return name;
  const end = Math.min(8, Math.floor((most - 1) / 2));
  return `${name.slice(0, most - 1 - end)}…${name.slice(-end)}`;
}

function node(kind: Node['kind'], name: string, x: number, y: number, width: number): Node {
  return { kind, name, label: shortened(name, width), x, y, width, height: HEIGHT };
}

export function titleOf({ listed_guests, guests }: GraphHost): string {
  const words = `${listed_guests} listed ${listed_guests === 1 ? 'domain' : 'domains'}`;
  return guests.length < listed_guests && guests.length > 0 ? `${words}, ${guests.length} shown` : words;
}

/** The group of a host's listed domains, with its upper left corner there. */
function groupAt(host: GraphHost, x: number, y: number, width: number): { group: Group; nodes: Node[] } {
  const columns = Math.max(1, Math.floor((width - PAD) / (LEAST_GUEST + PAD)));
  const each = Math.min(MOST_NAME, (width - PAD) / columns - PAD);
  const rows = Math.ceil(host.guests.length / columns);
  const nodes = host.guests.map((name, at) =>
    node(
      'listed',
      name,
      x + PAD + (at % columns) * (each + PAD),
      y + TITLE + Math.floor(at / columns) * ROW,
      each,
    ),
  );
  const height = TITLE + rows * ROW + (rows > 0 ? PAD - (ROW - HEIGHT) : 0);
  return { group: { host: host.host, title: titleOf(host), x, y, width, height }, nodes };
}

const middle = ({ y, height }: Box) => y + height / 2;

/** From the right side of one to the left side of another. */
function across(from: Box, to: Box): string {
  const [x, y, end] = [from.x + from.width, middle(from), middle(to)];
  const bend = (to.x - x) / 2;
  return `M${x} ${y}C${x + bend} ${y} ${to.x - bend} ${end} ${to.x} ${end}`;
}

/** From below the left corner of one to the left side of another that is further down. */
const down = (from: Box, to: Box) => `M${from.x + 10} ${from.y + from.height}V${middle(to)}H${to.x}`;

/** A learned address, and the domain of numbered hosts (`*.example.com`), have no page of their own. */
export const hasPage = (host: string) => !/[:*]|\.\d+$/.test(host);
const kindOf = (host: string) => (hasPage(host) ? 'host' : 'address');

/** Without a domain the hosts come first: what was learned of them, whoever asks. */
export function draw(domain: string | undefined, hosts: readonly GraphHost[], width: number): Drawing {
  return width < NARROW ? drawTree(domain, hosts, width) : drawColumns(domain, hosts, width);
}

/** Side by side: domain, hosts, addresses, listed domains. */
function drawColumns(domain: string | undefined, hosts: readonly GraphHost[], width: number): Drawing {
  const gap = width < 900 ? 20 : 30;
  const hasAddresses = hosts.some(({ addresses }) => addresses.length > 0);
  const name = Math.min(230, width * 0.19);
  const hostX = domain === undefined ? 1 : name + gap;
  const addressX = hostX + name + gap;
  const addressWidth = width < 900 ? 112 : 124;
  const groupX = hasAddresses ? addressX + addressWidth + gap : addressX;
  const nodes: Node[] = [];
  const groups: Group[] = [];
  const edges: string[] = [];
  const ofHosts: Node[] = [];
  let y = 1;
  for (const host of hosts) {
    const { group, nodes: listed } = groupAt(host, groupX, y, width - groupX - 1);
    const tall = Math.max(group.height, host.addresses.length * ROW);
    // At its head: in the middle of fifty names the host would be a screen away from the domain.
    const own = node(kindOf(host.host), host.host, hostX, y, name);
    const addresses = host.addresses.map((address, at) =>
      node('address', address, addressX, y + at * ROW, addressWidth),
    );
    ofHosts.push(own);
    nodes.push(own, ...addresses, ...listed);
    groups.push(group);
    edges.push(...addresses.map(address => across(own, address)));
    const head = { ...group, height: HEIGHT };
    edges.push(...(addresses.length > 0 ? addresses : [own]).map(from => across(from, head)));
    y += tall + 2 * PAD;
  }
  const height = y - 2 * PAD + 1;
  if (domain === undefined) return { width, height, nodes, groups, edges };
  const first = node('domain', domain, 1, 1, name - 1);
  const roots = ofHosts.map(host => across(first, host));
  return { width, height, nodes: [first, ...nodes], groups, edges: [...roots, ...edges] };
}

/** Below each other, each step a little further in: for phones. */
function drawTree(domain: string | undefined, hosts: readonly GraphHost[], width: number): Drawing {
  const step = 24;
  const wide = (x: number) => Math.min(MOST_NAME, width - x - 1);
  const first = domain === undefined ? undefined : node('domain', domain, 1, 1, wide(1));
  const nodes: Node[] = first ? [first] : [];
  const groups: Group[] = [];
  const edges: string[] = [];
  const x = first ? step : 1;
  let y = first ? 1 + ROW : 1;
  for (const host of hosts) {
    const own = node(kindOf(host.host), host.host, x, y, wide(x));
    y += ROW;
    const addresses = host.addresses.map((address, at) =>
      node('address', address, x + step, y + at * ROW, wide(x + step)),
    );
    y += addresses.length * ROW;
    const { group, nodes: listed } = groupAt(host, x + step, y, width - x - step - 1);
    y += group.height + PAD;
    nodes.push(own, ...addresses, ...listed);
    groups.push(group);
    if (first) edges.push(down(first, own));
    edges.push(...[...addresses, group].map(to => down(own, to)));
  }
  return { width, height: y, nodes, groups, edges };
}
