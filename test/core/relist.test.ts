import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Family, Snapshot } from '../../src/core/feed.ts';
import { makingCatalog } from '../../src/core/folding.ts';
import type { GuestGroup, HostRecord } from '../../src/core/guest.ts';
import { relisting } from '../../src/core/relist.ts';
import { takeSnapshot } from '../../src/core/snapshot.ts';
import { allAtOnce } from '../../src/core/steps.ts';
import { NO_TABLES } from '../support/catalog.ts';
import { groupOfGuests, isLearned, relisted } from '../support/guests.ts';

const TODAY = '2026-11-16';
const add = Map.prototype.set;
const list = (family: Family, names: readonly string[], since?: ReadonlyMap<string, string>): Snapshot =>
  takeSnapshot(
    { id: family, kind: 'disposable', family, licence: 'MIT', origin: family, atLeast: 0 },
    { version: '1', names, ...(since && { since }) },
  );
const catalogOf = (broad: readonly string[], telemetry: readonly string[]) =>
  allAtOnce(makingCatalog([list('broad', broad), list('telemetry', telemetry)], NO_TABLES, 'g'));

const many = (count: number, prefix: string) =>
  Array.from({ length: count }, (_, at) => `${prefix}${String(at).padStart(3, '0')}.com`);
const guests = (names: readonly string[], facts: Partial<GuestGroup> = {}) =>
  groupOfGuests(names.length, { entries: names.join(' '), ...facts });
const hostOf = (...groups: GuestGroup[]): HostRecord => ({
  ...{ name: 'mx.box.net', shared: false, forgotten: false, neighbours: [], lastDay: TODAY },
  flagged: groups.reduce((sum, { listed, count }) => sum + (listed ? count : 0), 0),
  innocent: groups.reduce((sum, { listed, count }) => sum + (listed ? 0 : count), 0),
  groups,
});

it('a machine that is named after its landlord is learned for a month after its tenant was seen last, another host for longer', () => {
  const names = many(5, 'burn');
  const lists = [list('broad', names), list('telemetry', names)];
  const providers = [{ suffix: 'box.net', label: 'Box', class: 'hosting' as const }];
  const catalog = allAtOnce(makingCatalog(lists, { ...NO_TABLES, providers }, 'g'));
  const seen = (name: string, lastDay: string) =>
    isLearned({ ...hostOf(guests(names, { lastDay })), name }, catalog, TODAY);
  expect(['2026-10-16', '2026-10-17'].map(day => seen('vmi123456.box.net', day))).toEqual([false, true]);
  expect(seen('mx.crate.net', '2026-10-16')).toBe(true);
});

describe('a host whose guests the lists have withdrawn', () => {
  const names = many(3, 'burn');

  it.each<[string, readonly string[], readonly string[], boolean]>([
    ['is learned while two families name them', names, names, true],
    ['is not when the second family has withdrawn them', names, [], false],
    ['is not when the first one has', [], names, false],
    ['is when the second family has withdrawn one of three', names, names.slice(1), true],
    ['is not when it has withdrawn two', names, names.slice(2), false],
    ['is not when both have withdrawn them', [], [], false],
  ])('%s', (_, broad, telemetry, expected) => {
    expect(isLearned(hostOf(guests(names)), catalogOf(broad, telemetry), TODAY)).toBe(expected);
  });

  it('is not when it turns out that many people use them, unless a verified list names them', () => {
    const host = hostOf(guests(names));
    const lists = [list('broad', names), list('telemetry', names)];
    const popular = takeSnapshot(
      { ...lists[0]!.feed, id: 'popular', kind: 'popular' },
      { version: '1', names },
    );
    const withAll = (...more: Snapshot[]) => allAtOnce(makingCatalog([...lists, ...more], NO_TABLES, 'g'));
    expect(isLearned(host, withAll(popular), TODAY)).toBe(false);
    expect(isLearned(host, withAll(popular, list('verified', names)), TODAY)).toBe(true);
  });

  it('is not when they are names of an internet provider of our tables, or below it', () => {
    const below = ['provider.com', 'a.provider.com', 'b.provider.com'];
    const lists = [list('broad', below), list('telemetry', below)];
    const free = { add: new Set(['provider.com']), remove: new Set<string>() };
    const [plain, known] = [NO_TABLES, { ...NO_TABLES, free }].map(tables =>
      isLearned(hostOf(guests(below)), allAtOnce(makingCatalog(lists, tables, 'g')), TODAY),
    );
    expect([plain, known]).toEqual([true, false]);
  });

  it('is learned anew when two families name them again', () => {
    const host = hostOf(guests(names, { corroborated: false }));
    expect(isLearned(host, catalogOf(names, names), TODAY)).toBe(true);
  });

  it('is judged by all of them, wherever they stand in the alphabet', () => {
    // Fifty that are here since yesterday and are listed on, before those that were withdrawn.
    const young = guests(many(50, 'a'), { sinceDay: '2026-11-15' });
    const host = hostOf(young, guests(many(100, 'z')));
    const both = [...many(50, 'a'), ...many(100, 'z')];
    expect(isLearned(host, catalogOf(both, both), TODAY)).toBe(true);
    expect(isLearned(host, catalogOf(many(50, 'a'), many(50, 'a')), TODAY)).toBe(false);
  });

  it('has them as guests like others: they speak for it', () => {
    const [kept, gone] = [many(4, 'burn'), many(40, 'was')];
    expect(isLearned(hostOf(guests(kept)), catalogOf(kept, kept), TODAY)).toBe(true);
    const host = relisted(hostOf(guests([...gone, ...kept])), catalogOf(kept, kept));
    expect(host).toMatchObject({ flagged: 4, innocent: 40, neighbours: kept });
    expect(isLearned(host, catalogOf(kept, kept), TODAY)).toBe(false);
  });
});

