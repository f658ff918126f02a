/** What it takes to have a mail host learned that is somebody else's, and what it takes not to be. */

import { describe, expect, it } from 'vitest';
import type { GuestGroup } from '../../src/core/guest.ts';
import { enoughFor, isEnough } from '../../src/core/learnable.ts';
import { residentsIn } from '../../src/core/residents.ts';
import { allAtOnce } from '../../src/core/steps.ts';
import { sumOf } from '../../src/core/weights.ts';
import { groupOfGuests } from '../support/guests.ts';

const TODAY = '2026-11-15';
/** A month and more before the others, as customers of a hoster are, or decoys that an operator has there first. */
const BEFORE = '2026-08-01';
const CAME = '2026-09-15';
const HOST = 'mx.box.net';
const OWN = 'own@5.61.1.1';
const ADDRESS = '5.61.1.1';
const DOMAIN = '*.box.net';

const sum = (name: string, ...groups: GuestGroup[]) => sumOf({ name, groups }, TODAY);
const isLearned = (name: string, ...groups: GuestGroup[]) => isEnough(sum(name, ...groups), name);
const listed = (count: number, facts: Partial<GuestGroup> = {}) =>
  groupOfGuests(1, { count, sinceDay: CAME, swept: 0, ...facts });
const unlisted = (count: number, sinceDay: string, days = 3) =>
  groupOfGuests(1, { count, listed: false, corroborated: false, keys: 0, sinceDay, days });

const upTo = (count: number) => Array.from({ length: count }, (_, at) => at);

/** The smallest number that does it. */
function fewest(does: (count: number) => boolean): number {
  for (let count = 0; count <= 1_000; count++) if (does(count)) return count;
  return Number.POSITIVE_INFINITY;
}

describe('listed names that four keys ask for, a month long, frame whoever they are pointed at', () => {
  it.each([
    { customers: 0, names: 3, own: 3 },
    { customers: 1, names: 5, own: 6 },
    { customers: 2, names: 6, own: 9 },
    { customers: 3, names: 7, own: 12 },
    { customers: 5, names: 7, own: 19 },
    { customers: 10, names: 9, own: 34 },
    { customers: 100, names: 36, own: 315 },
  ])('$customers customers are established: $names names, $own at the address of own hosts', costs => {
    const cost = (at: string) =>
      fewest(count => isLearned(at, listed(count), unlisted(costs.customers, BEFORE)));
    expect([HOST, DOMAIN, ADDRESS, OWN].map(cost)).toEqual([
      costs.names,
      costs.names,
      costs.names,
      costs.own,
    ]);
  });

  it('three where customers came within a month before them, or were asked for on two days', () => {
    for (const at of [HOST, DOMAIN, ADDRESS, OWN]) {
      expect([at, fewest(count => isLearned(at, listed(count), unlisted(1, '2026-08-17')))]).toEqual([at, 3]);
      expect([at, fewest(count => isLearned(at, listed(count), unlisted(1, BEFORE, 2)))]).toEqual([at, 3]);
    }
  });

  it('as many where others that only three keys ask for, or one list has, come along to be spared in their place', () => {
    const few = listed(500, { keys: 0b0111 });
    const broad = listed(500, { corroborated: false, keys: 0b0111 });
    for (const [at, names] of [
      [HOST, 7],
      [OWN, 12],
    ] as const)
      expect(
        fewest(count => isLearned(at, listed(count, { keys: 0b1111 }), few, broad, unlisted(3, BEFORE))),
      ).toBe(names);
  });

  it('and never fewer for one more customer', () => {
    for (const at of [HOST, OWN]) {
      const costs = Array.from({ length: 12 }, (_, customers) =>
        fewest(count => isLearned(at, listed(count), unlisted(customers, BEFORE))),
      );
      expect(costs).toEqual(costs.toSorted((a, b) => a - b));
    }
  });
});

