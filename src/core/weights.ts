/** How much the guests of a host tell about it: every rule with its weight, and the sum of a host. */

import { isIP } from 'node:net';
import {
  ESTABLISHED_DAYS,
  type GuestGroup,
  type HostRecord,
  isOwnHosts,
  LEARNING,
  MARKS,
  REVIVED_DAYS,
  UPDATE_LAG_DAYS,
  WEEK_DAYS,
} from './guest.ts';

const MONTH_DAYS = 30;
/** So many keys may be one party's: it takes little to sign up at three services that ask us. */
const COLLUDING = 3;
/** What comes to a host within so many days may be one party's, by whatever keys. */
const ONE_PARTY_DAYS = 14;
/** What was not seen at an address for so long has left it: landlords give it to the next, who need not be like the last. */
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
 * What one party can do: register listed names that do not exist (42 % of all) and point them at a victim's host, or move
 * names that it has. Nobody can tell since when such a name is alive: asked for by three keys it counts nothing, found
 * by sweeps too little. Names that it owns, shows here and has listed later count one a fortnight, and against a domain's
 * own hosts nothing. What is left: whoever does so for two months, at a hoster of which few guests were seen, or has four
 * keys ask for three names at the beginning and the end of a month; where customers are established, for six, and three
 * more for every ten of them. It ends by itself as the innocent guests are seen, and for good with `infra forget`.
 */
