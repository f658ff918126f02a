/** How much the guests of a host tell about it: every rule with its weight, and the sum of a host. */

import { isIP } from 'node:net';
import { COLLUDING, LATE_TO_ONE, ListedGuests, ONE_PARTY_DAYS } from './colluding.ts';
import {
  ESTABLISHED_DAYS,
  type GuestGroup,
  isOwnHosts,
  type JudgedHost,
  LEARNING,
  MONTH_DAYS,
  REVIVED_DAYS,
  STAYING_DAYS,
  UPDATE_LAG_DAYS,
  WEEK_DAYS,
} from './guest.ts';
import { daysBefore, daysBetween } from './quota.ts';

/**
 * What was not seen at an address, or on a machine named after it, for so long has left it: landlords give it to the next,
 * who need not be like the last. By its name a tenant was flagged until the 90th day (2026-11-19).
 */
const LEFT_DAYS = 30;

/**
 * Every rule by which a guest is weighed, with its weight and reason. One is a listed guest that two families of feeds
 * name, for which somebody independent speaks, and that is there to stay. The other factors multiply with it; what is
 * below nought speaks for the host.
 *
 * The scale. On the hosts of an operator whose names are as fresh as they come 26 % are listed (74 % of the newest are
 * not, November 2026); of established names about one in a thousand is. Each listed guest thus speaks
 * ln(0.26 / 0.001) = 5.6 for disposable and each unlisted one ln(0.999 / 0.74) = 0.3 against it: 1 to 0.054.
 *
 * What one party can do: register listed names that do not exist (42 % of all) and point them at a victim's host, or
 * move names that it has. Nobody can tell since when such a name is alive: asked for by three keys it counts nothing,
 * found by sweeps too little. Names that it owns, shows here and has listed later count one a fortnight, and against a
 * domain's own hosts nothing. What is left: whoever does so for two months, at a hoster of which few guests were seen,
 * or has four keys ask for three names at the beginning and the end of a month; where customers are established for a
 * month when they come, five for one, six for two, and three more for every ten; at the address of own hosts six for
 * one, and three more for each. Who is established there is warned of then, and not flagged by less than the surest
 * (core/residents.ts). It ends by itself as the innocent guests are seen, and for good with `infra forget`.
 *
 * What an operator can do: have quiet names there a month before all others, which nobody can tell from customers. One
 * weighs no more than three listed ones: it takes one for five or six of these where 26 % are listed, far more where more
 * are. While one alone made all listed ones weigh less, one name that was asked for three times switched learning off for
 * good, and undid it (2026-11-17). All cases: test/core/weights.test.ts.
 */
const WEIGHTS = {
  corroborated: { weight: 1, why: 'two families of feeds name it' },
  one_family: {
    weight: 0.4,
    why: 'one stranger can write one feed, a verified one too; together never more than the corroborated ones',
  },
  month: {
    weight: 1,
    why: `seen there on ${STAYING_DAYS} days or more, ${MONTH_DAYS} days apart, and nowhere else in between: whoever points names elsewhere to do harm goes without them`,
  },
  late: {
    weight: 0.4,
    why: `the same, and it came ${MONTH_DAYS} days or more after unlisted ones that are established there, residents: who frames a hoster comes to its customers. Of those that came so late ${LATE_TO_ONE} for each resident: an operator can have a quiet name there first`,
  },
  late_at_own: {
    weight: 0,
    why: 'the same at the address of own hosts, also for each resident: anybody can point a host of his at any address, and a company that has one is alone there',
  },
  by_one: {
    weight: 1,
    why: "at an address: all that came by hosts of one domain, after a resident who did not, weigh so much together: its owner alone says where they are, and may have registered what others' names still point at",
  },
  week: {
    weight: 0.5,
    why: `found by a sweep, seen there ${WEEK_DAYS} days apart or from before the first sweep, and not after an unlisted one: by callers alone it took four forms, filled in twice`,
  },
  fresh: { weight: 0, why: 'pointed here since days: that costs nothing and is soon undone' },
  revived: { weight: 0, why: `received no mail at a sweep: counts ${REVIVED_DAYS} days after it came back` },
  earned: {
    weight: 1,
    why: `seen here, unlisted by fresh lists, ${UPDATE_LAG_DAYS} days before one named it, and two families do: no dead name that somebody brought to life; of those that came within ${ONE_PARTY_DAYS} days one, and for own hosts none`,
  },
  newcomer: {
    weight: 0,
    why: `at the address of own hosts, there for less than ${MONTH_DAYS} days`,
  },
  many_keys: {
    weight: 1,
    why: `asked for by another key than any ${COLLUDING}: those are left out that leave least`,
  },
  swept: {
    weight: 1,
    why: `found by a sweep, and not late; all such together ${LEARNING.unwitnessedMost} at most, and no more than the two above`,
  },
  few_keys: {
    weight: 0,
    why: 'whoever holds a key, or fills in a form of one who does, can ask for anything',
  },
  innocent: { weight: -0.06, why: 'unlisted: 0.054 by the shares above' },
  earlier: {
    weight: -0.12,
    why: 'unlisted, and seen here before any listed one: an operator has both from the start',
  },
  established: {
    weight: -0.12,
    why: `unlisted, and asked for on ${ESTABLISHED_DAYS} days or more over a month: most disposable names are used once`,
  },
} as const satisfies Record<string, { readonly weight: number; readonly why: string }>;

