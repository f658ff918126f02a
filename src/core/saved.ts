/** A whole catalog as bytes, and back: of 10 million names it takes 13 s to make one of the lists' texts (2026-11-16). */

import type { FeedStatus, Folded, Naming } from './catalog.ts';
import { type Day, dayText, type PackedDays } from './days.ts';
import { type Feed, FeedError } from './feed.ts';
import type { Kept } from './kept.ts';
import { NameList, Names, HEAD as SHORTEST } from './names.ts';
import type { Siblings } from './siblings.ts';
import { DEEP_STEP, STEP, type Steps } from './steps.ts';

/** All of it in shared memory: another thread has it without a copy, which of 20 MB would take 10 ms. */
export interface Saved {
  /** JSON lines of a bounded length. */
  readonly text: Uint8Array;
  readonly disposable: SharedArrayBuffer;
  readonly panel: SharedArrayBuffer;
  /** Since when, and until when, of each feed in turn. */
  readonly days: Uint8Array;
}

/** What follows from the tables is made anew. */
export interface Restored extends Omit<Folded, 'protected' | 'canaries'> {
  readonly siblings: Siblings;
}

/** Takes steps beside whatever else a thread does. */
export type InTurns = <T>(steps: Steps<T>) => Promise<T>;

/** Where one is kept from one start to the next. */
export interface Shelf {
  /** One of fewer stored names is made soon enough. */
  readonly atLeast: number;
  /** Undefined where there is none, or none that is whole. */
  read(generation: string): Promise<Saved | undefined>;
  /** In place of any other. */
  write(generation: string, saved: Saved, stop: AbortSignal, inTurns: InTurns): Promise<void>;
}

/** Copied in one step: 0.1 ms. */
const PIECE = 2 ** 18;
/** So that days are read where they lie, whichever of the two forms they have. */
const ALIGNED = Uint32Array.BYTES_PER_ELEMENT;

/** On one line, each of which may be the words of ten feeds: 0.2 ms. */
const NAMINGS = 100;

const SETS = ['guarded', 'free', 'surelyFree', 'agreed'] as const;

/** Of a feed's days: how many bytes, and whether these are runs. */
type DaysHead = readonly [bytes: number, areRuns: boolean];

interface FeedHead extends Pick<Kept, 'version' | 'dropped' | 'digest' | 'acceptedAt'> {
  readonly id: string;
  readonly labels: readonly (readonly [string, string])[];
  readonly flagged: readonly (readonly [string, Day])[];
  readonly names: number;
  readonly bytes: number;
  readonly vetoed: number;
  readonly since: DaysHead;
  readonly last: DaysHead | null;
}

interface Line {
  readonly feeds?: readonly FeedHead[];
  readonly relays?: readonly (readonly [string, string])[];
  readonly set?: (typeof SETS)[number];
  readonly names?: readonly string[];
  readonly namings?: readonly (readonly (readonly [feed: number, since: number, until: number | null])[])[];
  readonly siblings?: readonly (readonly [string, readonly string[]])[];
}

export function* saving(folded: Folded, siblings: Siblings): Steps<Saved> {
  const { snapshots, disposable, panel } = folded;
  const texts: Uint8Array[] = [];
  for (const line of linesOf(folded, siblings)) {
    texts.push(Buffer.from(`${JSON.stringify(line)}\n`));
    yield;
  }
  const text = yield* joining(texts, 1);
  const days = snapshots.flatMap(({ since, last }) => (last ? [since, last] : [since]));
  const bytes = days.map(some => new Uint8Array(some.buffer, some.byteOffset, some.byteLength));
  return {
    ...{ text, disposable: disposable.buffer, panel: panel.buffer },
    days: yield* joining(bytes, ALIGNED),
  };
}

/** Each part begins at a multiple of so many bytes. */
function* joining(parts: readonly Uint8Array[], aligned: number): Steps<Uint8Array> {
  const end = (from: number, { length }: Uint8Array) => from + Math.ceil(length / aligned) * aligned;
  const all = new Uint8Array(new SharedArrayBuffer(parts.reduce(end, 0)));
  let to = 0;
  for (const part of parts) {
    for (let from = 0; from < part.length; from += PIECE) {
      all.set(part.subarray(from, from + PIECE), to + from);
      yield;
    }
    to = end(to, part);
  }
  return all;
}

function* linesOf(folded: Folded, siblings: Siblings): Generator<Line> {
  const { snapshots, status, relays, namings } = folded;
  yield { feeds: snapshots.map((snapshot, at) => headOf(snapshot, status[at]!)), relays: [...relays] };
  const places = new Map(snapshots.map(({ feed }, at) => [feed, at]));
  for (let at = 0; at < namings.length; at += NAMINGS) {
    const some = namings.slice(at, at + NAMINGS);
    const rowOf = ({ feed, since, until }: Naming) => [places.get(feed)!, since, until ?? null] as const;
    yield { namings: some.map(all => all.map(rowOf)) };
  }
  for (const set of SETS) {
    const names = [...folded[set]];
    for (let at = 0; at < names.length; at += STEP) yield { set, names: names.slice(at, at + STEP) };
  }
  const all = [...siblings];
  for (let at = 0; at < all.length; at += DEEP_STEP) yield { siblings: all.slice(at, at + DEEP_STEP) };
}

