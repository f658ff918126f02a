/** What is kept of one server that is probed, and what is heard of it in one probe. */

import type { Ticks } from '../core/ports.ts';
import { Later } from './later.ts';
import type { Invented, Probe } from './probe.ts';
import type { Server } from './settings.ts';
import { type Said, type ServerProblem, saidNow } from './testimony.ts';

export interface Watched {
  readonly server: Server;
  readonly said: Map<string, Said>;
  /** The same of their addresses. */
  readonly addressed: Map<string, Said>;
  invented: Invented;
  /** When it last gave what it had denied a moment before, by registered name. */
  readonly turned: Map<string, number>;
  /** Some of what it has denied, to be asked for again. */
  readonly later: Later;
  /** As it was found by the last probe. */
  problem: ServerProblem | 'unproven' | undefined;
  /** None of the sentinels has an address by it. */
  keepsBack: boolean;
  probe: Probe | undefined;
  /** Nothing is decided yet of the probe under way. */
  isOpen: boolean;
  begunAt: number;
  /** The same by the process's own time: how often probes are sent is no matter of the ticks. */
  sentAt: number;
  /** When the next one is to begin because of what was answered; by the process's own time. */
  wantedAt: number;
  timer: NodeJS.Timeout | undefined;
  /** When the last probe began that it passed. */
  passedAt: number;
  /** When the last probe began in which both a sentinel and the name that nobody has were answered rightly. */
  answeredAt: number;
  /** When the last one ended in which they were not. */
  troubleAt: number;
  /** Those who wait for the probe under way, and for the next. */
  waiting: (() => void)[];
  next: (() => void)[];
}

export function watch(server: Server): Watched {
  return {
    ...{ server, said: new Map(), addressed: new Map(), invented: 'nothing', turned: new Map() },
    later: new Later(server),
    ...{ problem: 'unproven', keepsBack: false, probe: undefined },
    ...{ isOpen: false, begunAt: -Infinity, sentAt: -Infinity, wantedAt: Infinity, timer: undefined },
    ...{ passedAt: -Infinity, answeredAt: -Infinity, troubleAt: -Infinity, waiting: [], next: [] },
  };
}

/** Lets all go on who wait. */
export function release(waiting: (() => void)[]): void {
  for (const go of waiting.splice(0)) go();
}

/** Ends all that is under way, and lets those go on who wait for it. */
export function unwatch({ timer, probe, later, waiting, next }: Watched): void {
  clearTimeout(timer);
  probe?.cancel();
  later.close();
  release(waiting);
  release(next);
}

export class Hearing {
  readonly #watched: Watched;
  readonly #ticks: Ticks;
  readonly #heard: Said[] = [];
  #denied = 0;
  #isAddressed = false;
  gave = 0;
  isOtherHeard = false;

  constructor(watched: Watched, ticks: Ticks) {
    this.#watched = watched;
    this.#ticks = ticks;
  }

  readonly said = (name: string, isReceived: boolean): void => {
    if (isReceived) this.gave += 1;
    else this.#denied += 1;
    this.#hear(this.#watched.said, name, isReceived);
  };

  readonly addressed = (name: string, isGiven: boolean): void => {
    this.#isAddressed ||= isGiven;
    this.#hear(this.#watched.addressed, name, isGiven);
  };

  readonly invented = (what: Invented): void => {
    this.#watched.invented = what;
    this.isOtherHeard = true;
  };

  /** Whether nothing of so many that are still to be heard could change it, but that they are denied beside others. */
  isSure(sentinels: number, addresses: number, all: number): boolean {
    if (!this.#isAddressed && addresses > 0) return false;
    return this.gave > 0 && 2 * (this.#denied + sentinels) < all;
  }

  /** What was denied is remembered as such where others were given, and not invented. */
  compare(): void {
    if (!this.isOtherHeard || this.#watched.invented !== 'nothing') return;
    if (!this.#heard.some(({ gave }) => gave)) return;
    for (const one of this.#heard) if (!one.gave) one.deniedBesideAt = one.at;
  }

  #hear(all: Map<string, Said>, name: string, gave: boolean): void {
    const said = saidNow(gave, this.#ticks(), all.get(name));
    this.#heard.push(said);
    all.set(name, said);
  }
}
