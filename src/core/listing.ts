/** What the disposable feeds say of each name, in one table, and which of it does not count. */

import type { Naming } from './catalog.ts';
import { type Day, dayText, unpackDays } from './days.ts';
import type { Feed } from './feed.ts';
import { NamesInMaking } from './indexing.ts';
import type { Kept } from './kept.ts';
import { CLOSED_ENDINGS, isPublicBody, ownerOf } from './owned.ts';
import { STEP, type Steps } from './steps.ts';

/** Of all these: their names lie in the table's buffer, whose numbers are places in `namings` for what is disposable. */
export function* listing(kept: readonly Kept[], seed: Uint8Array): Steps<Listed> {
  const isList = ({ feed }: Kept) => feed.kind === 'disposable';
  const room = kept.filter(isList).reduce((sum, { names }) => sum + names.length, 0);
  const all = kept.map(({ names }) => names);
  const disposable = yield* NamesInMaking.joining(all, room, seed);
  const snapshots = kept.map((snapshot, at) => ({ ...snapshot, names: disposable.lists[at]! }));
  const namings: (readonly Naming[])[] = [[]];
  for (const snapshot of snapshots.filter(isList))
    yield* disposable.adding(snapshot.names, addingTo(namings, snapshot));
  return new Listed(snapshots, disposable, namings);
}

class Listed {
  readonly snapshots: readonly Kept[];
  readonly disposable: NamesInMaking;
  /** What several feeds say of a name is kept once for all names of which they say the same. */
  readonly namings: (readonly Naming[])[];

  constructor(snapshots: readonly Kept[], disposable: NamesInMaking, namings: (readonly Naming[])[]) {
    this.snapshots = snapshots;
    this.disposable = disposable;
    this.namings = namings;
  }

  /**
   * Takes out what is guarded; what no verified feed says of names below a protected one and of public bodies; what one
   * family says of names below others that are guarded. Gives of each feed how many names.
   */
  *vetoing(
    protectedNames: ReadonlySet<string>,
    guarded: ReadonlySet<string>,
  ): Steps<ReadonlyMap<Feed, number>> {
    const { disposable, namings } = this;
    const vetoed = new Map<Feed, number>();
    /** From a place to that with what is left. */
    const takeOut = (name: string, place: number, left: number) => {
      const stays = new Set(namings[left]);
      for (const naming of namings[place]!)
        if (!stays.has(naming)) vetoed.set(naming.feed, (vetoed.get(naming.feed) ?? 0) + 1);
      disposable.change(name, left);
    };
    let at = 0;
    for (const name of guarded) {
      const place = disposable.get(name);
      if (place !== 0) takeOut(name, place, 0);
      if (++at % STEP === 0) yield;
    }
    const isOfOne = namings.map(some => new Set(some.map(({ feed }) => feed.family)).size === 1);
    const verified = this.#onlyVerified();
    yield* disposable.walking(STEP, (where, place) => {
      if (verified[place] === place || !this.#mayBeOwned(where)) return;
      const name = disposable.nameAt(where);
      const isTheirs = ownerOf(name, protectedNames) !== undefined || isPublicBody(name);
      if (isTheirs || (isOfOne[place] && ownerOf(name, guarded) !== undefined))
        takeOut(name, place, verified[place]!);
    });
    return vetoed;
  }

  /** Most have two labels and another ending: none of those need become strings. */
  #mayBeOwned(where: number): boolean {
    const { disposable } = this;
    return disposable.hasThreeLabels(where) || CLOSED_ENDINGS.some(end => disposable.endsWith(where, end));
  }

  /** From each place to the one with the words of verified feeds alone. */
  #onlyVerified(): number[] {
    const { namings } = this;
    return namings.slice().map((some, place) => {
      const left = some.filter(({ feed }) => feed.family === 'verified');
      if (left.length === some.length) return place;
      return left.length === 0 ? 0 : namings.push(left) - 1;
    });
  }
}

/** From a name's place among what the feeds before say of it to the place with this feed's word added. */
function addingTo(namings: (readonly Naming[])[], { feed, names, ...days }: Kept) {
  const since = unpackDays(days.since, names.length);
  const shown = days.last && unpackDays(days.last, names.length);
  let newest = 0;
  for (const day of shown ?? []) if (day > newest) newest = day;
  const places = new Map<number, Map<number, number>>();
  // Most neighbours were first named on the same day, and by the same feeds before.
  let lastWhen = -1;
  let lastBefore = -1;
  let lastPlace = -1;
  let after = new Map<number, number>();
  return (at: number, before: number): number => {
    const day = since[at] ?? 0;
    const last = shown?.[at];
    const until = last === newest ? undefined : last;
    const when = day * 2 ** 16 + (until ?? 0);
    if (when === lastWhen && before === lastBefore) return lastPlace;
    if (when !== lastWhen) {
      after = places.get(when) ?? new Map<number, number>();
      places.set(when, after);
    }
    const place = after.get(before) ?? namings.push([...namings[before]!, namingOf(feed, day, until)]) - 1;
    after.set(before, place);
    lastWhen = when;
    lastBefore = before;
    lastPlace = place;
    return place;
  };
}

function namingOf(feed: Feed, since: Day, until: Day | undefined): Naming {
  return { feed, since, sinceText: dayText(since), until };
}
