/** What listed guests weigh together, whichever keys that asked for them are one party's. */

import { type GuestGroup, MARKS } from './guest.ts';
import { daysBetween } from './quota.ts';

/** So many keys may be one party's: it takes little to sign up at three services that ask us. */
export const COLLUDING = 3;
/** What comes to a host within so many days may be one party's, by whatever keys. */
export const ONE_PARTY_DAYS = 14;
/**
 * So many of those that came late weigh less for each resident, an unlisted guest that was established before them. Fewer
 * would cost a hoster with two such customers some of its protection, more would have a quiet name or two switch learning
 * off (2026-11-17; the table of cases is in test/core/weights.test.ts).
 */
export const LATE_TO_ONE = 3;

/** What guests weigh. */
interface Weight {
  /** Those that two families name, and the others. */
  corroborated: number;
  oneFamily: number;
  /** How much of that came late, and the same times the residents before each. */
  late: number;
  behind: number;
}
const nothing = (): Weight => ({ corroborated: 0, oneFamily: 0, late: 0, behind: 0 });

/** One guest: what it weighs, and how many residents were there a month before it. */
interface Weighed {
  readonly weight: number;
  readonly residents: number;
}

/** What the listed guests of a host weigh. */
export class ListedGuests {
  /** What one that came late is worth of what it weighs. */
  readonly #worthLate: number;
  readonly #all = nothing();
  /** Those that keys speak for, together and by their keys. */
  readonly #witnessed = nothing();
  readonly #asked = new Map<number, { readonly all: Weight; readonly witnessed: Weight }>();
  /** By the day since when it is there one that has earned it. */
  readonly #earned = new Map<string, Weighed>();

  constructor(worthLate: number) {
    this.#worthLate = worthLate;
  }

  add(group: GuestGroup, one: Weighed, canEarn: boolean): void {
    // What comes to a host with residents is found by sweeps too, whoever has pointed it there: two such names, which no key
    // had asked for, had a hoster with two listed customers of its own learned (2026-11-17).
    const isFound = group.swept === 2 || (group.swept === 1 && one.residents === 0);
    // One that has left earns nothing, and takes nobody's fortnight: the mark of its key decided about others (2026-11-18).
    if (canEarn && group.earned && group.corroborated && one.weight > 0)
      this.#earned.set(group.sinceDay, one);
    if (group.keys > 0) {
      const same = this.#asked.get(group.keys) ?? { all: nothing(), witnessed: nothing() };
      this.#asked.set(group.keys, same);
      put(same.witnessed, group, one);
      if (!isFound) put(same.all, group, one);
      put(this.#witnessed, group, one);
    }
    if (isFound || group.keys > 0) put(this.#all, group, one);
  }

  /**
   * What is left whichever keys are one party's: nobody speaks for guests that only these have asked for. Of what nobody
   * speaks for, `unwitnessedMost` counts.
   */
  least(unwitnessedMost: number): number {
    const earned = this.#together(oneOfEachParty(this.#earned));
    const marks = [...this.#asked.keys()].reduce((some, keys) => some | keys, 0);
    const parties = bitsIn(marks) <= COLLUDING ? [marks] : PARTIES.filter(party => (party & ~marks) === 0);
    let least = Number.POSITIVE_INFINITY;
    for (const party of parties) {
      const left = { all: { ...this.#all }, witnessed: { ...this.#witnessed } };
      for (let keys = party; keys > 0; keys = (keys - 1) & party) {
        const theirs = this.#asked.get(keys);
        if (!theirs) continue;
        take(left.all, theirs.all);
        take(left.witnessed, theirs.witnessed);
      }
      const known = this.#together(left.witnessed);
      const spokenFor = known + Math.min(known, unwitnessedMost);
      least = Math.min(least, this.#together(left.all), Math.max(spokenFor, earned));
    }
    return least;
  }

  /**
   * What one family lists never counts alone. What came late weighs less, as much of it as there are residents for: of
   * those that are left, so that nobody brings others to use these up.
   */
  #together({ corroborated, oneFamily, late, behind }: Weight): number {
    const sum = corroborated + Math.min(oneFamily, corroborated);
    // What is left of fractions that were put in and taken out again must not be divided by.
    const spared = late > 0 ? Math.max(0, Math.min(sum, late, (LATE_TO_ONE * behind) / late)) : 0;
    return sum - (1 - this.#worthLate) * spared;
  }
}

type Some = Pick<GuestGroup, 'corroborated' | 'count'>;

function put(to: Weight, { corroborated, count }: Some, { weight, residents }: Weighed): void {
  const all = count * weight;
  to[corroborated ? 'corroborated' : 'oneFamily'] += all;
  if (residents > 0) to.late += all;
  to.behind += all * residents;
}

function take(from: Weight, what: Weight): void {
  from.corroborated -= what.corroborated;
  from.oneFamily -= what.oneFamily;
  from.late -= what.late;
  from.behind -= what.behind;
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

/** The first, and then one that came so much later than the one before that it may be somebody else's. */
function oneOfEachParty(earned: ReadonlyMap<string, Weighed>): Weight {
  const total = nothing();
  let last: string | undefined;
  for (const sinceDay of [...earned.keys()].sort()) {
    if (last !== undefined && daysBetween(last, sinceDay) < ONE_PARTY_DAYS) continue;
    put(total, { corroborated: true, count: 1 }, earned.get(sinceDay)!);
    last = sinceDay;
  }
  return total;
}

function bitsIn(marks: number): number {
  let count = 0;
  for (let rest = marks; rest > 0; rest &= rest - 1) count++;
  return count;
}
