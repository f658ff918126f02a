/** Who is established at a mail host, and is not flagged by it though it was learned. */

import { type GuestGroup, type JudgedHost, MONTH_DAYS } from './guest.ts';
import { daysBefore } from './quota.ts';
import type { Steps } from './steps.ts';
import { byFirstDay, isEstablished, sumOf } from './weights.ts';

/** Residents against whom the same of the surest count: those that came before this day. */
interface Alike {
  readonly late: string;
  readonly entries: string[];
}

/**
 * Halved until so many are left, which are judged one by one: a guest more can make all late ones weigh less, so that by
 * halving alone 10 of 6,400 were found wrongly. Each takes up to 1.5 ms, all 170 of one host took 1.2 s (2026-11-18).
 */
const MOST_ONE_BY_ONE = 16;

/**
 * Who is not flagged by a host that was learned, each between spaces: whoever is established there, unless the surest
 * guests (`surestIn`) that came less than a month after it are enough by themselves. With all of them, three lines in one
 * list, three domains that one key asked for or two that only sweeps found, beside two real ones, had every customer of a
 * hoster flagged (2026-11-18). All others are judged by all that is there: most disposable names are new here, so an
 * operator has spared what he asked for here himself, for a month, while lists of two families and four keys did not speak
 * for enough of his others.
 */
export function* residentsIn(
  { groups, ...host }: Pick<JudgedHost, 'name' | 'groups' | 'isRented'>,
  enough: number,
  today: string,
): Steps<string> {
  const residents = groups.filter(group => !group.listed && isEstablished(group, today)).sort(byFirstDay);
  if (residents.length === 0) return '';
  const surest = surestIn(groups);
  const areEnough = ({ late }: Alike) => {
    const against = surest.filter(group => !group.listed || group.sinceDay < late);
    return sumOf({ ...host, groups: against }, today, 0) >= enough;
  };
  const all = alikeIn(residents, surest);
  let [from, to] = [0, all.length];
  while (to - from > MOST_ONE_BY_ONE) {
    yield;
    const middle = (from + to) >>> 1;
    if (areEnough(all[middle]!)) to = middle;
    else from = middle + 1;
  }
  const spared = all.slice(0, from);
  for (const alike of all.slice(from, to)) {
    yield;
    if (!areEnough(alike)) spared.push(alike);
  }
  return spared.length === 0 ? '' : ` ${spared.flatMap(({ entries }) => entries).join(' ')} `;
}

/** Both in the order of their first days. */
function alikeIn(residents: readonly GuestGroup[], surest: readonly GuestGroup[]): Alike[] {
  const days = surest.flatMap(({ listed, sinceDay }) => (listed ? sinceDay : [])).sort();
  const all: Alike[] = [];
  let [count, before] = [0, -1];
  for (const { sinceDay, entries } of residents) {
    const late = daysBefore(sinceDay, -MONTH_DAYS);
    while (count < days.length && days[count]! < late) count++;
    if (count > before) all.push({ late, entries: [] });
    all.at(-1)!.entries.push(entries);
    before = count;
  }
  return all;
}

/**
 * Of listed guests those that two families have named for a month. What callers asked for before lists named it counts like
 * all others: one key that had shown three domains of its own had all flagged who were looked up later, for good
 * (2026-11-18). What one family names is as unlisted as before: one list must not take away who speaks for a host either.
 */
function surestIn(groups: readonly GuestGroup[]): GuestGroup[] {
  return groups
    .map(group => (group.corroborated ? { ...group, earned: false } : { ...group, listed: false }))
    .filter(group => !group.listed || !group.lately);
}
