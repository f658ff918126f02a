import { describe, expect, test } from 'vitest';
import { deniedByRegistry } from '../../src/dns/later.ts';
import { parseSentinels } from '../../src/dns/settings.ts';
import { problemOf, problemText, type ServerProblem, saidNow, turnedNow } from '../../src/dns/testimony.ts';

/** What was said of four sentinels two minutes ago or less: `+` an MX, `-` a denial, `.` nothing; upper case: older. */
const ROWS: readonly (readonly [string, 'nothing' | 'addresses' | 'mx', ServerProblem | undefined])[] = [
  ['++++', 'nothing', undefined],
  ['+...', 'nothing', undefined],
  ['+++-', 'nothing', undefined],
  ['++--', 'nothing', 'denies'],
  ['+---', 'nothing', 'denies'],
  ['----', 'nothing', 'denies'],
  ['--..', 'nothing', 'denies'],
  ['-...', 'nothing', 'silent'],
  ['....', 'nothing', 'silent'],
  ['PPPP', 'nothing', 'silent'],
  ['+DDD', 'nothing', undefined],
  ['+D-.', 'nothing', undefined],
  ['PP--', 'nothing', 'denies'],
  ['++++', 'addresses', 'invents'],
  ['++++', 'mx', 'invents_mx'],
  ['----', 'mx', 'invents_mx'],
];

const NOW = 1_000_000;

test.each(ROWS)('%s, inventing %s: %s', (text, invented, problem) => {
  const said = new Map(
    [...text]
      .map((sign, at) => {
        const isOld = sign === 'P' || sign === 'D';
        return [
          `s${at}.com`,
          sign,
          saidNow(sign === '+' || sign === 'P', NOW - (isOld ? 120_001 : 120_000), undefined),
        ] as const;
      })
      .filter(([, sign]) => sign !== '.')
      .map(([name, , one]) => [name, one] as const),
  );
  expect(problemOf({ said, addressed: new Map(), invented, turned: new Map() }, 4, NOW)).toBe(problem);
});

/** When one of four was last given, and when denied beside others, in seconds ago; never: undefined. */
const BY_TURNS: readonly (readonly [number | undefined, number | undefined, ServerProblem | undefined])[] = [
  [0, undefined, undefined],
  [0, 1, 'unsteady'],
  [1, 0, 'unsteady'],
  [0, 45, 'unsteady'],
  [0, 46, undefined],
  [120, 0, 'unsteady'],
  [121, 0, undefined],
  [undefined, 0, undefined],
];

test.each(BY_TURNS)(
  'one that was given %s s ago and denied beside others %s s ago: %s',
  (given, denied, problem) => {
    const at = (seconds: number | undefined) => (seconds === undefined ? -Infinity : NOW - 1_000 * seconds);
    const turning = { gave: true, at: NOW, gaveAt: at(given), deniedBesideAt: at(denied) };
    const others = ['b.com', 'c.com', 'd.com'].map(name => [name, saidNow(true, NOW, undefined)] as const);
    const [mail, none] = [new Map([['a.com', turning], ...others]), new Map(others)];
    expect(problemOf({ said: mail, addressed: none, invented: 'nothing', turned: new Map() }, 4, NOW)).toBe(
      problem,
    );
    expect(problemOf({ said: none, addressed: mail, invented: 'nothing', turned: new Map() }, 4, NOW)).toBe(
      problem,
    );
  },
);

/** When names turned from denied to given, in seconds ago. */
const TURNS: readonly (readonly [readonly number[], ServerProblem | undefined])[] = [
  [[0, 0], undefined],
  [[0, 0, 0], 'unsteady'],
  [[45, 120, 120], 'unsteady'],
  [[45, 120, 121], undefined],
  [[46, 46, 46], undefined],
];

test.each(TURNS)('names that were denied and a moment later given %s s ago: %s', (seconds, problem) => {
  const said = new Map([['a.com', saidNow(true, NOW, undefined)]]);
  const turned = new Map(seconds.map((ago, at) => [`t${at}.com`, NOW - 1_000 * ago]));
  expect(problemOf({ said, addressed: new Map(), invented: 'nothing', turned }, 1, NOW)).toBe(problem);
});

test('names that turned are kept for as long as they count, and not many of them', () => {
  const turned = new Map<string, number>();
  for (let at = 0; at < 100; at++) turnedNow(turned, `t${at}.com`, NOW);
  expect(turned.size).toBeLessThanOrEqual(17);
  turnedNow(turned, 't99.com', NOW + 120_000);
  turnedNow(turned, 'last.com', NOW + 120_001);
  expect([...turned.keys()]).toEqual(['t99.com', 'last.com']);
});

test.each([
  ['firm.com', 'com', 'firm.com'],
  ['mail.firm.co.uk', 'co.uk', 'firm.co.uk'],
  ['firm.com', '.', 'firm.com'],
  ['firm.com', 'firm.com', undefined],
  ['mail.firm.com', 'firm.com', undefined],
  ['my.duckdns.org', 'duckdns.org', undefined],
  ['my.duckdns.org', 'org', 'duckdns.org'],
  ['firm.com', 'net', undefined],
  ['firm.com', undefined, undefined],
])('that %s is denied by %s is the word of the registry of %s', (name, zone, registered) => {
  expect(deniedByRegistry(name, { kind: 'none', nxdomain: true, ttl: 0, zone })).toBe(registered);
});

test('a single sentinel decides alone', () => {
  const said = (gave: boolean) => ({
    said: new Map([['a.com', saidNow(gave, NOW, undefined)]]),
    addressed: new Map(),
    invented: 'nothing' as const,
    turned: new Map(),
  });
  expect([true, false].map(gave => problemOf(said(gave), 1, NOW))).toEqual([undefined, 'denies']);
});

test.each(['denies', 'silent', 'unsteady', 'invents', 'no_addresses'] as const)(
  '%s: what an operator reads has the way out',
  problem => {
    expect(problemText(problem, ['a.com', 'b.com'])).toMatch(
      /set DNS_SERVERS to a resolver that knows public names/,
    );
  },
);

test('nobody is told to name sentinels that a resolver of a closed network knows', () => {
  const told = problemText('denies', ['a.com', 'b.com']);
  expect(told).toMatch(/; other DNS_SENTINELS would only hide that$/);
});

describe('DNS_SENTINELS', () => {
  test.each([
    ['', []],
    [' , ', []],
    ['GMAIL.com, outlook.com,gmail.com', ['gmail.com', 'outlook.com']],
  ])('%s', (text, names) => {
    expect(parseSentinels(text)).toEqual({ ok: true, value: names });
  });

  test.each(['gmail', 'a@gmail.com', 'mail.test', 'gmail.com outlook.com'])('%s is refused', text => {
    expect(parseSentinels(text)).toMatchObject({
      ok: false,
      problem: expect.stringContaining(JSON.stringify(text)),
    });
  });
});
