/**
 * Whose the places are that connections take. Everybody is one party: a key that was let in with its last call, operators, a
 * trusted proxy, else an address. They are counted as connections come and go, so that who has most is known without a look
 * at all of them: what was remembered of such a look kept others out than those whom it was made for (2026-11-17).
 */

import type { Connection } from './connection.ts';
import { Order } from './order.ts';

/** Parties with no more than this are alike: a browser opens six at once, before anybody knows that it is an operator's. */
export const FEW = 8;

/** What strangers and keys may have of all places before anybody of theirs goes for others; the rest is of the house. */
export const SHARES = { strangers: 0.25, keys: 0.5 };

/** The name under which all operators are one party. */
export const OPERATORS = 'operator';

/** Parties of one standing. */
export class Parties {
  readonly all = new Order<Connection>();
  readonly #byName = new Map<string, Order<Connection>>();
  /** Those that are more than few. */
  readonly #bySize = new Map<number, Set<Order<Connection>>>();
  /** Of which the largest is. */
  #most = 0;

  add(one: Connection, name: string): void {
    this.all.add(one);
    this.#join(one, name);
  }

  delete(one: Connection, name: string): void {
    this.all.delete(one);
    this.#part(one, name);
  }

  /** With the key of somebody else: a backend sends those of all its customers over the same few connections. */
  moved(one: Connection, from: string, to: string): void {
    const party = this.#byName.get(from)!;
    if (party.size === 1 && !this.#byName.has(to)) {
      this.#byName.delete(from);
      this.#byName.set(to, party);
      return;
    }
    this.#part(one, from);
    this.#join(one, to);
  }

  of(name: string): Order<Connection> | undefined {
    return this.#byName.get(name);
  }

  /** Of whom one has to go: of the party with most, or of all where none has many. */
  get largest(): Order<Connection> {
    const [first] = this.#bySize.get(this.#most) ?? [];
    return first ?? this.all;
  }

  #join(one: Connection, name: string): void {
    const party = this.#byName.get(name) ?? new Order();
    this.#byName.set(name, party);
    this.#unlist(party);
    party.add(one);
    this.#list(party);
  }

  #part(one: Connection, name: string): void {
    const party = this.#byName.get(name)!;
    this.#unlist(party);
    party.delete(one);
    if (party.size === 0) this.#byName.delete(name);
    else this.#list(party);
    // It is one less at the most.
    if (!this.#bySize.has(this.#most)) this.#most = Math.max(0, this.#most - 1);
  }

  #list(party: Order<Connection>): void {
    const { size } = party;
    if (size <= FEW) return;
    const alike = this.#bySize.get(size) ?? new Set();
    this.#bySize.set(size, alike.add(party));
    this.#most = Math.max(this.#most, size);
  }

  #unlist(party: Order<Connection>): void {
    const alike = this.#bySize.get(party.size);
    alike?.delete(party);
    if (alike?.size === 0) this.#bySize.delete(party.size);
  }
}

interface Seat {
  readonly parties: Parties;
  readonly name: string;
}

export class Places {
  readonly strangers = new Parties();
  readonly keys = new Parties();
  /** Operators, and proxies that are trusted. */
  readonly house = new Parties();
  readonly #most: number;
  readonly #isForOperators: boolean;
  readonly #seats = new Map<Connection, Seat>();
  readonly #byNetwork = new Map<string, Order<Connection>>();

  /** Where it is for operators, whoever has a key is as anybody else. */
  constructor(most: number, isForOperators = false) {
    this.#most = most;
    this.#isForOperators = isForOperators;
  }

  get isFull(): boolean {
    return this.#seats.size >= this.#most;
  }

  /** All of an address, whoever they are of. */
  ofNetwork(network: string): Order<Connection> | undefined {
    return this.#byNetwork.get(network);
  }

  take(one: Connection): void {
    const seat = this.#seatOf(one);
    seat.parties.add(one, seat.name);
    this.#seats.set(one, seat);
    const { network } = one;
    const ofNetwork = this.#byNetwork.get(network) ?? new Order();
    ofNetwork.add(one);
    this.#byNetwork.set(network, ofNetwork);
  }

  /** False where it has none. */
  leave(one: Connection): boolean {
    const seat = this.#seats.get(one);
    if (!seat) return false;
    seat.parties.delete(one, seat.name);
    this.#seats.delete(one);
    const { network } = one;
    const ofNetwork = this.#byNetwork.get(network)!;
    ofNetwork.delete(one);
    if (ofNetwork.size === 0) this.#byNetwork.delete(network);
    return true;
  }

  /** It is known as somebody else now. */
  moved(one: Connection): void {
    const before = this.#seats.get(one);
    if (!before) return;
    const seat = this.#seatOf(one);
    this.#seats.set(one, seat);
    if (seat.parties === before.parties) return seat.parties.moved(one, before.name, seat.name);
    before.parties.delete(one, before.name);
    seat.parties.add(one, seat.name);
  }

  /** Who makes room where all places are taken: whoever has more than its share, strangers first. */
  get yielding(): Parties {
    if (this.strangers.all.size > this.#most * SHARES.strangers) return this.strangers;
    return this.keys.all.size > this.#most * SHARES.keys ? this.keys : this.house;
  }

  #seatOf({ isProxy, network, party }: Connection): Seat {
    if (isProxy) return { parties: this.house, name: network };
    if (party === OPERATORS) return { parties: this.house, name: party };
    if (party === undefined || this.#isForOperators) return { parties: this.strangers, name: network };
    return { parties: this.keys, name: party };
  }
}