it('names that sweeps alone find, or three keys besides, do not tip the scale where customers are established before them', () => {
  const real = listed(2, { sinceDay: BEFORE });
  for (const keys of [0, 0b0001, 0b0111])
    for (const at of [HOST, DOMAIN, ADDRESS]) {
      const found = (sinceDay: string) => listed(1_000, { sinceDay, swept: 1, keys });
      expect([at, keys, isLearned(at, real, found(CAME), unlisted(5, BEFORE))]).toEqual([at, keys, false]);
      // An operator's own are there from the start.
      expect([at, keys, isLearned(at, real, found(BEFORE), unlisted(5, BEFORE))]).toEqual([at, keys, true]);
    }
});

it('names that were seen on fewer than four days frame nobody, however far apart these are', () => {
  for (const at of [HOST, DOMAIN, ADDRESS, OWN])
    expect([at, ...[2, 3, 4].map(days => isLearned(at, listed(100, { days })))]).toEqual([
      at,
      false,
      false,
      true,
    ]);
});

describe('listed names that come to an address by the hosts of one domain', () => {
  const by = (via: string, count: number, facts: Partial<GuestGroup> = {}) =>
    listed(count, { via, ...facts });
  const customers = (count: number, via: string, sinceDay = BEFORE) => ({
    ...unlisted(count, sinceDay),
    via,
  });
  it.each<[string, boolean, GuestGroup[]]>([
    [
      'frame nobody who has a customer by another',
      false,
      [by('gone.net', 1_000), customers(1, 'hoster.net')],
    ],
    ['nor who has one with a host of its own', false, [by('gone.net', 1_000), customers(1, '')]],
    ['nor by two', false, [by('gone.net', 100), by('lost.net', 100), customers(1, 'hoster.net')]],
    ['but by twenty', true, [...upTo(20).map(at => by(`gone${at}.net`, 9)), customers(1, 'hoster.net')]],
    [
      'are those of an operator where nobody else is established',
      true,
      [by('box.net', 20), unlisted(10, CAME, 2)],
    ],
    ['or who is came by him', true, [by('box.net', 20), customers(1, 'box.net')]],
    ['or after them', true, [by('box.net', 20), customers(5, 'new.net', '2026-09-16')]],
    ['count one by one where each has a host of its own', true, [by('', 40), customers(1, 'hoster.net')]],
  ])('%s', (_, expected, groups) => {
    for (const at of [ADDRESS, OWN]) expect([at, isLearned(at, ...groups)]).toEqual([at, expected]);
  });

  it('are as many as they are by the name of a host, which its owner has not chosen', () => {
    expect(sum(HOST, by('gone.net', 30), customers(1, 'hoster.net'))).toBeGreaterThan(20);
  });

  it('are together one that all have asked for who asked for any of them', () => {
    const some = upTo(4).map(at => by('gone.net', 5, { keys: 1 << at, corroborated: at === 2 }));
    const other = customers(1, 'hoster.net', '2026-09-14');
    expect(sum(ADDRESS, ...some, other)).toBeCloseTo(1 - 0.12);
    expect(sum(ADDRESS, ...some.slice(0, 3), other)).toBeCloseTo(-0.12);
  });
});

