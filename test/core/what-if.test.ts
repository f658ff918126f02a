import { expect, test } from 'vitest';
import { dayAt, dayText } from '../../src/core/days.ts';
import type { Feed, FeedKind, Snapshot } from '../../src/core/feed.ts';
import { makingCatalog, PANEL_SIZE } from '../../src/core/folding.ts';
import type { FeedCheck } from '../../src/core/freshness.ts';
import { keepingNames } from '../../src/core/gate.ts';
import { takeSnapshot } from '../../src/core/snapshot.ts';
import { allAtOnce } from '../../src/core/steps.ts';
import { parseTables } from '../../src/core/tables.ts';
import {
  approvedIn,
  changedIn,
  decidedIn,
  flipsOf,
  rejectedIn,
  rejectedInUse,
} from '../../src/core/what-if.ts';
import { FEW_TABLES } from '../support/versions.ts';

const NOW = Date.UTC(2026, 10, 16);
const DAY = 86_400_000;
const TABLES = parseTables(FEW_TABLES);
const feedOf = (facts: Partial<Feed> = {}): Feed => ({
  ...{ id: 'list', kind: 'disposable', family: 'broad', licence: 'none', origin: 'here', atLeast: 0 },
  ...facts,
});
const listOf = (names: readonly string[], facts?: Partial<Feed>, daysAgo = 0) =>
  takeSnapshot(feedOf(facts), { version: '1', names, dated: dayText(dayAt(NOW - daysAgo * DAY))! });
const catalogIn = (...snapshots: Snapshot[]) => allAtOnce(makingCatalog(snapshots, TABLES, 'x'));

const CHECK: FeedCheck = {
  ...{ feed: 'list', triedAt: NOW, checkedAt: NOW, added: 0, removed: 0, problem: null, trouble: null },
  ...{ waiting: null, approved: null, rejected: null, tag: null, fallback: null },
};
const ESTABLISHED = { isFlagged: false, isEstablished: true };
function flagged(
  before: readonly Snapshot[],
  after: readonly Snapshot[],
  name: string,
  asked = ESTABLISHED,
): boolean {
  const flips = flipsOf(catalogIn(...before), catalogIn(...after), new Map([[name, asked]]), new Map(), NOW);
  return flips.some(({ change }) => change === 'flagged');
}

const SHOP = 'shop.duckdns.org';
const SUFFIX = listOf(['duckdns.org']);
test.each<[string, readonly Snapshot[], readonly Snapshot[], boolean]>([
  ['will flag what is below a suffix once it is a month old', [], [SUFFIX], true],
  ['says of a suffix what it said before', [SUFFIX], [SUFFIX], false],
  [
    'says of a suffix what another of its family says, and will anyway',
    [SUFFIX],
    [SUFFIX, listOf(['duckdns.org'], { id: 'other' })],
    false,
  ],
  [
    'flags at once what another family alone will flag in a month',
    [SUFFIX],
    [SUFFIX, listOf(['duckdns.org'], { id: 'seen', family: 'telemetry' })],
    true,
  ],
])('a version that %s', (_, before, after, isFlagged) => {
  expect(flagged(before, after, SHOP)).toBe(isFlagged);
});

test('what was flagged today by something else is tried where it was safe for long', () => {
  const list = [listOf(['a.com'])];
  expect(flagged([], list, 'a.com', { isFlagged: true, isEstablished: true })).toBe(true);
  expect(flagged([], list, 'a.com', { isFlagged: true, isEstablished: false })).toBe(false);
});

