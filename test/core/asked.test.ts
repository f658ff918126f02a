import { expect, test } from 'vitest';
import { askedIn, orderOf } from '../../src/core/asked.ts';

/** What was said of x.com on each day up to today, the oldest first: `s`afe, `!` flagged, `-` not asked; two servers. */
const days = (one: string, other = '') =>
  [one, other].flatMap((said, server) =>
    [...said].flatMap((word, at) => ({
      day: `2026-11-${10 + at}`,
      server: `${server}`,
      names: { s: 'x.com', '!': '!x.com' }[word] ?? 'other.com',
    })),
  );

test.each<[string, string, string, boolean, boolean]>([
  ['safe on seven days', 'sssssss', '', false, true],
  ['safe on six', 'ssssss-', '', false, false],
  ['safe on nine of ten days, and flagged on one', 's!ssssssss', '', false, true],
  ['safe on seven days, and flagged today', 'sssssss!', '', true, true],
  ['safe on few days, and flagged since', 'ss!!', '', true, false],
  ['flagged on few days, and safe since', '!!s', '', false, false],
  ['flagged on all days', '!!!!!!!', '', true, false],
  ['flagged here and safe there on the newest day', '!!!!!!!', '------s', false, false],
  ['safe on seven days by two servers together', 's-s-s-s', '-s-s-s-', false, true],
])('a name that was %s', (_, one, other, isFlagged, isEstablished) => {
  const rows = days(one, other);
  expect(askedIn(rows).get('x.com')).toEqual({ isFlagged, isEstablished });
  expect(askedIn(rows.toReversed()).get('x.com')).toEqual({ isFlagged, isEstablished });
});

test('only the newest fourteen days count', () => {
  const then = (more: number) => askedIn(days(`sssssss${'-'.repeat(more)}`)).get('x.com')!.isEstablished;
  expect([then(7), then(8)]).toEqual([true, false]);
  expect(askedIn(days(`s${'-'.repeat(14)}`)).has('x.com')).toBe(false);
});

test('of two servers that were asked for some of the same, a share has the same of them', () => {
  const namesOf = (prefix: string) => Array.from({ length: 1_000 }, (_, at) => `${prefix}${at}.com`);
  const [both, one, other] = [namesOf('both'), namesOf('one'), namesOf('other')];
  const inOrder = (names: readonly string[]) => names.toSorted((a, b) => orderOf(a) - orderOf(b));
  const shareOf = (names: readonly string[]) => new Set(inOrder(names).slice(0, 1_000));
  const [here, there] = [shareOf([...both, ...one]), shareOf([...other, ...both.toReversed()])];
  const known = both.filter(name => here.has(name) && there.has(name));
  // By chance it would be a quarter.
  expect(known.length).toBeGreaterThan(430);
});

test('however many names one line touches that were asked for since yesterday, those that are established are tried', () => {
  const days = Array.from({ length: 14 }, (_, at) => `2026-11-${16 - at}`.replace(/-(\d)$/, '-0$1'));
  const firms = Array.from({ length: 40 }, (_, at) => `firm${at}.com`);
  const junk = Array.from({ length: 160_000 }, (_, at) => `n${at}.ev.co`).join(' ');
  const rows = days.map((day, at) => ({ day, server: 's', names: at < 2 ? junk : firms.join(' ') }));
  const more = rows.slice(0, 2).map(row => ({ ...row, names: junk.replaceAll('n', 'm') }));
  const asked = askedIn([...more, ...rows]);
  expect(firms.filter(name => asked.get(name)?.isEstablished)).toEqual(firms);
  expect(asked.size).toBeLessThan(201_000);
});

test('of very many names those of the newest days are tried', () => {
  const row = (day: string, prefix: string, count: number) => ({
    ...{ day, server: 's', names: Array.from({ length: count }, (_, at) => `${prefix}${at}`).join(' ') },
  });
  const rows = [row('2026-11-16', 'n', 199_999), row('2026-11-15', 'm', 2)];
  const asked = askedIn(rows);
  expect([asked.size, asked.has('m0'), asked.has('m1')]).toEqual([200_000, true, false]);
  // What an update does not touch takes no place.
  expect([...askedIn(rows, name => name.startsWith('m')).keys()]).toEqual(['m0', 'm1']);
});
