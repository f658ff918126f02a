/** Which server tells the truth: a denial is believed only while its server is proven to know names that receive mail. */

import type { Ticks } from '../core/ports.ts';
import { type Deadline, startDeadline } from './deadline.ts';
import type { Found } from './finding.ts';
import { probe } from './probe.ts';
import type { Server } from './settings.ts';
import {
  keepsAddressesBack,
  type Lied,
  liesSince,
  problemOf,
  type ServerProblem,
  turnedNow,
} from './testimony.ts';
import { Hearing, release, unwatch, type Watched, watch } from './watched.ts';
import type { QuestionType } from './wire.ts';

/**
 * What rests on a server's word: mail servers that it named, that there are none, addresses, or that a name which has no
 * mail servers has none of these either.
 */
export type Word = 'mx' | 'denial' | 'addresses' | 'no_address';

const EVERY_MS = 60_000;
const EVERY_MS_WHILE_FAILING = 5_000;
/**
 * A denial waits for a probe that begins after it: so a server that begins to lie is found out by its first lie, however
 * short the last probe is ago. Denials cause no more than one probe in this time, all other answers one in the longer.
 */
const DENIAL_GAP_MS = 250;
const GAP_MS = 1_000;
/** AAAA is denied a moment after A: one probe proves both, where the next one would be another answer's time away. */
const GATHER_MS = 5;
/** What alone is still to be heard when a probe is sure is waited for so long: one more denial tells a server that denies at random. */
const GRACE_MS = 100;
/** The longest that the schedule goes without a look at the ticks, which tests move. */
const LOOK_MS = 1_000;

export interface SentinelParts {
  readonly servers: readonly Server[];
  /** None: everything is believed. */
  readonly names: readonly string[];
  readonly ticks: Ticks;
  /** A server failed, or passes anew: what it said since it last passed was perhaps a lie. */
  readonly drop: (since: number, lied: Lied) => void;
  /** A name was denied that is there. */
  readonly forget: (name: string) => void;
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
    this.#watched = parts.names.length > 0 ? parts.servers.map(watch) : [];
    if (this.#watched.length > 0) this.#look();
  }

  /** A server that was not probed yet is not held to fail. */
  problem(server: Server): ServerProblem | undefined {
    const watched = this.#find(server);
    return watched && this.#problem(watched);
  }

  /** Whether it is not believed that a name has no address: it gives none for any sentinel. */
  keepsAddressesBack(server: Server): boolean {
    return this.#find(server)?.keepsBack === true;
  }