/** The sum of a host on a day. `unwitnessedMost`: what those weigh at most for whom nobody independent speaks. */
export function sumOf(
  { name, groups: all, isRented = false }: Pick<JudgedHost, 'name' | 'groups' | 'isRented'>,
  today: string,
  unwitnessedMost: number = LEARNING.unwitnessedMost,
): number {
  const isOwn = isOwnHosts(name);
  const isAddress = isOwn || isIP(name) > 0;
  const groups = isAddress ? asOneOfEach(all, today) : all;
  const listed = new ListedGuests(WEIGHTS[isOwn ? 'late_at_own' : 'late'].weight);
  const first = earliest(groups.filter(group => group.listed));
  const unlisted = groups.filter(group => !group.listed);
  const since = earliest(unlisted);
  const residentsBefore = countingBefore(unlisted.filter(group => isEstablished(group, today)));
  let others = 0;
  for (const group of groups) {
    if (!group.listed) {
      others += group.count * unlistedWeight(group, first, today);
      continue;
    }
    if ((isAddress || isRented) && daysBetween(group.lastDay, today) > LEFT_DAYS) continue;
    const age = ageOf(group, since, today);
    if (isOwn && age !== 'month') continue;
    const weight = WEIGHTS[group.corroborated ? 'corroborated' : 'one_family'].weight * WEIGHTS[age].weight;
    const residents = age === 'month' ? residentsBefore(group.sinceDay) : 0;
    listed.add(group, { weight, residents }, !isOwn);
  }
  return listed.least(unwitnessedMost) + others;
}

/** Listed guests at an address, where residents have others' hosts: each is one more only where it came by another's. */
function asOneOfEach(groups: readonly GuestGroup[], today: string): readonly GuestGroup[] {
  const residents = groups.filter(group => !group.listed && isEstablished(group, today)).sort(byFirstDay);
  const one = residents[0];
  if (one === undefined) return groups;
  // The first that came by a host of another domain than the first of all: looking through all took 120 ms (2026-11-18).
  const other = residents.find(({ via }) => via !== one.via);
  const byVia = Map.groupBy(groups, ({ listed, via }) => (listed ? via : ''));
  return [...byVia].flatMap(([via, some]) => {
    const before = one.via === via ? other : one;
    const isTogether = via !== '' && before !== undefined && before.sinceDay < earliest(some);
    return isTogether ? [{ ...some.reduce(asOne), count: 1 }] : some;
  });
}

function asOne(one: GuestGroup, other: GuestGroup): GuestGroup {
  return {
    ...(one.corroborated ? one : other),
    earned: one.earned || other.earned,
    swept: one.swept === 1 ? 1 : other.swept,
    keys: one.keys | other.keys,
    sinceDay: earliest([one, other]),
    lastDay: one.lastDay > other.lastDay ? one.lastDay : other.lastDay,
    days: Math.max(one.days, other.days),
  };
}

/** Later than any day where there are none. */
function earliest(groups: readonly GuestGroup[]): string {
  return groups.reduce((first, { sinceDay }) => (sinceDay < first ? sinceDay : first), '9999-12-31');
}

export const byFirstDay = (one: GuestGroup, other: GuestGroup) => (one.sinceDay < other.sinceDay ? -1 : 1);

/** How many residents a guest came late after, by its day: a host has thousands of groups, and some hundred days. */
function countingBefore(residents: readonly GuestGroup[]): (sinceDay: string) => number {
  const byDay = residents.toSorted(byFirstDay);
  let sum = 0;
  const sums = byDay.map(({ sinceDay, count }) => {
    sum += count;
    return { sinceDay, sum };
  });
  const counted = new Map<string, number>();
  return sinceDay => {
    const before = counted.get(sinceDay);
    if (before !== undefined) return before;
    const latest = daysBefore(sinceDay, MONTH_DAYS);
    const count = sums.findLast(resident => resident.sinceDay <= latest)?.sum ?? 0;
    counted.set(sinceDay, count);
    return count;
  };
}

function unlistedWeight(group: GuestGroup, firstListed: string, today: string): number {
  if (isEstablished(group, today)) return WEIGHTS.established.weight;
  return WEIGHTS[group.sinceDay < firstListed ? 'earlier' : 'innocent'].weight;
}

export function isEstablished({ sinceDay, days }: GuestGroup, today: string): boolean {
  return daysBetween(sinceDay, today) >= MONTH_DAYS && days >= ESTABLISHED_DAYS;
}

/**
 * Up to the last time that it was seen: who came for a day, and went, does not age here. After today that was by a clock
 * that was ahead, and nobody knows when.
 */
const stayOf = ({ sinceDay, lastDay }: GuestGroup, today: string) =>
  lastDay > today ? Math.min(0, daysBetween(sinceDay, today)) : daysBetween(sinceDay, lastDay);

type Age = 'month' | 'week' | 'fresh' | 'revived';

/** `others`: since when unlisted guests are there. */
function ageOf(group: GuestGroup, others: string, today: string): Age {
  const stay = stayOf(group, today);
  if (stay >= MONTH_DAYS && group.days >= STAYING_DAYS) return 'month';
  if (stay >= WEEK_DAYS && group.swept === 1 && group.sinceDay <= others) return 'week';
  return stay >= 0 ? 'fresh' : 'revived';
}
