/** Flags → ranking → top domains. Remembers verdicts off the hot path and lists the most often flagged. */

import type { Domain } from './core/domain.ts';
import {
  type FlagReason,
  fillerOf,
  makingList,
  type TopDomain,
  type TopList,
  todayOf,
} from './core/ranking.ts';
import { allAtOnce, type Steps } from './core/steps.ts';
import type { Answer } from './lookup.ts';
import { type FlagParts, Flags } from './rank/flags.ts';

export type { TopDomain, TopList };

export interface Rank {
  /** Costs a map entry; the store hears of it within a second. */
  note(answer: Answer, keyId: string): void;
  /** A thousand rows or fewer. While a list stands everybody gets the same one, so that what was made of it can be kept. */
  top(reason: FlagReason | undefined): Promise<TopList>;
  /** Writes what is still pending. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

const FLUSH_MS = 1_000;
/** A list costs tens of milliseconds of processor time: it is made at most once a second, or when its ground changed. */
const KEPT_MS = 1_000;
/** No catalog is folded as fast as a list is made; should it ever be, the last try is made in one go. */
const MOST_TRIES = 3;

export interface RankParts extends FlagParts {
  /** Today's verdict without a question to DNS. */
  readonly last: (domain: Domain) => Answer;
  /** Known services and names that most feeds agree on, for places that traffic has not filled. */
  readonly mostAgreed: (count: number) => readonly string[];
  readonly isProtected: (name: string) => boolean;
  /** Of the overrides that verdicts are judged under. */
  readonly revision: () => number;
  /** Of the catalog that verdicts come from. */
  readonly generation: () => string;
  readonly inTurns: <T>(steps: Steps<T>) => Promise<T>;
}

export function createRank(parts: RankParts): Rank {
  const flags = new Flags(parts);
  const lists = new TopLists(parts, flags);
  const timer = setInterval(() => {
    void flags.flush();
    flags.forget();
    lists.forget();
  }, FLUSH_MS);
  timer.unref();
  return {
    note: (answer, keyId) => flags.note(answer, keyId),
    top: reason => lists.of(reason),
    flush: () => flags.flush(),
    async close() {
      clearInterval(timer);
      await flags.flush();
    },
  };
}

/** One list, ready or still being made. */
interface Made {
  /** Catalog and overrides that stood when it was begun. */
  readonly state: string;
  readonly begun: number;
  isReady: boolean;
  readonly list: Promise<TopList>;
}

/** The lists of top domains, one for each reason and one for all, each made when it is asked for. */
class TopLists {
  readonly #parts: RankParts;
  readonly #flags: Flags;
  readonly #lists = new Map<FlagReason | undefined, Made>();
  /** Lists that begin when the one under way has ended. */
  readonly #nextLists = new Map<FlagReason | undefined, Promise<TopList>>();

  constructor(parts: RankParts, flags: Flags) {
    this.#parts = parts;
    this.#flags = flags;
  }

  /** One at a time for each reason. All that come while one of another state is under way share the next. */
  of(reason: FlagReason | undefined): Promise<TopList> {
    const made = this.#lists.get(reason);
    const isFresh = made && (!made.isReady || performance.now() - made.begun < KEPT_MS);
    if (isFresh && made.state === this.#stateNow()) return made.list;
    const waiting = this.#nextLists.get(reason);
    if (waiting) return waiting;
    if (!made || made.isReady) return this.#begin(reason);
    const next = made.list
      .catch(() => {})
      .then(() => {
        this.#nextLists.delete(reason);
        return this.#begin(reason);
      });
    this.#nextLists.set(reason, next);
    return next;
  }

  /** Their names may be parts of the text of a feed that was replaced long ago. */
  forget(): void {
    for (const [reason, made] of this.#lists) {
      if (made.isReady && performance.now() - made.begun >= KEPT_MS) this.#lists.delete(reason);
    }
  }

  #begin(reason: FlagReason | undefined): Promise<TopList> {
    const list = this.#make(reason);
    const made: Made = { state: this.#stateNow(), begun: performance.now(), isReady: false, list };
    this.#lists.set(reason, made);
    list.then(
      () => {
        made.isReady = true;
      },
      () => this.#lists.delete(reason),
    );
    return list;
  }

  async #make(reason: FlagReason | undefined): Promise<TopList> {
    const { last, isProtected, clock, mostAgreed, generation, inTurns } = this.#parts;
    const candidates = await this.#flags.candidatesFor(reason);
    for (let tries = 1; ; tries++) {
      const from = generation();
      const steps = makingList({
        rows: concat(candidates),
        today: row => {
          const shown = todayOf(row, last(row.domain as Domain), isProtected(row.domain), clock());
          return reason === undefined || shown?.reason === reason ? shown : undefined;
        },
        fillers: count => (reason === undefined || reason === 'disposable' ? mostAgreed(count) : []),
        filler: name => fillerOf(name, last(name as Domain)),
      });
      if (tries === MOST_TRIES) return allAtOnce(steps);
      const list = await inTurns(steps);
      // No list mixes two generations. An override that came meanwhile is in the next list, for whoever asks by then.
      if (from === generation()) return list;
    }
  }

  #stateNow(): string {
    const { generation, revision } = this.#parts;
    return `${generation()} ${revision()}`;
  }
}

function* concat<T>(parts: readonly Iterable<T>[]): Generator<T> {
  for (const part of parts) yield* part;
}