  /** At once where that is known; else when a probe is decided that began after this. */
  believes(server: Server, word: Word): boolean | Promise<boolean> {
    const watched = this.#find(server);
    if (!watched) return true;
    if (this.#problem(watched)) return word === 'mx' && watched.invented !== 'mx';
    if (word === 'denial' || word === 'no_address' || (watched.problem === 'unproven' && word !== 'mx'))
      return this.#whenProven(watched, word);
    this.#want(watched, GAP_MS);
    return true;
  }

  /** It was believed when it denied this name: whether it still does is seen later. */
  denied(server: Server, name: string, type: QuestionType, denial: Found): void {
    this.#find(server)?.later.add({ name, type, denial, at: this.#parts.ticks() });
  }

  /** Probes every server soon. */
  doubt(): void {
    for (const watched of this.#watched) this.#want(watched, GAP_MS);
  }

  /** Never where there are no sentinels: then nothing tells a name's silence from trouble. */
  haveAnswered(since: number, after: number): boolean {
    return this.#watched.some(one => one.troubleAt < since && one.answeredAt > after && !this.#problem(one));
  }

  /** Whether a server was probed since a moment and never answered rightly for the name that nobody has. */
  isUnheard(server: Server, since: number): boolean {
    const watched = this.#find(server);
    return watched !== undefined && watched.troubleAt >= since && watched.answeredAt < since;
  }

  /** Whether the last probe of a server went wrong, since a moment. */
  isInTrouble(server: Server, since: number): boolean {
    const watched = this.#find(server);
    return watched !== undefined && watched.troubleAt >= since && watched.troubleAt > watched.answeredAt;
  }

  get troubleAt(): number {
    return Math.min(...this.#watched.map(one => one.troubleAt));
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    for (const watched of this.#watched) unwatch(watched);
  }

  #find(server: Server): Watched | undefined {
    return this.#watched.find(one => one.server === server);
  }

  #problem(watched: Watched): ServerProblem | undefined {
    if (watched.problem === 'unproven') return undefined;
    return problemOf(watched, this.#parts.names.length, this.#parts.ticks());
  }

  async #whenProven(watched: Watched, word: Word): Promise<boolean> {
    if (this.#isClosed) return false;
    const { promise, resolve } = Promise.withResolvers<void>();
    watched.next.push(resolve);
    this.#want(watched, DENIAL_GAP_MS);
    await promise;
    if (this.#isClosed || watched.problem === 'unproven' || this.#problem(watched)) return false;
    return word !== 'no_address' || !watched.keepsBack;
  }

  /** A probe is to begin in a moment, and so long after the last one. */
  #want(watched: Watched, gapMs: number): void {
    const at = Math.max(watched.sentAt + gapMs, performance.now() + GATHER_MS);
    if (at >= watched.wantedAt) return;
    watched.wantedAt = at;
    this.#pursue(watched);
  }

  /** Begins the probe that is wanted, when it is time and the last one is decided. */
  #pursue(watched: Watched): void {
    clearTimeout(watched.timer);
    if (this.#isClosed || watched.isOpen || watched.wantedAt === Infinity) return;
    const left = watched.wantedAt - performance.now();
    if (left <= 0) this.#begin(watched);
    else watched.timer = setTimeout(() => this.#pursue(watched), left).unref();
  }

  /** Begins what is due. The timer keeps no process from ending. */
  #look(): void {
    const now = this.#parts.ticks();
    let next = LOOK_MS;
    for (const watched of this.#watched) {
      watched.later.ask(now, (name, registered) => {
        this.#parts.forget(name);
        if (registered === undefined) return;
        turnedNow(watched.turned, registered, this.#parts.ticks());
        this.#want(watched, DENIAL_GAP_MS);
      });
      if (watched.isOpen) continue;
      const every = watched.problem === undefined ? EVERY_MS : EVERY_MS_WHILE_FAILING;
      const left = watched.begunAt + every - now;
      if (left > 0) next = Math.min(next, left);
      else this.#begin(watched);
    }
    this.#timer = setTimeout(() => this.#look(), next).unref();
  }

  #begin(watched: Watched): void {
    const { names, ticks } = this.#parts;
    const hearing = new Hearing(watched, ticks);
    let grace: Deadline | undefined;
    watched.probe?.cancel();
    watched.begunAt = ticks();
    watched.sentAt = performance.now();
    watched.wantedAt = Infinity;
    watched.isOpen = true;
    watched.waiting.push(...watched.next);
    watched.next = [];
    const decide = () => {
      hearing.compare();
      if (hearing.isOtherHeard && hearing.gave > 0) watched.answeredAt = watched.begunAt;
      else watched.troubleAt = ticks();
      this.#decide(watched);
    };
    const { said, addressed, invented } = hearing;
    const { cancel } = probe(watched.server, names, {
      ...{ said, addressed, invented },
      left: (sentinels, addresses, other) => {
        if (sentinels + addresses === 0 && !other) {
          grace?.cancel();
          watched.probe = undefined;
          decide();
        } else if (!other && hearing.isSure(sentinels, addresses, names.length)) {
          grace ??= startDeadline(GRACE_MS, decide);
        }
      },
    });
    watched.probe = {
      cancel: () => {
        grace?.cancel();
        cancel();
      },
    };
  }

  #decide(watched: Watched): void {
    const { names, ticks } = this.#parts;
    const before = watched.problem;
    const problem = problemOf(watched, names.length, ticks());
    const keptBack = watched.keepsBack;
    watched.problem = problem;
    watched.keepsBack = keepsAddressesBack(watched.addressed, ticks());
    watched.isOpen = false;
    this.#dropLies(watched, before);
    if (problem === undefined) watched.passedAt = watched.begunAt;
    release(watched.waiting);
    this.#pursue(watched);
    const isChanged = before !== problem && (before !== 'unproven' || problem !== undefined);
    this.#tell(isChanged || keptBack !== watched.keepsBack);
  }

  /** Before the first probe only mail servers were believed. */
  #dropLies({ problem, passedAt }: Watched, before: Watched['problem']): void {
    const isAll = before === 'invents_mx' || problem === 'invents_mx';
    const isTurn = before !== 'unproven' && (before === undefined || problem === undefined);
    if (before === problem || !(isAll || isTurn)) return;
    const since = liesSince(problem, passedAt, this.#parts.ticks());
    this.#parts.drop(since, isAll ? 'everything' : 'denials');
  }

  #tell(isChanged: boolean): void {
    if (isChanged) this.#isTold = false;
    if (this.#isTold || this.#watched.some(({ problem }) => problem === 'unproven')) return;
    this.#isTold = true;
    this.#parts.changed();
  }
}
