/** The drawing of hosts and the domains that share them: everything has its place, and no name lies on another. */

import { expect, test } from 'vitest';
import { type Box, draw, shortened, titleOf } from '../../console/src/graph.ts';

const host = (name: string, guests: number, addresses: number, listed = guests) => ({
  host: name,
  addresses: Array.from({ length: addresses }, (_, at) => `198.51.100.${at}`),
  listed_guests: listed,
  guests: Array.from({ length: guests }, (_, at) => `a-rather-long-name-${at}.of-a-listed-domain.example`),
});

const SMALL = [host('mx.burner.example', 2, 1)];
const LARGE = [
  host('mx1.burner.example', 30, 4, 41),
  host('mx2.burner.example', 19, 0),
  host('mx3.x.example', 1, 2),
  host('mx4.x.example', 0, 1, 3),
];

const overlap = (a: Box, b: Box) =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;

test.each([
  ['5 nodes', SMALL, 5],
  ['more than 50', LARGE, 62],
] as const)('%s have room beside each other at every width', (_, hosts, count) => {
  for (const width of [280, 328, 639, 640, 760, 900, 1_100]) {
    const { nodes, groups, edges, height } = draw('quick-box-mail.example', hosts, width);
    expect(nodes).toHaveLength(count);
    expect(groups.map(group => group.host)).toEqual(hosts.map(one => one.host));
    for (const [at, box] of nodes.entries()) {
      expect(
        box.x >= 0 && box.x + box.width <= width && box.y >= 0 && box.y + box.height <= height,
        `${box.name} at ${width}`,
      ).toBe(true);
      expect(box.label.length * 7.2, `${box.label} at ${width}`).toBeLessThan(box.width);
      const under = nodes.slice(at + 1).find(other => overlap(box, other));
      expect(under && `${box.name} on ${under.name} at ${width}`).toBeUndefined();
    }
    // From the domain to each host, and on to what it is shared with.
    expect(edges.length).toBeGreaterThanOrEqual(2 * hosts.length);
  }
});

test('fifty listed domains fit on few screens of a wide page', () => {
  expect(draw('x.example', LARGE, 1_100).height).toBeLessThan(1_000);
  expect(draw('x.example', SMALL, 1_100).height).toBeLessThan(120);
});

test.each([280, 1_100])(
  'a learned host is drawn by itself at %i: no domain before it, no page of an address',
  width => {
    const learned = host('mx.burner.example', 3, 2);
    const { nodes, edges, height } = draw(undefined, [learned], width);
    expect(nodes.map(({ kind }) => kind)).toEqual([
      ...['host', 'address', 'address', 'listed', 'listed', 'listed'],
    ]);
    expect(nodes[0]).toMatchObject({ x: 1, y: 1 });
    expect(nodes.every(box => box.x + box.width <= width && box.y + box.height <= height)).toBe(true);
    expect(edges.every(path => !path.includes('NaN'))).toBe(true);
    for (const name of ['192.0.2.1', 'own@192.0.2.1', '2001:db8::1', 'own@2001:db8::1', '*.numbered.example'])
      expect(draw(undefined, [host(name, 1, 0)], width).nodes[0]?.kind, name).toBe('address');
  },
);

test('a long name keeps both of its ends', () => {
  expect(shortened('short.example', 200)).toBe('short.example');
  expect(shortened('a-very-long-name-of-a-domain.example', 150)).toBe('a-very-lo….example');
});

test('says how many there are, and how many of them are shown', () => {
  expect(titleOf(host('mx', 30, 0, 41))).toBe('41 listed domains, 30 shown');
  expect(titleOf(host('mx', 1, 0))).toBe('1 listed domain');
  expect(titleOf(host('mx', 0, 0, 3))).toBe('3 listed domains');
});
