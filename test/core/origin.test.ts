import { describe, expect, test } from 'vitest';
import {
  clientAddress,
  networkMatcher,
  originAllowed,
  parseNetwork,
  parseOrigin,
  plainAddress,
} from '../../src/core/origin.ts';

describe('an origin that an operator allows', () => {
  test.each([
    ['https://app.example.com', 'https://app.example.com'],
    ['http://localhost:3000', 'http://localhost:3000'],
    ['HTTPS://App.Example.com', 'https://app.example.com'],
    ['https://app.example.com:443', 'https://app.example.com'],
    ['https://app.example.com:8443', 'https://app.example.com:8443'],
    ['http://192.0.2.1', 'http://192.0.2.1'],
    ['https://*.example.com', 'https://*.example.com'],
    ['http://*.example.co.uk:8080', 'http://*.example.co.uk:8080'],
    ['https://*.me.github.io', 'https://*.me.github.io'],
  ])('%s is kept as %s', (typed, kept) => {
    expect(parseOrigin(typed)).toEqual({ ok: true, value: kept });
  });

  test.each([
    '',
    '*',
    'app.example.com',
    'ftp://app.example.com',
    'xhttps://app.example.com',
    'file:///etc/passwd',
    'https://',
    'https://app.example.com/',
    'https://app.example.com/path',
    'https://app.example.com?x',
    'https://app.example.com#x',
    'https://user@app.example.com',
    'https://app.example.com\\x',
    'https://a*.example.com',
    'https://*',
    'https://a.*.example.com',
    'https://app.example.com:99999',
    ' https://app.example.com',
    'https://app.example.com https://other.example.com',
    'https://*.*.example.com',
  ])('%j is refused', typed => {
    const parsed = parseOrigin(typed);
    expect(parsed).toMatchObject({
      ok: false,
      problem: expect.stringContaining('must be scheme://host[:port]'),
    });
    expect(parsed).toMatchObject({ problem: expect.stringContaining(JSON.stringify(typed)) });
  });

  test.each([
    'https://*.com',
    'https://*.co.uk',
    'https://*.github.io',
    'https://*.localhost',
    'http://*.192.0.2.1',
  ])('%s is refused: a wildcard over what nobody has registered', typed => {
    expect(parseOrigin(typed)).toMatchObject({
      ok: false,
      problem: expect.stringMatching(/; a wildcard needs a registered domain behind it$/),
    });
  });

  test('is repeated in the problem up to a bound', () => {
    const parsed = parseOrigin('x'.repeat(5_000));
    expect(parsed.ok || parsed.problem.length).toBeLessThan(300);
  });
});

describe('a request from a page', () => {
  test.each<[string, string, string, boolean]>([
    ['of the very origin', 'https://app.example.com', 'https://app.example.com', true],
    ['of another scheme', 'https://app.example.com', 'http://app.example.com', false],
    ['of another port', 'https://app.example.com', 'https://app.example.com:8443', false],
    ['of a host below', 'https://app.example.com', 'https://x.app.example.com', false],
    ['of a host below the wildcard', 'https://*.example.com', 'https://a.example.com', true],
    ['of a host far below the wildcard', 'https://*.example.com', 'https://a.b-1.c_d.example.com', true],
    ['of the host of the wildcard itself', 'https://*.example.com', 'https://example.com', false],
    ['of a host that only ends so', 'https://*.example.com', 'https://badexample.com', false],
    ['below the wildcard, another scheme', 'https://*.example.com', 'http://a.example.com', false],
    ['below the wildcard, another port', 'https://*.example.com', 'https://a.example.com:8443', false],
    ['below the wildcard, its port', 'https://*.example.com:8443', 'https://a.example.com:8443', true],
    ['below the wildcard, the default port', 'https://*.example.com:443', 'https://a.example.com:443', false],
    ['with a path in front', 'https://*.example.com', 'https://evil.com/.example.com', false],
    ['with a question in front', 'https://*.example.com', 'https://evil.com?.example.com', false],
    ['with a user in front', 'https://*.example.com', 'https://user@a.example.com', false],
    ['with a port in front', 'https://*.example.com', 'https://evil.com:1.example.com', false],
    ['in capitals', 'https://*.example.com', 'https://A.example.com', false],
    ['with an empty label', 'https://*.example.com', 'https://.example.com', false],
    ['with a doubled dot', 'https://*.example.com', 'https://a..example.com', false],
    ['of two origins', 'https://*.example.com', 'https://evil.com, https://a.example.com', false],
    ['of no origin', 'https://*.example.com', 'null', false],
    ['of nothing', 'https://*.example.com', '', false],
  ])('%s (rule %s, origin %s) is allowed: %s', (_, rule, origin, allowed) => {
    expect(originAllowed(['https://other.org', rule], origin)).toBe(allowed);
  });

  test('is not allowed where no rule is', () => {
    expect(originAllowed([], 'https://app.example.com')).toBe(false);
  });
});