test('what a rotating list shows again is tried, and who is pushed out of the panel while still in the list', () => {
  const castle = feedOf({ family: 'telemetry', rotates: 1_000 });
  const today = dayAt(NOW);
  const shown = (names: readonly string[], before: Snapshot | undefined, day: number) =>
    keepingNames(takeSnapshot(castle, { version: '1', names }), before, day);
  let inUse: Snapshot | undefined;
  for (let day = today - 9; day < today - 5; day++) inUse = shown(['a.com', 'b.com'], inUse, day);
  const left = shown(['b.com'], inUse, today - 1);
  expect([...left.names].sort()).toEqual(['a.com', 'b.com']);
  const again = shown(['a.com', 'b.com'], left, today);
  expect([...changedIn(again, left)]).toEqual(['a.com']);
  expect(decidedIn(again, left, ['a.com', 'b.com'])).toEqual(['a.com']);
  expect(decidedIn(left, again, ['a.com', 'b.com'])).toEqual([]);
  // It names what it shows, not what it keeps.
  expect(rejectedIn(left, left, ['a.com', 'b.com'])).toEqual(['b.com']);
  expect(flagged([left], [again], 'a.com')).toBe(true);

  const popular = (names: readonly string[]): Snapshot => ({ ...listOf([], { kind: 'popular' }), names });
  const panel = Array.from({ length: PANEL_SIZE }, (_, at) => `p${at}.com`);
  expect([...changedIn(popular(['new.com', ...panel]), popular(panel))]).toEqual(['new.com', panel.at(-1)]);
});

test('what was decided is found where a version has it, or a name above it, and the one in use has not', () => {
  const [inUse, next] = [listOf(['a.com', 'b.com']), listOf(['b.com', 'parent.com'])];
  const decided = ['a.com', 'b.com', 'mail.parent.com', 'parent.org'];
  expect(decidedIn(next, inUse, decided)).toEqual(['mail.parent.com']);
  expect(decidedIn(next, undefined, decided)).toEqual(['b.com', 'mail.parent.com']);
  expect(decidedIn(next, inUse, [])).toEqual([]);
  // Lists that clear names do something to those that they leave out.
  const guards = [inUse, next].map(({ names }) => listOf(names, { kind: 'protected' }));
  expect(decidedIn(guards[1]!, guards[0], decided)).toEqual(['a.com']);
});

test('what was rejected is found where a version has it, also where the one in use has it; what was approved is used by what comes, or as a whole', () => {
  const [inUse, next] = [listOf(['a.com', 'b.com']), listOf(['b.com', 'parent.com'])];
  const decided = ['a.com', 'b.com', 'mail.parent.com', 'parent.org'];
  expect(rejectedIn(next, inUse, decided)).toEqual(['b.com', 'mail.parent.com']);
  expect(rejectedIn(next, inUse, [])).toEqual([]);
  expect(approvedIn(next, inUse, decided)).toEqual(['mail.parent.com']);
  expect(approvedIn(next, inUse, ['b.com', 'c.com'])).toEqual([]);
  expect(approvedIn(next, inUse, ['b.com'])).toEqual(['b.com']);
  const guards = [inUse, next].map(({ names }) => listOf(names, { kind: 'protected' }));
  // Nor may a list that clears names go on without them where the version in use has not got them either.
  for (const before of [guards[0], guards[1], undefined])
    expect(rejectedIn(guards[1]!, before, decided)).toEqual(['a.com', 'parent.org']);
});

test('what was rejected and is in use is what a list has, or leaves out where it clears names and others flag them', () => {
  const broad = listOf(['x.com', 'y.com', 'z.com'], { id: 'broad' }, 60);
  const check = { ...CHECK, feed: 'ours', rejected: ['x.com', 'y.com', 'unlisted.com'] };
  const inUse = (kind: FeedKind, ...names: string[]) =>
    rejectedInUse(catalogIn(broad, listOf(names, { id: 'ours', kind })), check, kind, NOW);
  expect(inUse('disposable', 'x.com')).toEqual(['x.com']);
  expect(inUse('protected', 'x.com')).toEqual(['y.com']);
  // One that has no version in use clears nobody.
  expect(rejectedInUse(catalogIn(broad), check, 'protected', NOW)).toEqual(['x.com', 'y.com']);
  expect(rejectedInUse(catalogIn(broad), check, undefined, NOW)).toEqual([]);
});