describe('of a host that was learned nobody is flagged', () => {
  const named = (entries: string, sinceDay: string, days = 3) => ({
    ...unlisted(1, sinceDay, days),
    entries,
  });
  const spared = (at: string, ...groups: GuestGroup[]) =>
    allAtOnce(residentsIn({ name: at, groups }, enoughFor(at), TODAY)).trim();
  const early = (count: number, facts: Partial<GuestGroup> = {}) =>
    listed(count, { sinceDay: '2026-07-01', ...facts });
  const customer = named('firm.com', BEFORE);
  it.each<[string, string, GuestGroup[]]>([
    ['who was there before all that are listed', 'firm.com', [customer]],
    ['to the day', 'firm.com', [named('firm.com', '2026-08-16')]],
    ['but who came a day later', '', [named('firm.com', '2026-08-17')]],
    ['but who was asked for on two days', '', [named('firm.com', BEFORE, 2)]],
    ['with two listed ones there before it', 'firm.com', [customer, early(2)]],
    ['but with as many there as are enough', '', [customer, early(20)]],
    ['with any number for whom only one key speaks', 'firm.com', [customer, early(20, { keys: 1 })]],
    ['nor for whom only sweeps do', 'firm.com', [customer, early(20, { keys: 0, swept: 1 })]],
    ['nor that one family has', 'firm.com', [customer, early(20, { corroborated: false })]],
    [
      'each by when it came',
      'first.com second.com',
      [
        named('third.com', '2026-08-17'),
        named('second.com', BEFORE),
        named('fourth.com', CAME),
        named('first.com', '2026-05-01'),
      ],
    ],
  ])('%s', (_, expected, groups) => {
    for (const at of [HOST, DOMAIN, ADDRESS, OWN])
      expect([at, spared(at, listed(40), ...groups)]).toEqual([at, expected]);
  });

  it("nor an operator's quiet name, which spares no other one", () => {
    const others = Array.from({ length: 10 }, (_, at) => named(`his${at}.com`, CAME));
    for (const at of [HOST, DOMAIN, ADDRESS, OWN])
      expect([at, spared(at, listed(20), ...others, named('quiet.com', BEFORE))]).toEqual([at, 'quiet.com']);
  });

  const customers = named('firm.com', '2026-09-20');
  const two = listed(2);
  const young = { ...listed(100), lately: true } as const;
  it.each<[string, string, GuestGroup[]]>([
    ['where the surest alone are not enough', 'firm.com', [two]],
    ['but where they are', '', [listed(3)]],
    ['by any number that one family has', 'firm.com', [two, listed(100, { corroborated: false })]],
    ['nor that sweeps alone found', 'firm.com', [two, listed(100, { keys: 0, swept: 1 })]],
    ['nor that three keys ask for', 'firm.com', [two, listed(100, { keys: 0b0111, swept: 1 })]],
    ['nor that fresh lists did not name once', 'firm.com', [two, listed(100, { keys: 1, swept: 2 })]],
    ['nor that two families name lately', 'firm.com', [two, young]],
    ['but of all these together, and one more', '', [two, listed(1), young]],
  ])('who is established there, though they were first: %s', (_, expected, groups) => {
    for (const at of [HOST, DOMAIN, ADDRESS, OWN])
      expect([at, spared(at, ...groups, customers)]).toEqual([at, expected]);
  });

  it('because one list names some who speak for it', () => {
    const firms = { ...unlisted(17, CAME), entries: 'firm.com' };
    expect(isLearned(HOST, listed(4), firms)).toBe(false);
    const poisoned = (days: number) => [
      ...[listed(4), { ...firms, count: 14 }],
      listed(3, { corroborated: false, days }),
    ];
    expect([3, 4].map(days => isLearned(HOST, ...poisoned(days)))).toEqual([true, true]);
    expect([1, 3, 4].map(days => spared(HOST, ...poisoned(days)))).toEqual(['', 'firm.com', 'firm.com']);
  });

  it('by what one key, or three, have shown, one a fortnight, before or after it', () => {
    const shown = (keys: number) =>
      ['2026-07-01', '2026-07-15', '2026-07-29', '2026-08-12'].map(sinceDay =>
        listed(1, { sinceDay, earned: true, keys, swept: 2 }),
      );
    const on = (keys: number) =>
      ['2026-07-01', '2026-07-29', '2026-07-30', '2026-09-01'].map(sinceDay =>
        spared(HOST, ...shown(keys), named('firm.com', sinceDay)),
      );
    expect(isLearned(HOST, ...shown(1), named('firm.com', '2026-07-01'))).toBe(true);
    for (const keys of [0b0001, 0b0111]) expect([keys, on(keys)]).toEqual([keys, Array(4).fill('firm.com')]);
    expect(on(0b1111)).toEqual(['', '', '', '']);
  });

  it('whom the surest are not enough against, each judged by itself: a guest more can make those that came late weigh less', () => {
    const guests = [
      listed(2, { sinceDay: '2026-02-20', keys: 0b1111 }),
      listed(2, { sinceDay: '2026-04-01', keys: 0b11110000, swept: 1 }),
      listed(1, { sinceDay: '2026-04-11', keys: 0b11111111 }),
      listed(2, { sinceDay: '2026-05-01', keys: 0b1111, swept: 1, corroborated: false }),
      listed(2, { sinceDay: '2026-07-10', keys: 0b1111, swept: 1 }),
    ];
    const residents = ['2026-01-11', '2026-04-21', '2026-04-21', '2026-05-01', '2026-08-19'].map(
      (sinceDay, at) => named(`firm${at}.com`, sinceDay),
    );
    expect(spared(HOST, ...guests, ...residents)).toBe('firm0.com firm4.com');
  });
});

