/** Which server tells the truth: a denial is believed only while its server is proven to know names that receive mail. */

import type { Ticks } from '../core/ports.ts';
import { type Invented, type Probe, probe } from './probe.ts';
import type { Server } from './settings.ts';

/** Why a server is not believed. */
export type Problem = 'denies' | 'silent' | 'invents';

/** What rests on a server's word: mail servers that it named, that there are none, or addresses. */
export type Word = 'mx' | 'denial' | 'addresses';

const EVERY_MS = 60_000;
const EVERY_MS_WHILE_FAILING = 5_000;
/** For so long an answer about a sentinel speaks for the server or against it. */
const COUNTS_MS = 120_000;
/**
 * A denial waits for a new probe where the last one is older than this: so a server that begins to lie is found out by
 * its first lie, and not up to a minute later. One probe a second is the most that denials can cause.
 */
const FRESH_MS = 1_000;
/** The longest that the schedule goes without a look at the ticks, which tests move. */
const LOOK_MS = 1_000;

interface Said {
  readonly gave: boolean;
  readonly at: number;
}

/** What a server said lately about the sentinels and about a name that does not exist. */
export interface Testimony {
  readonly said: ReadonlyMap<string, Said>;
  readonly invented: Invented;
}

/** Passes: one sentinel has an MX, fewer than half are denied, and nothing was invented. Silence is neither. */
export function problemOf(
  { said, invented }: Testimony,
  sentinels: number,
  now: number,
): Problem | undefined {
  const lately = [...said.values()].filter(({ at }) => now - at <= COUNTS_MS);
  if (2 * lately.filter(({ gave }) => !gave).length >= sentinels) return 'denies';
  if (!lately.some(({ gave }) => gave)) return 'silent';
  return invented === 'nothing' ? undefined : 'invents';
}

/** For operators: what is wrong with a server, and what to do. */
export function problemText(problem: Problem, sentinels: readonly string[]): string {
  const names = sentinels.join(', ');
  const ways = 'set DNS_SERVERS to a resolver that knows public names';
  if (problem === 'silent') return `gives no mail servers for ${names}: ${ways} and can be reached`;
  if (problem === 'denies')
    return `denies that ${names} receive mail, so its denials are not believed: ${ways}, or DNS_SENTINELS to names that it knows`;
  return `answers for names that do not exist, so only mail servers that it names are believed: ${ways} and invents none`;
}

interface Watched {
  readonly server: Server;
  readonly said: Map<string, Said>;
  invented: Invented;
  /** As it was found by the last probe. */
  problem: Problem | 'unproven' | undefined;
  probe: Probe | undefined;
  begunAt: number;
  /** When the last probe was decided. */
  decidedAt: number;
  /** When the last probe began that it passed. */
  passedAt: number;
  waiting: (() => void)[];
}

export interface SentinelParts {
  readonly servers: readonly Server[];
  /** None: everything is believed. */
  readonly names: readonly string[];
  readonly ticks: Ticks;
  /** A server failed, or passes anew: what it denied since it last passed was perhaps a lie. */
  readonly drop: (since: number) => void;
  /** Who passes and who does not has changed; not before every server was probed once. */
  readonly changed: () => void;
}

export class Sentinels {
  readonly #parts: SentinelParts;
  readonly #watched: readonly Watched[];
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  #isTold = true;

  constructor(parts: SentinelParts) {
    this.#parts = parts;
    const servers = parts.names.length > 0 ? parts.servers : [];
    this.#watched = servers.map(server => ({
      ...{ server, said: new Map(), invented: 'nothing', problem: 'unproven', probe: undefined },
      ...{ begunAt: -Infinity, decidedAt: -Infinity, passedAt: -Infinity, waiting: [] },
    }));
    if (servers.length > 0) this.#look();
  }

  /** A server that was not probed yet is not held to fail. */
  problem(server: Server): Problem | undefined {
    const watched = this.#find(server);
    return watched && this.#problem(watched);
  }

  /** At once where that is known; else when the probe is decided that is under way or begins now. */
  believes(server: Server, word: Word): boolean | Promise<boolean> {
    const watched = this.#find(server);
    if (!watched) return true;
    if (word === 'mx') return watched.invented !== 'mx';
    if (watched.problem === 'unproven') return this.#whenDecided(watched);
    if (this.#problem(watched)) return false;
    const isFresh = this.#parts.ticks() - watched.decidedAt <= FRESH_MS;
    return isFresh || word === 'addresses' || this.#whenDecided(watched);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    for (const watched of this.#watched) {
      watched.probe?.cancel();
      this.#release(watched);
    }
  }

  #find(server: Server): Watched | undefined {
    return this.#watched.find(one => one.server === server);
  }

  #problem(watched: Watched): Problem | undefined {
    if (watched.problem === 'unproven') return undefined;
    return problemOf(watched, this.#parts.names.length, this.#parts.ticks());
  }

  async #whenDecided(watched: Watched): Promise<boolean> {
    if (this.#isClosed) return false;
    const { promise, resolve } = Promise.withResolvers<void>();
    watched.waiting.push(resolve);
    if (!watched.probe) this.#begin(watched);
    await promise;
    return watched.problem !== 'unproven' && !this.#problem(watched);
  }

  /** Begins what is due. The timer keeps no process from ending. */
  #look(): void {
    const now = this.#parts.ticks();
    let next = LOOK_MS;
    for (const watched of this.#watched) {
      if (watched.probe) continue;
      const every = watched.problem === undefined ? EVERY_MS : EVERY_MS_WHILE_FAILING;
      const left = watched.begunAt + every - now;
      if (left > 0) next = Math.min(next, left);
      else this.#begin(watched);
    }
    this.#timer = setTimeout(() => this.#look(), next).unref();
  }

  #begin(watched: Watched): void {
    const { names, ticks } = this.#parts;
    let denied = 0;
    let gave = 0;
    let isDecided = false;
    watched.begunAt = ticks();
    watched.probe = probe(watched.server, names, {
      said: (name, isReceived) => {
        if (isReceived) gave += 1;
        else denied += 1;
        watched.said.set(name, { gave: isReceived, at: ticks() });
      },
      invented: what => {
        watched.invented = what;
      },
      left: (sentinels, other) => {
        const isOver = sentinels === 0 && !other;
        // Nothing that is still to be heard could change it.
        const isSure = !other && gave > 0 && 2 * (denied + sentinels) < names.length;
        if (isOver) watched.probe = undefined;
        if (isOver || (isSure && !isDecided)) this.#decide(watched);
        isDecided ||= isSure;
      },
    });
  }

  #decide(watched: Watched): void {
    const { names, ticks, drop } = this.#parts;
    const before = watched.problem;
    const problem = problemOf(watched, names.length, ticks());
    watched.problem = problem;
    watched.decidedAt = ticks();
    const wasPassing = before === undefined;
    if (before !== 'unproven' && wasPassing !== (problem === undefined)) drop(watched.passedAt);
    if (problem === undefined) watched.passedAt = watched.begunAt;
    this.#release(watched);
    this.#tell(before !== problem && (before !== 'unproven' || problem !== undefined));
  }

  #release(watched: Watched): void {
    const { waiting } = watched;
    watched.waiting = [];
    for (const go of waiting) go();
  }

  #tell(isChanged: boolean): void {
    if (isChanged) this.#isTold = false;
    if (this.#isTold || this.#watched.some(({ problem }) => problem === 'unproven')) return;
    this.#isTold = true;
    this.#parts.changed();
  }
}
