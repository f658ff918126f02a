import { describe, expect, it } from 'vitest';
import {
  type Guest,
  type GuestGroup,
  hashOf,
  isByTwoFamilies,
  markOf,
  seenAgain,
} from '../../src/core/guest.ts';
import { HashedNames, isIn } from '../../src/core/hashed.ts';
import { sumOf } from '../../src/core/weights.ts';
import { groupOfGuests, guestOf } from '../support/guests.ts';

const TODAY = '2026-11-15';
const sum = (...groups: GuestGroup[]) => sumOf({ name: 'mx.box.net', groups }, TODAY);
const one = (facts: Partial<GuestGroup>) => sum(groupOfGuests(1, facts));

describe('a listed guest weighs', () => {
  const ages: [string, string, weight: number, swept: number][] = [
    ['since 30 days', '2026-10-16', 1, 1],
    ['since 29 days', '2026-10-17', 0, 0.5],
    ['since 7 days', '2026-11-08', 0, 0.5],
    ['since 6 days', '2026-11-09', 0, 0],
    ['since today', TODAY, 0, 0],
    ['from tomorrow on: it has come back to life', '2026-11-16', 0, 0],
  ];
  it.each(ages)(
    'by how long it is there, less than a month only where a sweep found it: %s',
    (_, sinceDay, weight, swept) => {
      expect([one({ sinceDay, swept: 0 }), one({ sinceDay, swept: 2 })]).toEqual([weight, weight]);
      expect(one({ sinceDay, swept: 1 })).toBe(swept);
    },
  );

  it('less the longer others were there before it', () => {
    const beside = (days: number, since: string, facts: Partial<GuestGroup>) => {
      const other = groupOfGuests(1, { listed: false, keys: 0, sinceDay: since, days });
      return sum(groupOfGuests(10, facts), other) - sum(other, groupOfGuests(1, { ...facts, count: 0 }));
    };
    const week = { sinceDay: '2026-11-01', swept: 1 } as const;
    expect(beside(1, '2026-11-02', week)).toBeCloseTo(5);
    expect(beside(1, '2026-11-01', week)).toBeCloseTo(5);
    expect(beside(1, '2026-10-31', week)).toBeCloseTo(0);
    const month = { sinceDay: '2026-09-30' };
    expect(beside(3, '2026-09-01', month)).toBeCloseTo(10);
    // Three of them.
    expect(beside(3, '2026-08-31', month)).toBeCloseTo(8.2);
    // Who was asked for once or twice is not established.
    expect(beside(2, '2026-08-31', month)).toBeCloseTo(10);
  });

  it('by how long it was seen there, and not by how long ago it came', () => {
    expect(one({ sinceDay: '2026-09-01', lastDay: '2026-09-01' })).toBe(0);
    expect(one({ sinceDay: '2026-09-01', lastDay: '2026-09-08', swept: 1 })).toBe(0.5);
    expect(one({ sinceDay: '2026-09-01', lastDay: '2026-10-01' })).toBe(1);
    // By a clock that was ahead: nobody knows when that was.
    expect(one({ sinceDay: '2026-11-14', lastDay: '2026-12-25' })).toBe(0);
    expect(one({ sinceDay: '2026-10-16', lastDay: '2026-12-25' })).toBe(0);
    expect(one({ sinceDay: '2026-11-08', lastDay: '2026-12-25', swept: 1 })).toBe(0);
    // An address may be another's by now; a name is still whose it was.
    const since = { sinceDay: '2026-08-01' };
    const at = (name: string, lastDay: string) =>
      sumOf({ name, groups: [groupOfGuests(1, { ...since, lastDay })] }, TODAY);
    for (const [name, weight] of [
      ['5.61.1.1', 0],
      ['2a00::1', 0],
      ['own@5.61.1.1', 0],
      ['mx.box.net', 1],
    ] as const)
      expect([name, at(name, '2026-10-15'), at(name, '2026-10-16')]).toEqual([name, weight, 1]);
    const rented = (lastDay: string) =>
      sumOf(
        { name: 'vmi1234.box.net', isRented: true, groups: [groupOfGuests(1, { ...since, lastDay })] },
        TODAY,
      );
    expect([rented('2026-10-15'), rented('2026-10-16')]).toEqual([0, 1]);
    const visitors = groupOfGuests(60, { sinceDay: '2026-09-01', lastDay: '2026-09-02' });
    expect(sumOf({ name: 'own@5.61.1.1', groups: [visitors] }, TODAY)).toBe(0);
  });

  const ASKED = { swept: 0, keys: 0 } as const;
  const EARNED = { earned: true, keys: 0 } as const;
  it.each<[string, Partial<GuestGroup>, number]>([
    ['here before it was listed', EARNED, 1],
    ['here before it was listed, by one family', { ...EARNED, corroborated: false }, 0],
    ['seen unlisted, but not long enough before', { ...EARNED, earned: false }, 0],
    ['found by a sweep', { ...ASKED, swept: 1 }, 0],
    ['asked for by four keys', { ...ASKED, keys: 0b1011_0001 }, 1],
    ['asked for by three keys', { ...ASKED, keys: 0b1001_0001 }, 0],
    ['asked for by three keys and found by a sweep', { ...ASKED, swept: 1, keys: 0b1001_0001 }, 0],
    ['asked for by nobody', ASKED, 0],
  ])('by who stands behind it: %s', (_, facts, weight) => {
    expect(one(facts)).toBe(weight);
  });

  it('nothing where three keys ask for many names, whoever asks for others', () => {
    const asked = (count: number, keys: number) => groupOfGuests(count, { ...ASKED, keys });
    const framing = asked(200, 0b0111);
    expect(sum(framing)).toBe(0);
    expect(sum(framing, asked(1, 0b1000))).toBe(1);
    expect(sum(framing, asked(1, 0b1111))).toBe(1);
    // Nor where others have asked for more: which three are one party's nobody knows.
    const abused = [asked(6, 0b001_0000), asked(6, 0b010_0000), asked(6, 0b100_0000)];
    expect(sum(...abused, asked(5, 0b0001))).toBe(5);
    expect(sum(asked(6, 0b111_0000), asked(5, 0b0001), asked(5, 0b0010), asked(5, 0b0011))).toBe(6);
  });

  it('like one where many that were here before they were listed came within a fortnight', () => {
    const earned = (count: number, sinceDay: string, keys = 0b0111) =>
      groupOfGuests(count, { earned: true, keys, sinceDay });
    expect(sum(earned(1_000, '2026-09-03'))).toBe(1);
    expect(sum(earned(100, '2026-09-03', 0b0001), earned(100, '2026-09-08', 0b0010))).toBe(1);
    expect(sum(earned(9, '2026-08-10'), earned(9, '2026-08-24'), earned(9, '2026-09-07'))).toBe(3);
    expect(sum(earned(9, '2026-08-10'), earned(9, '2026-08-23'), earned(9, '2026-08-24'))).toBe(2);
    // In whatever order they are kept.
    expect(sum(earned(9, '2026-09-07'), earned(9, '2026-08-10'), earned(9, '2026-08-24'))).toBe(3);
    // More keys than any three have asked for them: they need no such leave.
    expect(sum(earned(9, '2026-09-03', 0b1111))).toBe(9);
    // Sweeps have found others, for which nobody speaks.
    expect(sum(earned(9, '2026-09-03'), groupOfGuests(50, { ...ASKED, swept: 1 }))).toBe(1);
  });

  it('never enough where sweeps alone have found it, and no more than what others speak for', () => {
    const found = (count: number, facts = {}) => groupOfGuests(count, { ...ASKED, swept: 1, ...facts });
    expect([sum(found(1)), sum(found(1_000))]).toEqual([0, 0]);
    expect(sum(found(1_000), found(1_000, { corroborated: false }))).toBe(0);
    expect(sum(found(1_000), groupOfGuests(1))).toBe(2);
    expect(sum(found(1), groupOfGuests(2))).toBe(3);
    expect(sum(found(1_000), groupOfGuests(3))).toBe(5);
    // Asked for by six keys, as many guests each: those of three count.
    const asked = Array.from({ length: 6 }, (_, bit) => found(2, { keys: 1 << bit }));
    expect(sum(...asked)).toBe(8);
  });

  it('nothing where nobody speaks for it, whatever stands beside it', () => {
    expect(sum(groupOfGuests(1), groupOfGuests(5, ASKED))).toBe(1);
  });

  it('less where one family names it, never without others, and never more than they do', () => {
    const single = (count: number) => groupOfGuests(count, { corroborated: false });
    expect(sum(single(1_000))).toBe(0);
    expect(sum(groupOfGuests(2), single(4))).toBeCloseTo(3.6);
    expect(sum(groupOfGuests(2), single(1_000))).toBe(4);
    // Asked for by one key only: nobody else speaks for them.
    const asked = groupOfGuests(10, { corroborated: false, swept: 0, keys: 0b0001 });
    expect(sum(groupOfGuests(2), asked)).toBe(2);
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
    expect(sum(groupOfGuests(1), unlisted(1, facts)) - 1).toBeCloseTo(weight);
  });

  it('more where it was seen before any listed one', () => {
    const listed = groupOfGuests(1, { sinceDay: '2026-10-16' });
    expect(sum(listed, unlisted(1, { sinceDay: '2026-10-15' })) - 1).toBeCloseTo(-0.12);
    expect(sum(listed, unlisted(1, { sinceDay: '2026-10-16' })) - 1).toBeCloseTo(-0.06);
    const another = groupOfGuests(1, { sinceDay: '2026-08-01' });
    expect(sum(another, listed, unlisted(1, { sinceDay: '2026-10-01' })) - 2).toBeCloseTo(-0.06);
  });

  it('so that one listed guest in twenty is not enough, however many they are', () => {
    expect(sum(groupOfGuests(50), unlisted(950))).toBeLessThan(0);
    expect(sum(groupOfGuests(26), unlisted(74))).toBeGreaterThan(20);
  });
});