describe('a network that an operator allows', () => {
  test.each([
    ['192.0.2.0/24', '192.0.2.0/24'],
    ['192.0.2.1', '192.0.2.1/32'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['192.0.2.1/32', '192.0.2.1/32'],
    ['2001:db8::/32', '2001:db8::/32'],
    ['2001:db8::1', '2001:db8::1/128'],
    ['2001:db8::1/128', '2001:db8::1/128'],
  ])('%s is kept as %s', (typed, kept) => {
    expect(parseNetwork(typed)).toEqual({ ok: true, value: kept });
  });

  test.each([
    '',
    'localhost',
    '192.0.2',
    '192.0.2.0/',
    '192.0.2.0/33',
    '192.0.2.0/-1',
    '192.0.2.0/2x',
    '192.0.2.0/x2',
    '192.0.2.0/ 4',
    '192.0.2.0/0024',
    '192.0.2.0/24/24',
    '192.0.2.0/24/',
    '2001:db8::/129',
    'fe80::1%eth0',
    'fe80::1%eth0/64',
  ])('%j is refused', typed => {
    expect(parseNetwork(typed)).toEqual({
      ok: false,
      problem: `the network ${JSON.stringify(typed)} must be an address or CIDR, such as 192.0.2.0/24`,
    });
  });

  test('is repeated in the problem up to a bound', () => {
    const parsed = parseNetwork('x'.repeat(5_000));
    expect(parsed.ok || parsed.problem.length).toBeLessThan(150);
  });

  test.each<[string, boolean]>([
    ['192.0.2.0', true],
    ['192.0.2.255', true],
    ['192.0.3.0', false],
    ['198.51.100.7', true],
    ['198.51.100.8', false],
    ['2001:db8:ffff::1', true],
    ['2001:db9::1', false],
    ['', false],
    ['localhost', false],
  ])('%s is in 192.0.2.0/24, 198.51.100.7/32 or 2001:db8::/32: %s', (address, inside) => {
    expect(networkMatcher(['192.0.2.0/24', '198.51.100.7/32', '2001:db8::/32'])(address)).toBe(inside);
  });

  test('has no address of the other version in it, however wide it is', () => {
    expect(networkMatcher(['::/0'])('192.0.2.1')).toBe(false);
    expect(networkMatcher(['::/0'])('2001:db8::1')).toBe(true);
    expect(networkMatcher(['0.0.0.0/0'])('2001:db8::1')).toBe(false);
    expect(networkMatcher(['0.0.0.0/0', '::/0'])('192.0.2.1')).toBe(true);
  });
});

test.each([
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:0:1', '::ffff:0:1'],
  ['2001:db8::1', '2001:db8::1'],
  ['::ffff:', '::ffff:'],
])('a socket that reports %s is told of as %s', (reported, shown) => {
  expect(plainAddress(reported)).toBe(shown);
});

describe("the client's address", () => {
  const isTrusted = networkMatcher(['10.0.0.0/8', '2001:db8::/32']);

  test.each<[string, string, string | undefined, string]>([
    ['is the one of the socket', '192.0.2.1', undefined, '192.0.2.1'],
    ['is the one of the socket, whatever a stranger writes', '192.0.2.1', '198.51.100.7', '192.0.2.1'],
    ['is the one of the socket in plain form', '::ffff:192.0.2.1', '198.51.100.7', '192.0.2.1'],
    ['is the one of a trusted proxy that names nobody', '10.0.0.1', undefined, '10.0.0.1'],
    ['is what a trusted proxy says', '10.0.0.1', '198.51.100.7', '198.51.100.7'],
    [
      'is what a trusted proxy on a dual-stack socket says',
      '::ffff:10.0.0.1',
      '198.51.100.7',
      '198.51.100.7',
    ],
    ['is what a trusted proxy of version 6 says', '2001:db8::1', '198.51.100.7', '198.51.100.7'],
    [
      'is the right-most that is no trusted proxy',
      '10.0.0.1',
      '1.1.1.1, 198.51.100.7, 10.0.0.2',
      '198.51.100.7',
    ],
    ['may be written without spaces', '10.0.0.1', '1.1.1.1,198.51.100.7,10.0.0.2', '198.51.100.7'],
    ['may be written in mapped form', '10.0.0.1', '::ffff:198.51.100.7', '198.51.100.7'],
    ['may be written with a port', '10.0.0.1', '198.51.100.7:1234, 10.0.0.2:80', '198.51.100.7'],
    ['may be written in brackets', '10.0.0.1', '[2001:db9::1]', '2001:db9::1'],
    ['may be written in brackets with a port', '10.0.0.1', '[2001:db9::1]:443', '2001:db9::1'],
    ['is not read with another ending', '10.0.0.1', '198.51.100.7:http', '10.0.0.1'],
    ['is not read with two ports', '10.0.0.1', '198.51.100.7:1:2', '10.0.0.1'],
    ['is not read where it is none, with a port', '10.0.0.1', '198.51.100:80', '10.0.0.1'],
    ['is the left-most where all hops are trusted', '10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    ['is the last hop that can be read', '10.0.0.1', '198.51.100.7, unknown, 10.0.0.2', '10.0.0.2'],
    ['is the proxy where it names nobody in words', '10.0.0.1', 'unknown', '10.0.0.1'],
    ['is the proxy where the header is empty', '10.0.0.1', '', '10.0.0.1'],
  ])('%s (socket %s, X-Forwarded-For %s)', (_, socket, forwarded, client) => {
    expect(clientAddress(socket, forwarded, isTrusted)).toBe(client);
  });

  test('is found at the end of a header of any length', () => {
    const forwarded = `${'1.1.1.1, '.repeat(10_000)}198.51.100.7`;
    expect(clientAddress('10.0.0.1', forwarded, isTrusted)).toBe('198.51.100.7');
  });

  test.each([1_025, 1_026, 1_027, 1_028, 1_029, 1_030, 1_031, 1_032, 1_033, 2_000])(
    'is never half an address, where a header of %i characters is cut',
    length => {
      // Trusted hops only, so that all that is read is looked at.
      const forwarded = '10.0.0.2,'.repeat(400).slice(-length, -1);
      expect(clientAddress('10.0.0.1', `9${forwarded}`, isTrusted)).toBe('10.0.0.2');
    },
  );

  test('is read from a header of a kilobyte as a whole, and of a longer one in its last kilobyte', () => {
    const hops = '10.0.0.2,'.repeat(112);
    const whole = `198.51.100.77,${hops} 1`.replace(/, 1$/, '   ');
    expect(whole).toHaveLength(1_024);
    expect(clientAddress('10.0.0.1', whole, isTrusted)).toBe('198.51.100.77');
    expect(clientAddress('10.0.0.1', `198.51.100.77,198.51.100.78,${hops}10.0.0.2`, isTrusted)).toBe(
      '10.0.0.2',
    );
  });
});
