/** The DNS servers to ask: which of them first, and which of them is believed. */

import { getServers } from 'node:dns';
import type { ResolverHealth, Ticks } from '../core/ports.ts';
import type { Found } from './finding.ts';
import { type SentinelParts, Sentinels, type Word } from './sentinels.ts';
import { parseServer, type Server } from './settings.ts';
import { problemText } from './testimony.ts';
import { type Carried, carry, type Told } from './transport.ts';
import type { QuestionType } from './wire.ts';

const FAILURES_TO_REST = 3;
const REST_MS = 5_000;
/**
 * Who was asked in vain to confirm denials so often in a row, for so long at least, is not waited for any more: a server
 * may know its sentinels and fail with everything else. Only where no probe was answered meanwhile for the name that
 * nobody has: whoever owns names can have one server deny them and another one wait for ever.
 */
const MUTE_AFTER = 5;
const MUTE_AFTER_MS = 30_000;

interface Standing {
  readonly server: Server;
  failures: number;
  /** Since when these came in a row. */
  failingSince: number;
  restsUntil: number;
  /** Denials in a row that it did not confirm, and since when. */
  unconfirmed: number;
  unconfirmedSince: number;
  /** Confirms nothing. Then one denial at a time is put to it, after each rest. */
  isMute: boolean;
  triedAt: number;
}

/** Whom a denial is put to. */
export interface Others {
  readonly servers: readonly Server[];
  /** One of them must say so too; else they are only asked to see whether they answer. */
  readonly mustConfirm: boolean;
}

export interface ServersParts {
  /** That questions may have at a time. */
  readonly sockets: number;
  /** The system's when undefined. */
  readonly list: readonly string[] | undefined;
  readonly ticks: Ticks;
  /** Names that every server must know; none: every server is believed. */
  readonly sentinels: readonly string[];
  /** Answers that were kept since then may be lies of a server. */
  readonly drop: SentinelParts['drop'];
  readonly forget: SentinelParts['forget'];
  /** It is another server that is believed, or one more, or one less. */
  readonly changed: SentinelParts['changed'];
}

/**
 * Keeps who answered lately, and who is believed. Standing only orders the servers and never rules one out: whoever owns a
 * tarpit domain can make any server look dead.
 */
export class Servers {
  readonly #standings: readonly Standing[];
  readonly #ticks: Ticks;
  readonly #sentinels: Sentinels;
  readonly #sentinelNames: readonly string[];
  readonly #changed: () => void;
  readonly #mostSockets: number;
  #sockets = 0;

