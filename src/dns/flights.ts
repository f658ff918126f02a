/**
 * One flight per name: who asks it now, and who waits for a place to ask it, each within a budget of his own. The flight has a
 * whole one, whoever began it: with what was left to a key that had waited long, others who joined it had no answer about
 * names that take a second, and two such failures made those silent (2026-11-18).
 */

import type { Mail } from '../core/mail.ts';
import { type Deadline, startDeadline } from './deadline.ts';
import type { Inquiry } from './inquiry.ts';
import { type PlaceCaps, Places, partOf, type Waiter } from './places.ts';
import { type Slow, SlowRoom } from './slow-room.ts';

export interface FlightCaps {
  /** Names asked for callers at one time that may still be answered soon; each has two questions under way at most. */
  readonly places: PlaceCaps;
  /** Beside them, names that were not answered soon. */
  readonly slow: PlaceCaps;
  /** Beside both, names asked in the background, and of these those that were not answered soon. */
  readonly background: PlaceCaps;
  readonly slowBackground: PlaceCaps;
  /** What is not answered by then is slow. */
  readonly soonMs: number;
  /** For the waiting and all questions of one lookup together. */
  readonly budgetMs: number;
}

/** That all of them take: some questions are asked twice, or over TCP. And the addresses of mail hosts, three times each. */
const SOCKETS = 1_200 + 432;

/** How much of it all fits into so many sockets. */
export const shareOf = (sockets: number) => Math.min(1, sockets / SOCKETS);

export function flightsWithin(caps: FlightCaps, share: number): Partial<FlightCaps> {
  const part = (places: PlaceCaps) => partOf(places, share);
  const { places, slow, background, slowBackground } = caps;
  return {
    ...{ places: part(places), slow: part(slow) },
    ...{ background: part(background), slowBackground: part(slowBackground) },
  };
}

type Fly = (name: string) => Inquiry<Mail>;

/** Where names are asked from: at first, and when they were not answered soon. */
interface Room {
  readonly places: Places;
  readonly slow: SlowRoom;
}

interface Flight {
  readonly mail: Promise<Mail>;
  /** Who waits for it. */
  readonly keys: Set<string>;
  cancel(): void;
}

/** One key's wait for a place for one name, shared by all its callers who ask for it meanwhile. */
interface Ticket extends Waiter {
  readonly mail: Promise<Mail | undefined>;
  readonly deadline: Deadline;
  give(mail: Mail | undefined): void;
}

export class Flights {
  readonly #caps: FlightCaps;
  readonly #fly: Fly;
  readonly #callers: Room;
  readonly #background: Room;
  readonly #running = new Map<string, Flight>();
  /** By name. */
  readonly #tickets = new Map<string, Ticket[]>();
  #isClosed = false;

  constructor(caps: FlightCaps, fly: Fly) {
    this.#caps = caps;
    this.#fly = fly;
    this.#callers = { places: new Places(caps.places), slow: new SlowRoom(caps.slow) };
    this.#background = { places: new Places(caps.background), slow: new SlowRoom(caps.slowBackground) };
  }

  /** Names being asked, of these the slow ones, and lookups that wait for a place. */
  get counts(): { asking: number; slow: number; waiting: number } {
    const { places, slow } = this.#callers;
    return { asking: this.#running.size, slow: slow.size, waiting: places.waiting };
  }

  /** What others have begun: the flight of this name, or this key's wait for a place for it. */
  joined(name: string, key: string): Promise<Mail | undefined> | undefined {
    const flight = this.#running.get(name);
    flight?.keys.add(key);
    return flight?.mail ?? this.#tickets.get(name)?.find(one => one.key === key)?.mail;
  }

  /** Asks now, or as soon as there is a place; undefined when none came within the budget. */
  ask(name: string, zone: string, key: string): Promise<Mail | undefined> {
    if (this.#isClosed) return Promise.resolve(undefined);
    if (this.#callers.places.take(zone, key)) {
      return this.#start(this.#callers, name, zone, key);
    }
    const ticket = this.#ticket(name, zone, key);
    this.#tickets.set(name, [...(this.#tickets.get(name) ?? []), ticket]);
    this.#callers.places.wait(ticket);
    return ticket.mail;
  }

  /** Never waits, and never takes the place of a caller. */
  askInBackground(name: string, zone: string, key: string): 'begun' | 'running' | 'full' {
    const flight = this.#running.get(name);
    flight?.keys.add(key);
    if (flight) return 'running';
    if (this.#isClosed || !this.#background.places.take(zone, key)) return 'full';
    void this.#start(this.#background, name, zone, key);
    return 'begun';
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const tickets of [...this.#tickets.values()])
      for (const ticket of [...tickets]) ticket.give(undefined);
    const flights = [...this.#running.values()];
    for (const flight of flights) flight.cancel();
    await Promise.allSettled(flights.map(({ mail }) => mail));
  }

  #ticket(name: string, zone: string, key: string): Ticket {
    const { promise, resolve } = Promise.withResolvers<Mail | undefined>();
    const { budgetMs } = this.#caps;
    const give = (mail: Mail | undefined) => {
      ticket.deadline.cancel();
      this.#callers.places.withdraw(ticket);
      this.#forget(name, ticket);
      resolve(mail);
    };
    const ticket: Ticket = {
      ...{ zone, key, give, mail: promise },
      deadline: startDeadline(budgetMs, () => give(undefined)),
      take: () => void this.#start(this.#callers, name, zone, key),
    };
    return ticket;
  }

  #forget(name: string, ticket: Ticket): void {
    const left = this.#tickets.get(name)?.filter(one => one !== ticket);
    if (left?.length) this.#tickets.set(name, left);
    else this.#tickets.delete(name);
  }

  /** In a place that was taken. */
  #start({ places, slow }: Room, name: string, zone: string, key: string): Promise<Mail> {
    const keys = new Set([key, ...(this.#tickets.get(name) ?? []).map(ticket => ticket.key)]);
    const inquiry = this.#begin(name);
    const flight: Slow = { zone, keys, giveUp: inquiry.cancel };
    let isSlow = false;
    const soon = startDeadline(this.#caps.soonMs, () => {
      isSlow = true;
      places.leave(zone, key);
      slow.enter(flight);
    });
    return this.#follow(name, inquiry, keys, () => {
      soon.cancel();
      if (isSlow) slow.leave(flight);
      else places.leave(zone, key);
    });
  }

  /** For whoever got a place first, and for all who wait for one for this name, as long as each of them may. */
  #begin(name: string): Inquiry<Mail> {
    const tickets = this.#tickets.get(name) ?? [];
    this.#tickets.delete(name);
    const inquiry = this.#fly(name);
    for (const ticket of tickets) {
      this.#callers.places.withdraw(ticket);
      void inquiry.result.then(ticket.give);
    }
    return inquiry;
  }

  #follow(
    name: string,
    { result, cancel }: Inquiry<Mail>,
    keys: Set<string>,
    land: () => void,
  ): Promise<Mail> {
    const mail = result.finally(() => {
      this.#running.delete(name);
      land();
    });
    this.#running.set(name, { mail, keys, cancel });
    return mail;
  }
}