describe('at the address of own hosts, where anybody can point a host of his,', () => {
  const own = (...groups: GuestGroup[]) => sumOf({ name: 'own@5.61.1.1', groups }, TODAY);
  const company = (facts: Partial<GuestGroup>) =>
    groupOfGuests(1, { listed: false, corroborated: false, keys: 0, ...facts });
  it.each<[string, number, GuestGroup[]]>([
    ['guests that many keys ask for count', 10, [groupOfGuests(10)]],
    ['so do those of a month', 10, [groupOfGuests(10, { sinceDay: '2026-10-16' })]],
    [
      'and those that came after listed ones',
      10,
      [groupOfGuests(5), groupOfGuests(5, { sinceDay: '2026-02-01' })],
    ],
    [
      'or after one that was asked for on one day only',
      9.88,
      [groupOfGuests(10, { sinceDay: '2026-10-02' }), company({ days: 1, sinceDay: '2026-10-01' })],
    ],
    ['guests of less than a month do not', 0, [groupOfGuests(10, { sinceDay: '2026-10-17' })]],
    [
      'nor do those that were here before they were listed',
      0,
      [groupOfGuests(10, { earned: true, keys: 0b111 })],
    ],
    [
      'nor three of those that came a month after an established one',
      6.88,
      [groupOfGuests(10, { sinceDay: '2026-10-01' }), company({ days: 3, sinceDay: '2026-09-01' })],
    ],
    [
      'but all do that came within a month of it',
      9.88,
      [groupOfGuests(10, { sinceDay: '2026-10-01' }), company({ days: 3, sinceDay: '2026-09-02' })],
    ],
  ])('%s', (_, weight, groups) => {
    expect(own(...groups)).toBeCloseTo(weight);
  });
});