  constructor({ list, ticks, sentinels, drop, forget, changed, sockets }: ServersParts) {
    const texts = list ?? getServers();
    this.#mostSockets = sockets;
    this.#ticks = ticks;
    this.#changed = changed;
    this.#sentinelNames = sentinels;
    this.#standings = texts.map(text => {
      const server = parseServer(text);
      if (!server) throw new Error(`not a DNS server: ${JSON.stringify(text)}`);
      return {
        ...{ server, failures: 0, failingSince: 0, restsUntil: 0 },
        ...{ unconfirmed: 0, unconfirmedSince: 0, isMute: false, triedAt: -Infinity },
      };
    });
    if (this.#standings.length === 0) throw new Error('no DNS server to ask');
    const servers = this.#standings.map(one => one.server);
    this.#sentinels = new Sentinels({ servers, names: sentinels, ticks, drop, forget, changed });
  }

  /**
   * Those that are believed first, those that rest last, and else the listed order. One question at a time tries a
   * server whose rest is over.
   */
  inOrder(): Server[] {
    const now = this.#ticks();
    const awake = this.#standings.filter(one => one.restsUntil <= now);
    const resting = this.#standings.filter(one => one.restsUntil > now);
    for (const one of awake) if (one.failures >= FAILURES_TO_REST) one.restsUntil = now + REST_MS;
    const servers = [...awake, ...resting].map(one => one.server);
    const isBelieved = (server: Server) => this.#sentinels.problem(server) === undefined;
    return [...servers.filter(isBelieved), ...servers.filter(server => !isBelieved(server))];
  }

  /** Undefined where there is no socket left for it: callers need theirs more than one name its answer. */
  carry(server: Server, name: string, type: QuestionType, done: (told: Told) => void): Carried | undefined {
    if (this.#sockets >= this.#mostSockets) return undefined;
    let isOpen = true;
    const ended = () => {
      if (isOpen) this.#sockets--;
      isOpen = false;
    };
    this.#sockets++;
    const carried = carry(server, name, type, told => {
      ended();
      done(told);
    });
    return {
      close() {
        ended();
        carried.close();
      },
    };
  }

  /** Whether what a server said counts; it may have to prove itself first. */
  believes(server: Server, word: Word): boolean | Promise<boolean> {
    return this.#sentinels.believes(server, word);
  }

  /** It was believed when it denied this name. */
  denied(server: Server, name: string, type: QuestionType, denial: Found): void {
    this.#sentinels.denied(server, name, type, denial);
  }

  /**
   * Who must say so too before a denial counts: all others that pass their sentinels, which a dead one does for two
   * minutes at most, and that answered when they were asked that lately. Those that rest are among them: the owner of a
   * tarpit domain can make any server look dead. Only where there are no sentinels nothing else tells who is.
   */
  others(than: Server): Others {
    const now = this.#ticks();
    for (const { isMute, server, unconfirmedSince } of this.#standings)
      if (isMute && !this.#sentinels.isUnheard(server, unconfirmedSince)) this.confirmed(server);
    const isAwake = ({ failures, restsUntil }: Standing) => failures < FAILURES_TO_REST && restsUntil <= now;
    const isProven = this.#sentinelNames.length > 0;
    const others = this.#standings
      .filter(one => one.server !== than && (isProven || isAwake(one)))
      .filter(({ server }) => this.#sentinels.problem(server) === undefined);
    const tried = others.find(({ isMute, triedAt }) => isMute && triedAt + REST_MS <= now);
    if (tried) tried.triedAt = now;
    const confirming = others.filter(({ isMute }) => !isMute);
    const servers = [...(tried ? [tried] : []), ...confirming].map(one => one.server);
    return { servers, mustConfirm: confirming.length > 0 };
  }

  /** It answered when a denial was put to it, whatever it said, or for the name that nobody has. */
  confirmed(server: Server): void {
    const one = this.#standing(server);
    one.unconfirmed = 0;
    if (!one.isMute) return;
    one.isMute = false;
    this.#changed();
  }

  /** A denial was put to it in vain. */
  unconfirmed(server: Server): void {
    const one = this.#standing(server);
    const now = this.#ticks();
    if (one.unconfirmed === 0) one.unconfirmedSince = now;
    one.unconfirmed += 1;
    this.#sentinels.doubt();
    const isLong = one.unconfirmed >= MUTE_AFTER && now - one.unconfirmedSince >= MUTE_AFTER_MS;
    if (one.isMute || !isLong || !this.#sentinels.isUnheard(server, one.unconfirmedSince)) return;
    one.isMute = true;
    this.#changed();
  }

  /** A name was not answered: whether others are is to be known soon. */
  doubt(): void {
    this.#sentinels.doubt();
  }

  /** Whether one of them answered every probe since a moment, and one that began after another. */
  haveAnswered(since: number, after: number): boolean {
    return this.#sentinels.haveAnswered(since, after);
  }

  /** Since then one of them answered every probe. */
  get troubleAt(): number {
    return this.#sentinels.troubleAt;
  }

  answered(server: Server): void {
    const one = this.#standing(server);
    one.failures = 0;
    one.restsUntil = 0;
  }

  failed(server: Server): void {
    const one = this.#standing(server);
    if (one.failures === 0) one.failingSince = this.#ticks();
    one.failures += 1;
    if (one.failures >= FAILURES_TO_REST) one.restsUntil = this.#ticks() + REST_MS;
  }

  health(): ResolverHealth['servers'] {
    return this.#standings.map(one => {
      const { server, isMute } = one;
      const keepsBack = this.#sentinels.keepsAddressesBack(server);
      const problem =
        this.#sentinels.problem(server) ?? (isMute ? 'mute' : keepsBack ? 'no_addresses' : undefined);
      return {
        address: server.text,
        healthy: !this.#isFailing(one),
        problem: problem === undefined ? null : problemText(problem, this.#sentinelNames),
      };
    });
  }

  close(): void {
    this.#sentinels.close();
  }

  /** Names that fail by themselves say nothing of a server: where there are sentinels, those must have failed since too. */
  #isFailing({ server, failures, failingSince }: Standing): boolean {
    if (failures < FAILURES_TO_REST) return false;
    return this.#sentinelNames.length === 0 || this.#sentinels.isInTrouble(server, failingSince);
  }

  #standing(server: Server): Standing {
    const found = this.#standings.find(one => one.server === server);
    if (!found) throw new Error(`a server of another list: ${server.text}`);
    return found;
  }
}