function headOf(kept: Kept, { dropped: { protected: vetoed } }: FeedStatus): FeedHead {
  const { feed, version, labels, dropped, digest, acceptedAt, flagged, names, since, last } = kept;
  return {
    ...{ id: feed.id, version, dropped, digest, acceptedAt, vetoed, labels: [...labels] },
    flagged: [...flagged],
    ...{ names: names.length, bytes: names.bytes.length },
    since: daysHead(since),
    last: last ? daysHead(last) : null,
  };
}

function daysHead(days: PackedDays): DaysHead {
  return [days.byteLength, days instanceof Uint32Array];
}

/** Throws for what `saving` did not make of a catalog of these feeds. */
export function* restoring(saved: Saved, feeds: ReadonlyMap<string, Feed>): Steps<Restored> {
  const disposable = Names.from(saved.disposable);
  yield;
  const panel = Names.from(saved.panel);
  yield;
  if (!disposable || !panel) throw new FeedError('there is no table');
  const { buffer, byteOffset, length } = saved.text;
  const text = Buffer.from(buffer, byteOffset, length);
  const read = new Reading(feeds, disposable, saved.days);
  for (let from = 0, end = 0; from < length; from = end) {
    end = text.indexOf('\n', from) + 1;
    read.line(JSON.parse(text.toString('utf8', from, end)) as Line);
    yield;
  }
  const { snapshots, status, relays, namings, siblings, sets } = read;
  const lists = { snapshots, status, relays, namings, disposable, panel };
  return { ...lists, ...sets, agreed: [...sets.agreed], siblings };
}

/** Whatever a line holds, what is made of it has the types that it should have. */
class Reading {
  readonly snapshots: Kept[] = [];
  readonly status: FeedStatus[] = [];
  readonly relays = new Map<string, string>();
  readonly namings: (readonly Naming[])[] = [];
  readonly siblings = new Map<string, readonly string[]>();
  readonly sets = {
    guarded: new Set<string>(),
    free: new Set<string>(),
    surelyFree: new Set<string>(),
    agreed: new Set<string>(),
  };
  readonly #feeds: ReadonlyMap<string, Feed>;
  readonly #names: Names;
  readonly #days: Uint8Array;
  #namesAt = 0;
  #daysAt = 0;

  constructor(feeds: ReadonlyMap<string, Feed>, names: Names, days: Uint8Array) {
    this.#feeds = feeds;
    this.#names = names;
    this.#days = days;
  }

  line({ feeds = [], relays = [], namings = [], siblings = [], set, names = [] }: Line): void {
    for (const head of feeds) this.#add(head);
    for (const [name, label] of relays) this.relays.set(String(name), String(label));
    for (const some of namings) this.namings.push(some.map(row => this.#naming(...row)));
    for (const [name, below] of siblings) this.siblings.set(String(name), below.map(String));
    if (set !== undefined) for (const name of names) this.sets[set].add(String(name));
  }

  #add({ id, version, digest, acceptedAt, dropped, vetoed, labels, flagged, ...head }: FeedHead): void {
    const feed = this.#feeds.get(id);
    if (!feed) throw new FeedError(`there is no feed ${id}`);
    const bytes = this.#names.part(this.#namesAt, count(head.bytes));
    this.#namesAt += bytes.length;
    if (count(head.names) * SHORTEST > bytes.length) throw new FeedError('there are fewer names');
    const { malformed, suffix, specialUse, duplicate } = dropped;
    const counted = { ...{ malformed, suffix }, ...{ specialUse, duplicate }, protected: vetoed };
    for (const one of Object.values(counted)) count(one);
    const kept: Kept = {
      ...{ feed, version: String(version), digest: String(digest) },
      acceptedAt: acceptedAt === null ? null : count(acceptedAt),
      dropped: { malformed, suffix, specialUse, duplicate },
      labels: new Map(labels.map(([name, label]) => [String(name), String(label)])),
      flagged: new Map(flagged.map(([name, day]) => [String(name), count(day)])),
      names: new NameList(bytes, head.names),
      since: this.#nextDays(head.since),
      last: head.last ? this.#nextDays(head.last) : undefined,
    };
    this.snapshots.push(kept);
    this.status.push({
      ...{ feed, version: kept.version, names: kept.names.length - vetoed },
      ...{ dropped: counted, updatedAt: kept.acceptedAt },
    });
  }

  #nextDays([length, areRuns]: DaysHead): PackedDays {
    const { buffer, byteOffset } = this.#days;
    const from = byteOffset + this.#daysAt;
    this.#daysAt += Math.ceil(length / ALIGNED) * ALIGNED;
    return areRuns
      ? new Uint32Array(buffer, from, count(length / Uint32Array.BYTES_PER_ELEMENT))
      : new Uint16Array(buffer, from, count(length / Uint16Array.BYTES_PER_ELEMENT));
  }

  #naming(feed: number, since: number, until: number | null): Naming {
    const named = this.snapshots[feed];
    if (!named) throw new FeedError(`there is no feed ${feed}`);
    const last = until === null ? undefined : count(until);
    return { feed: named.feed, since: count(since), sinceText: dayText(count(since)), until: last };
  }
}

function count(value: unknown): number {
  if (!Number.isSafeInteger(value) || (value as number) < 0) throw new FeedError('a number is none');
  return value as number;
}