it('a guest speaks against others only where two families name it: one stranger may write a verified feed', () => {
  expect(isByTwoFamilies(new Set(['verified']))).toBe(false);
  expect(isByTwoFamilies(new Set(['verified', 'broad']))).toBe(true);
});

describe('a guest that was seen twice before it was written', () => {
  const guest = (facts: Partial<Guest>) =>
    guestOf({ host: 'mx.box.net', domain: 'burn.com', entry: 'burn.com', day: TODAY, ...facts });

  it('is as it was seen last', () => {
    const last = guest({ day: '2026-11-16', entry: 'x.burn.com', corroborated: false });
    expect(seenAgain(guest({}), last)).toEqual(last);
  });

  it.each<[string, Partial<Guest>, Partial<Guest>, Partial<Guest>]>([
    [
      'the day came later',
      { sinceDay: '2026-11-01' },
      { sinceDay: '2026-11-08' },
      { sinceDay: '2026-11-01' },
    ],
    [
      'the day came earlier',
      { sinceDay: '2026-11-15' },
      { sinceDay: '2026-11-08' },
      { sinceDay: '2026-11-08' },
    ],
    ['it is seen the day before too', { day: '2026-11-16' }, { day: '2026-11-15' }, { day: '2026-11-16' }],
    ['callers saw it, then a sweep', { swept: 0 }, { swept: 1 }, { swept: 1 }],
    ['callers saw it twice', { swept: 0 }, { swept: 0 }, { swept: 0 }],
    ['a sweep saw it, then callers', { swept: 1 }, { swept: 0 }, { swept: 1 }],
    ['fresh lists did not name it, then a sweep saw it', { swept: 2 }, { swept: 1 }, { swept: 2 }],
    ['only then did fresh lists not name it', { swept: 0 }, { swept: 2 }, { swept: 0 }],
    ["another's host brought it there", { via: 'box.net' }, { via: 'later.net' }, { via: 'box.net' }],
    ['two keys asked for it', { keys: 0b0101 }, { keys: 0b0011 }, { keys: 0b0111 }],
    ['a key asked for it that was unlisted before', { keys: null }, { keys: 0b0011 }, { keys: 0b0011 }],
    ['it is unlisted: nobody learns who asked', { keys: 0b0101 }, { keys: null }, { keys: null }],
  ])('is one guest: %s', (_, before, again, expected) => {
    expect(seenAgain(guest(before), guest(again))).toMatchObject(expected);
  });
});

it('the mark of a key is the same in every version: stores keep marks (vectors of FNV-1a, 32 bits)', () => {
  expect(['', 'a', 'foobar'].map(hashOf)).toEqual([0x811c9dc5, 0xe40c292c, 0xbf9cf968]);
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
    expect(names.every(name => isIn(dead.toText(), name))).toBe(true);
    const others = Array.from({ length: 1_000 }, (_, at) => `alive${at}.com`);
    expect(others.some(name => isIn(dead.toText(), name))).toBe(false);
    expect(dead.toText().length).toBe(12_000);
  });

  it('are kept in the same words by every version: 72 bits of SHA-256 in base64', () => {
    const dead = new HashedNames();
    dead.add('burn.com');
    expect(dead.toText()).toBe('OL+JQ3QJUSsH');
  });

  it('are not taken for others that somebody has chosen: these share 32 bits of FNV-1a', () => {
    const [gone, chosen] = ['mail13pwu.com', 'mail1a5fa.com'];
    expect(hashOf(gone)).toBe(hashOf(chosen));
    const dead = new HashedNames();
    dead.add(gone);
    expect(dead.has(chosen)).toBe(false);
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
    expect(isIn(text ?? '', 'a.com')).toBe(false);
  });
});