it('of what one key has shown, and has taken away again, nothing counts for or against what stayed', () => {
  const shown = (sinceDay: string, facts: Partial<GuestGroup> = {}) =>
    listed(1, { sinceDay, earned: true, keys: 1, swept: 2, ...facts });
  const stayed = ['2026-07-02', '2026-07-16', '2026-07-30'].map(sinceDay => shown(sinceDay));
  const left = { lastDay: '2026-08-04', days: 2 };
  const sameDay = ['2026-07-16', '2026-07-30'].map(sinceDay => shown(sinceDay, left));
  for (const others of [sameDay, [shown('2026-07-01', left)]])
    expect([sum(HOST, ...stayed, ...others), sum(HOST, ...others, ...stayed)]).toEqual([3, 3]);
});

it('customers of an address are looked at a few times, not once for each domain by whose hosts listed names came', () => {
  let looks = 0;
  const guests = upTo(300).map(at => listed(1, { sinceDay: '2026-07-01', via: `burn${at}.net` }));
  const customers = upTo(1_000).map(at => ({
    ...unlisted(1, CAME),
    get via() {
      looks++;
      return `firm${at}.net`;
    },
  }));
  sum(ADDRESS, ...guests, ...customers);
  expect(looks / customers.length).toBeLessThan(10);
});

describe('an operator is not found who has quiet names there a month before all others', () => {
  /** Asked for by twelve keys, each name by one of them, over a month; all that are unlisted on three days or more. */
  const ofTwelve = (count: number) =>
    Array.from({ length: 12 }, (_, key) => Math.floor((count + key) / 12))
      .map((some, key) => listed(some, { keys: 1 << key }))
      .filter(group => group.count > 0);
  it.each([
    { names: 100, listedOnes: 26, host: 4, own: 3 },
    { names: 100, listedOnes: 40, host: 16, own: 6 },
    { names: 30, listedOnes: 20, host: 20, own: 4 },
    { names: 30, listedOnes: 12, host: 3, own: 2 },
    { names: 1_000, listedOnes: 260, host: 54, own: 33 },
  ])('of $names names $listedOnes are listed: $host, $own where each has a host of its own', costs => {
    const { names, listedOnes } = costs;
    const needed = (at: string) =>
      fewest(
        decoys =>
          !isLearned(
            at,
            ...ofTwelve(listedOnes),
            unlisted(names - listedOnes, CAME),
            unlisted(decoys, BEFORE),
          ),
      );
    expect([HOST, DOMAIN, ADDRESS, OWN].map(needed)).toEqual([costs.host, costs.host, costs.host, costs.own]);
  });

  it('one quiet name neither keeps him from being found nor undoes that, whenever it was there first', () => {
    for (const at of [HOST, DOMAIN, ADDRESS, OWN])
      for (const first of [BEFORE, '2026-08-17', '2026-09-14'])
        expect([at, first, isLearned(at, listed(20), unlisted(10, CAME), unlisted(1, first))]).toEqual([
          ...[at, first, true],
        ]);
  });

  it('his own unlisted names speak for those that come a month after them only', () => {
    const decoy = unlisted(1, BEFORE);
    const along = unlisted(74, CAME);
    const late = listed(1, { sinceDay: '2026-10-16' });
    expect(sum(HOST, listed(26), late, along, decoy) - sum(HOST, listed(26), along, decoy)).toBeGreaterThan(
      -5,
    );
  });
});