it('what a host is remembered with is as today, each group by what the lists say of its guests', () => {
  const unlisted = groupOfGuests(5, { listed: false, corroborated: false, keys: 0 });
  const earned = { earned: true, keys: 0b0011, sinceDay: '2026-09-01' };
  const host = hostOf(guests(['both.com', 'one.com', 'x.both.com', 'none.com'], earned), unlisted);
  const catalog = catalogOf(['both.com', 'one.com'], ['both.com']);
  const today = relisted(host, catalog);
  const group = groupOfGuests(1, earned);
  expect(today.groups).toEqual([
    { ...group, count: 2, entries: 'both.com x.both.com' },
    { ...group, corroborated: false, entries: 'one.com' },
    { ...group, listed: false, corroborated: false, earned: false, keys: 0, entries: 'none.com' },
    unlisted,
  ]);
  expect(today).toMatchObject({ flagged: 3, innocent: 6, neighbours: ['both.com', 'one.com', 'x.both.com'] });
  expect(relisted(today, catalog).groups).toEqual(today.groups);
});

it('a guest that two families name for less than a month of its stay is told apart: it was there as an innocent', () => {
  const names = ['known.com', 'month.com', 'broad.com', 'seen.com', 'new.com'];
  const broad = new Map([
    ['month.com', '2026-09-01'],
    ['broad.com', '2026-10-17'],
    ['seen.com', '2026-01-01'],
    ['new.com', '2026-11-15'],
  ]);
  const telemetry = new Map([...broad, ['month.com', '2026-10-16'], ['broad.com', '2026-01-01']]);
  telemetry.set('seen.com', '2026-10-17');
  const lists = [list('broad', names, broad), list('telemetry', names, telemetry)];
  const catalog = allAtOnce(makingCatalog(lists, NO_TABLES, 'g'));
  const host = hostOf(guests(names, { sinceDay: '2026-05-01', lastDay: '2026-11-15' }));
  const today = relisted(host, catalog);
  expect(today.groups.map(({ corroborated, lately, entries }) => [corroborated, lately, entries])).toEqual([
    [true, undefined, 'known.com month.com'],
    [true, true, 'broad.com seen.com new.com'],
  ]);
  expect(relisted(today, catalog).groups).toEqual(today.groups);
  expect(relisted(today, catalogOf(names, [])).groups[1]).not.toHaveProperty('lately');
});

it('is looked at in steps of twenty names, and shows at most fifty of them', () => {
  const steps = (count: number) => {
    const names = many(count, 'burn');
    const looking = relisting(hostOf(guests(names)), catalogOf(names, names));
    let yields = 0;
    for (let next = looking.next(); !next.done; next = looking.next()) yields++;
    return yields;
  };
  expect([1, 19, 20, 39, 40].map(steps)).toEqual([0, 0, 1, 1, 2]);
  const names = many(60, 'burn');
  expect(relisted(hostOf(guests(names)), catalogOf(names, names)).neighbours).toEqual(names.slice(0, 50));
});

it('however many names are remembered, no map of them grows large: that would hold everybody up', () => {
  const names = many(4_000, 'burn');
  const catalog = catalogOf(names, names);
  let largest = 0;
  const set = vi.spyOn(Map.prototype, 'set').mockImplementation(function (
    this: Map<unknown, unknown>,
    ...of
  ) {
    largest = Math.max(largest, this.size + 1);
    return add.call(this, ...of);
  });
  onTestFinished(() => set.mockRestore());
  allAtOnce(relisting(hostOf(guests(names)), catalog));
  expect(largest).toBeGreaterThanOrEqual(4_000 / 64);
  expect(largest).toBeLessThan(2 * (4_000 / 64));
});
