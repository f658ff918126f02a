/** The DNS servers to ask: which of them first, and which of them is believed. */

import { getServers } from 'node:dns';
import type { ResolverHealth, Ticks } from '../core/ports.ts';
import { type Found, isReceiving } from './finding.ts';
import { type SentinelParts, Sentinels } from './sentinels.ts';
import { parseServer, type Server } from './settings.ts';
import { problemText } from './testimony.ts';
import type { QuestionType } from './wire.ts';

const FAILURES_TO_REST = 3;
const REST_MS = 5_000;

interface Standing {
  readonly server: Server;
  failures: number;
  restsUntil: number;
}

export interface ServersParts {
  /** The system's when undefined. */
  readonly list: readonly string[] | undefined;
  readonly ticks: Ticks;
  /** Names that every server must know; none: every server is believed. */
  readonly sentinels: readonly string[];
  /** Answers that were kept since then may be lies of a server. */
  readonly drop: SentinelParts['drop'];
  /** It is another server that is believed, or one more, or one less. */
  readonly changed: SentinelParts['changed'];
}

/**
 * Keeps who answered lately, and who is believed. Standing only orders the servers and never rules one out: whoever owns a tarpit
 * domain can make any server look dead.
 */
export class Servers {
  readonly #standings: readonly Standing[];
  readonly #ticks: Ticks;
  readonly #sentinels: Sentinels;
  readonly #sentinelNames: readonly string[];

  constructor({ list, ticks, sentinels, drop, changed }: ServersParts) {
    const texts = list ?? getServers();
    this.#ticks = ticks;
    this.#sentinelNames = sentinels;
    this.#standings = texts.map(text => {
      const server = parseServer(text);
      if (!server) throw new Error(`not a DNS server: ${JSON.stringify(text)}`);
      return { server, failures: 0, restsUntil: 0 };
    });
    if (this.#standings.length === 0) throw new Error('no DNS server to ask');
    const servers = this.#standings.map(one => one.server);
    this.#sentinels = new Sentinels({ servers, names: sentinels, ticks, drop, changed });
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

  /** Whether what a server said counts; it may have to prove itself first. */
  believes(server: Server, found: Found, type: QuestionType): boolean | Promise<boolean> {
    const word = type !== 'MX' ? 'addresses' : isReceiving(found) ? 'mx' : 'denial';
    return this.#sentinels.believes(server, word);
  }

  /**
   * Who must say so too before a denial counts: all others that pass their sentinels, which a dead one does for two
   * minutes at most. Those that rest are among them: the owner of a tarpit domain can make any server look dead. Only
   * where there are no sentinels nothing else tells who is.
   */
  others(than: Server): Server[] {
    const now = this.#ticks();
    const isAwake = ({ failures, restsUntil }: Standing) => failures < FAILURES_TO_REST && restsUntil <= now;
    const isProven = this.#sentinelNames.length > 0;
    return this.#standings
      .filter(one => one.server !== than && (isProven || isAwake(one)))
      .map(one => one.server)
      .filter(server => this.#sentinels.problem(server) === undefined);
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
    one.failures += 1;
    if (one.failures >= FAILURES_TO_REST) one.restsUntil = this.#ticks() + REST_MS;
  }

  health(): ResolverHealth['servers'] {
    return this.#standings.map(({ server, failures }) => {
      const problem = this.#sentinels.problem(server);
      return {
        address: server.text,
        healthy: failures < FAILURES_TO_REST,
        problem: problem === undefined ? null : problemText(problem, this.#sentinelNames),
      };
    });
  }

  close(): void {
    this.#sentinels.close();
  }

  #standing(server: Server): Standing {
    const found = this.#standings.find(one => one.server === server);
    if (!found) throw new Error(`a server of another list: ${server.text}`);
    return found;
  }
}
