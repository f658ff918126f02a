import { describe, expect, it } from 'vitest';
import { Established } from '../../src/core/established.ts';

const LINES = [
  '*.box.net *.farm.net=7 firm.com gr.com ',
  '*.hoster.net a.com ',
  'mx.hoster.net b.com c.com ',
  'own@farm.net *.farm.net=1 *.farm.net=8 farm.net ',
  'z.net z.com ',
];

describe('who is established where', () => {
  const established = new Established(LINES.join('\n'));
  it.each([
    ['firm.com', '*.box.net', true],
    ['gr.com', '*.box.net', true],
    ['rm.com', '*.box.net', false],
    ['firm.co', '*.box.net', false],
    ['a.com', '*.box.net', false],
    ['a.com', '*.hoster.net', true],
    ['b.com', 'mx.hoster.net', true],
    ['c.com', 'mx.hoster.net', true],
    ['c.com', 'x.hoster.net', false],
    ['b.com', 'hoster.net', false],
    ['farm.net', 'own@farm.net', true],
    ['z.com', 'z.net', true],
    ['z.com', 'zz.net', false],
    ['firm.com', '*.a.net', false],
  ])('%s at %s: %s', (domain, at, expected) => {
    expect(established.has(domain, at)).toBe(expected);
  });

  it('is found among any number of hosts', () => {
    for (let count = 0; count <= 40; count++) {
      const hosts = Array.from({ length: count }, (_, at) => `h${String(at).padStart(2, '0')}.net`);
      const all = new Established(hosts.map(host => `${host} of-${host} `).join('\n'));
      const found = hosts.filter(host => all.has(`of-${host}`, host) && !all.has('of-h', host));
      expect(found).toEqual(hosts);
    }
  });

  it('listed names below a domain: by as many keys as have asked for them there, and not elsewhere', () => {
    const asked = (keys: number) =>
      new Established(`mx.a.net *.farm.net=${keys} *.farm.net=1 \nown@farm.net *.farm.net=15 `);
    expect([0b0110, 0b1110, 0b111].map(keys => asked(keys).isAskedBelow('farm.net', 'mx.a.net'))).toEqual([
      ...[false, true, false],
    ]);
    expect(asked(0).isAskedBelow('farm.net', 'own@farm.net')).toBe(true);
    expect(asked(15).isAskedBelow('farm.net', 'mx.b.net')).toBe(false);
    expect(asked(15).isAskedBelow('arm.net', 'mx.a.net')).toBe(false);
  });
});