const WEIGHTS = {
  corroborated: { weight: 1, why: 'two families of feeds name it' },
  one_family: {
    weight: 0.4,
    why: 'one stranger can write one feed, a verified one too; together never more than the corroborated ones',
  },
  month: {
    weight: 1,
    why: `seen there ${MONTH_DAYS} days apart: whoever points names elsewhere to do harm goes without them`,
  },
  late: {
    weight: 0.4,
    why: `the same, and it came ${MONTH_DAYS} days or more after an unlisted one that is established there: an operator has both from the start, and who frames a hoster comes to its customers`,
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
    why: `at the address of own hosts, there for less than ${MONTH_DAYS} days or after a domain that is established there: anybody can point a host of his at any address`,
  },
  many_keys: {
    weight: 1,
    why: `asked for by another key than any ${COLLUDING}: those are left out that leave least`,
  },
  swept: {
    weight: 1,
    why: `found by a sweep; all such together ${LEARNING.unwitnessedMost} at most, and no more than the two above`,
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

const DAY_MS = 86_400_000;

/** What guests weigh that two families name, and what others do. */
interface Weight {
  corroborated: number;
  oneFamily: number;
}
const nothing = (): Weight => ({ corroborated: 0, oneFamily: 0 });

/**
 * What the listed guests of a host weigh: all of them, those that keys speak for, together and by their keys, and by
 * the day since when it is there what one weighs that has earned it.
 */
interface Listed {
  readonly all: Weight;
  readonly witnessed: Weight;
  readonly asked: Map<number, { readonly all: Weight; readonly witnessed: Weight }>;
  readonly earned: Map<string, number>;
}

/** The sum of a host on a day. */
export function sumOf({ name, groups }: Pick<HostRecord, 'name' | 'groups'>, today: string): number {
  const listed: Listed = { all: nothing(), witnessed: nothing(), asked: new Map(), earned: new Map() };
  const isOwn = isOwnHosts(name);
  const isAddress = isOwn || isIP(name) > 0;
  const first = earliest(groups.filter(group => group.listed));
  const unlisted = groups.filter(group => !group.listed);
  const resident = earliest(unlisted.filter(group => isEstablished(group, today)));
  const host = { others: earliest(unlisted), resident, today };
  let others = 0;
  for (const group of groups) {
    if (!group.listed) others += group.count * unlistedWeight(group, first, today);
    else if (isAddress && daysBetween(group.lastDay, today) > LEFT_DAYS) continue;
    else if (!isOwn) weigh(group, host, listed, true);
    else if (group.sinceDay <= resident && stayOf(group, today) >= MONTH_DAYS)
      weigh(group, host, listed, false);
  }
  return leastSum(listed) + others;
}

/** Later than any day where there are none. */
function earliest(groups: readonly GuestGroup[]): string {
  return groups.reduce((first, { sinceDay }) => (sinceDay < first ? sinceDay : first), '9999-12-31');
}

/** Since when unlisted guests are there, and since when one that is established. */
type Others = Readonly<Record<'others' | 'resident' | 'today', string>>;

function weigh(
  group: GuestGroup,
  host: Others,
  { all, witnessed, asked, earned }: Listed,
  canEarn: boolean,
): void {
  const family = group.corroborated ? 'corroborated' : 'oneFamily';
  const one = listedWeight(group, host);
  const weight = group.count * one;
  if (canEarn && group.earned && group.corroborated) earned.set(group.sinceDay, one);
  if (group.keys > 0) {
    const same = asked.get(group.keys) ?? { all: nothing(), witnessed: nothing() };
    asked.set(group.keys, same);
    same.witnessed[family] += weight;
    if (group.swept === 0) same.all[family] += weight;
    witnessed[family] += weight;
  }
  if (group.swept > 0 || group.keys > 0) all[family] += weight;
}

/** Every choice of so many of the first marks. */
function choices(marks: number, most: number): number[] {
  if (most === 0) return [0];
  if (marks < most) return [];
  const withLast = choices(marks - 1, most - 1).map(others => others | (1 << (marks - 1)));
  return [...choices(marks - 1, most), ...withLast];
}

/** 560 of them. */
const PARTIES: readonly number[] = choices(MARKS, COLLUDING);

/** What is left whichever keys are one party's: nobody speaks for guests that only these have asked for. */
function leastSum({ all, witnessed, asked, earned }: Listed): number {
  const earnedInAll = oneOfEachParty(earned);
  const marks = [...asked.keys()].reduce((some, keys) => some | keys, 0);
  const parties = bitsIn(marks) <= COLLUDING ? [marks] : PARTIES.filter(party => (party & ~marks) === 0);
  let least = Number.POSITIVE_INFINITY;
  for (const party of parties) {
    const left = { all: { ...all }, witnessed: { ...witnessed } };
    for (let keys = party; keys > 0; keys = (keys - 1) & party) {
      const theirs = asked.get(keys);
      if (!theirs) continue;
      take(left.all, theirs.all);
      take(left.witnessed, theirs.witnessed);
    }
    const known = together(left.witnessed);
    const spokenFor = known + Math.min(known, LEARNING.unwitnessedMost);
    least = Math.min(least, together(left.all), Math.max(spokenFor, earnedInAll));
  }
  return least;
}

/** The first, and then one that came so much later than the one before that it may be somebody else's. */
function oneOfEachParty(earned: ReadonlyMap<string, number>): number {
  let total = 0;
  let last: string | undefined;
  for (const sinceDay of [...earned.keys()].sort()) {
    if (last !== undefined && daysBetween(last, sinceDay) < ONE_PARTY_DAYS) continue;
    total += earned.get(sinceDay)!;
    last = sinceDay;
  }
  return total;
}

function take(from: Weight, { corroborated, oneFamily }: Weight): void {
  from.corroborated -= corroborated;
  from.oneFamily -= oneFamily;
}

function bitsIn(marks: number): number {
  let count = 0;
  for (let rest = marks; rest > 0; rest &= rest - 1) count++;
  return count;
}

/** What one family lists never counts alone. */
function together({ corroborated, oneFamily }: { corroborated: number; oneFamily: number }): number {
  return corroborated + Math.min(oneFamily, corroborated);
}

function unlistedWeight(group: GuestGroup, firstListed: string, today: string): number {
  if (isEstablished(group, today)) return WEIGHTS.established.weight;
  return WEIGHTS[group.sinceDay < firstListed ? 'earlier' : 'innocent'].weight;
}

function isEstablished({ sinceDay, days }: GuestGroup, today: string): boolean {
  return daysBetween(sinceDay, today) >= MONTH_DAYS && days >= ESTABLISHED_DAYS;
}

function listedWeight(group: GuestGroup, host: Others): number {
  const family = WEIGHTS[group.corroborated ? 'corroborated' : 'one_family'].weight;
  return family * WEIGHTS[ageOf(group, host)].weight;
}

/** Up to the last time that it was seen, which may have been by a clock that was ahead: who came for a day, and went, does not age here. */
const stayOf = ({ sinceDay, lastDay }: GuestGroup, today: string) =>
  daysBetween(sinceDay, lastDay < today ? lastDay : today);

function daysBetween(since: string, today: string): number {
  return (Date.parse(today) - Date.parse(since)) / DAY_MS;
}

function ageOf(
  group: GuestGroup,
  { others, resident, today }: Others,
): 'month' | 'late' | 'week' | 'fresh' | 'revived' {
  const stay = stayOf(group, today);
  if (stay >= MONTH_DAYS) return daysBetween(resident, group.sinceDay) >= MONTH_DAYS ? 'late' : 'month';
  if (stay >= WEEK_DAYS && group.swept === 1 && group.sinceDay <= others) return 'week';
  return stay >= 0 ? 'fresh' : 'revived';
}
