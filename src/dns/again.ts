/** Asks a server once more for what it has denied, at the moment at which it is proven to tell the truth. */

import { paidDomain } from '../core/domain.ts';
import { type Deadline, startDeadline } from './deadline.ts';
import { type Found, find, isDenial } from './finding.ts';
import type { Servers } from './servers.ts';
import type { Server } from './settings.ts';
import type { Carried } from './transport.ts';
import type { QuestionType } from './wire.ts';

export interface Asks {
  readonly name: string;
  readonly type: QuestionType;
  /** After so long it is sent a second time: a lost packet must not make a denial unknown. */
  readonly patienceMs: number;
}

/**
 * What proves a denial begins after it: a server that denies everything for 50 ms every three seconds passed each time,
 * and every company that was asked for in these did not exist (13 of 800, 2026-11-18). So the denial that counts is one
 * that was asked for together with the sentinels.
 */
export class Again {
  /** Undefined where it did not answer, or nothing that could be used. */
  readonly said: Promise<Found | undefined>;
  readonly #say: (found: Found | undefined) => void;
  readonly #servers: Servers;
  readonly #server: Server;
  readonly #asks: Asks;
  #open: Carried[] = [];
  #patience: Deadline | undefined;
  #isOver = false;

  constructor(servers: Servers, server: Server, asks: Asks) {
    const { promise, resolve } = Promise.withResolvers<Found | undefined>();
    this.said = promise;
    this.#say = resolve;
    this.#servers = servers;
    this.#server = server;
    this.#asks = asks;
  }

  begin(): void {
    if (this.#isOver) return;
    this.#send();
    this.#patience = startDeadline(this.#asks.patienceMs, () => this.#send());
  }

  /** Whether the second answer is a denial too. What the two say of the server is told, where only a registry denies so. */
  isRepeated(first: Found, second: Found): boolean {
    const { name, type } = this.#asks;
    const registered = deniedByRegistry(name, first);
    const isRepeated = isDenial(second, type);
    if (registered === undefined) return isRepeated;
    if (!isRepeated) this.#servers.turned(this.#server, registered);
    else if (type === 'MX') this.#servers.denied(this.#server, name, registered);
    return isRepeated;
  }

  close(): void {
    this.#isOver = true;
    this.#patience?.cancel();
    for (const carried of this.#open.splice(0)) carried.close();
    this.#say(undefined);
  }

  #send(): void {
    const { name, type } = this.#asks;
    const carried = this.#servers.carry(this.#server, name, type, told => {
      this.#say('reply' in told ? find(told.reply, name, type) : undefined);
      this.close();
    });
    if (carried) this.#open.push(carried);
    else if (this.#open.length === 0) this.close();
  }
}

/**
 * The registered name that a registry has denied, or the root. No server of its owner can do that, whatever it says,
 * since resolvers leave out what is above the zone that they asked: so nobody has a resolver taken for a liar by names of
 * his own that are there by turns.
 */
export function deniedByRegistry(name: string, denial: Found): string | undefined {
  const paid = paidDomain(name);
  const zone = denial.kind === 'none' ? denial.zone : undefined;
  if (paid === undefined || zone === undefined) return undefined;
  return zone === '.' || paid.endsWith(`.${zone}`) ? paid : undefined;
}
