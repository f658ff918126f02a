import { describe, expect, it } from 'vitest';
import { type GuestGroup, isCorroborated, markOf, sumOf } from '../../src/core/guest.ts';
import { HashedNames } from '../../src/core/hashed.ts';
import { groupOfGuests } from '../support/guests.ts';

const TODAY = '2026-11-15';
const sum = (...groups: GuestGroup[]) => sumOf({ groups }, TODAY);
const one = (facts: Partial<GuestGroup>) => sum(groupOfGuests(1, facts));

describe('a listed guest weighs', () => {
  const ages: [string, string, number][] = [
    ['since 30 days', '2026-10-16', 1],
    ['since 29 days', '2026-10-17', 0.5],
    ['since 7 days', '2026-11-08', 0.5],
    ['since 6 days', '2026-11-09', 0.05],
    ['since today', TODAY, 0.05],
  ];
  it.each(ages)('by how long it is there: %s', (_, sinceDay, weight) => {
    expect(one({ sinceDay })).toBe(weight);
  });

  it.each<[string, Partial<GuestGroup>, number]>([
    ['first seen after a whole sweep', {}, 1],
    ['found by the first sweep', { swept: 1 }, 1],
    ['asked for by four keys', { swept: 0, keys: 0b1011_0001 }, 1],
    ['asked for by three keys', { swept: 0, keys: 0b1001_0001 }, 0],
    ['asked for by nobody', { swept: 0 }, 0],
    ['listed after it was seen here', { earned: true }, 2],
    ['listed after it was seen here, of late', { earned: true, sinceDay: TODAY }, 0.1],
  ])('by who stands behind it: %s', (_, facts, weight) => {
    expect(one(facts)).toBe(weight);
  });

  it('nothing where three keys ask for many names, whoever asks for others', () => {
    const framing = groupOfGuests(200, { swept: 0, keys: 0b0111 });
    expect(sum(framing)).toBe(0);
    expect(sum(framing, groupOfGuests(1, { swept: 0, keys: 0b1000 }))).toBe(1);
    expect(sum(framing, groupOfGuests(1, { swept: 0, keys: 0b1111 }))).toBe(1);
  });

  it('never enough where the first sweep alone has found it, and fully with the first others', () => {
    const found = (count: number) => groupOfGuests(count, { swept: 1 });
    expect([sum(found(1)), sum(found(2)), sum(found(1_000))]).toEqual([1, 2, 2]);
    expect(sum(found(1_000), groupOfGuests(1_000, { swept: 1, corroborated: false }))).toBe(2);
    expect(sum(found(1_000), groupOfGuests(3))).toBe(5);
    // Asked for by six keys, as many guests each: those of three count.
    const asked = Array.from({ length: 6 }, (_, bit) => groupOfGuests(2, { swept: 1, keys: 1 << bit }));
    expect(sum(...asked)).toBe(8);
  });

  it('less where one family names it, never without others, and never more than they do', () => {
    const single = (count: number) => groupOfGuests(count, { corroborated: false });
    expect(sum(single(1_000))).toBe(0);
    expect(sum(groupOfGuests(2), single(4))).toBeCloseTo(3.6);
    expect(sum(groupOfGuests(2), single(1_000))).toBe(4);
  });
});

describe('an unlisted guest speaks for the host', () => {
  const unlisted = (count: number, facts: Partial<GuestGroup> = {}) =>
    groupOfGuests(count, { listed: false, corroborated: false, sinceDay: '2026-10-16', ...facts });
  it.each<[string, Partial<GuestGroup>, number]>([
    ['a little', {}, -0.06],
    ['more where it was asked for on three days over a month', { days: 3 }, -0.12],
    ['not where that is a day short', { days: 2 }, -0.06],
    ['nor in less than a month', { days: 3, sinceDay: '2026-10-17' }, -0.06],
  ])('%s', (_, facts, weight) => {
    expect(sum(unlisted(1, facts))).toBe(weight);
  });

  it('so that one listed guest in twenty is not enough, however many they are', () => {
    expect(sum(groupOfGuests(50), unlisted(950))).toBeLessThan(0);
    expect(sum(groupOfGuests(26), unlisted(74))).toBeGreaterThan(20);
  });

  it('and stays as it is when the lists withdraw what they named', () => {
    const groups = [groupOfGuests(10), unlisted(10)];
    expect(sumOf({ groups }, TODAY, 0.5)).toBeCloseTo(4.4);
    expect(sumOf({ groups }, TODAY, 0)).toBeCloseTo(-0.6);
  });
});

it('a guest is corroborated by a verified feed or two families', () => {
  expect(isCorroborated(new Set(['verified']))).toBe(true);
  expect(isCorroborated(new Set(['broad', 'telemetry']))).toBe(true);
  expect(isCorroborated(new Set(['broad']))).toBe(false);
  expect(isCorroborated(new Set(['telemetry']))).toBe(false);
  expect(isCorroborated(new Set())).toBe(false);
});

it('keys are told apart by one of sixteen marks', () => {
  const marks = new Set(Array.from({ length: 1_000 }, (_, at) => markOf(`key_${at}`)));
  expect([...marks].sort((a, b) => a - b)).toEqual(Array.from({ length: 16 }, (_, at) => 1 << at));
  expect(markOf('key_1')).toBe(markOf('key_1'));
});

describe('names that did not exist', () => {
  it('are known again from the text that is stored', () => {
    const dead = new HashedNames();
    const names = Array.from({ length: 1_000 }, (_, at) => `gone${at}.com`);
    for (const name of names) dead.add(name);
    const again = new HashedNames(dead.toText());
    expect(again.size).toBe(1_000);
    expect(names.every(name => again.has(name))).toBe(true);
    expect(again.has('alive.com')).toBe(false);
    expect(dead.toText().length).toBeLessThan(5_400);
  });

  it('are forgotten with their listing', () => {
    const dead = new HashedNames();
    for (const name of ['a.com', 'b.com', 'c.com']) dead.add(name);
    dead.keepOnly(['b.com', 'd.com']);
    expect([dead.has('a.com'), dead.has('b.com'), dead.has('d.com'), dead.size]).toEqual([
      false,
      true,
      false,
      1,
    ]);
  });

  it.each([null, '', 'AA==', 'AAAAAA'])('none in %j, whatever it is', text => {
    expect(new HashedNames(text).has('a.com')).toBe(false);
  });
});
