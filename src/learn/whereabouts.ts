/** Where hosts are that verdicts hang on, as this server has found it out: written for all servers, and read of them. */

import { paidDomain } from '../core/domain.ts';
import { hashOf } from '../core/guest.ts';
import type { Exchange } from '../core/mail.ts';
import type { Clock } from '../core/ports.ts';
import { dayOf } from '../core/quota.ts';
import type { Steps } from '../core/steps.ts';
import {
  type AddressBook,
  WHEREABOUTS,
  type Whereabouts,
  type WhereaboutsStore,
} from '../core/whereabouts.ts';

const DAY_MS = 86_400_000;
/** Each is read from its text and looked for, 8 µs (2026-11-17). */
const ROWS_A_STEP = 50;

export interface WhereaboutsParts {
  readonly store: WhereaboutsStore;
  readonly addresses: Pick<AddressBook, 'known' | 'age' | 'recall'>;
  readonly clock: Clock;
  /** Lets everybody else have a turn between steps. */
  readonly inTurns: <T>(steps: Steps<T>) => Promise<T>;
}

export class WhereaboutsBook {
  readonly #parts: WhereaboutsParts;
  #unwritten = new Map<string, Whereabouts>();
  /** On which day each was met last, as far as that is written. */
  #days = new Map<string, string>();
  /** What this server knew of each when it read them last. */
  #knew = new Map<string, string>();
  /** How many hosts each key has brought on a day. */
  #brought = { day: '', counts: new Map<string, number>() };

  constructor(parts: WhereaboutsParts) {
    this.#parts = parts;
  }

  /** A key met these, and their guest is judged by where they are. */
  note(exchanges: readonly Exchange[], guest: string, by: string): void {
    const day = dayOf(this.#parts.clock());
    if (this.#brought.day !== day) this.#brought = { day, counts: new Map() };
    for (const { host } of exchanges) {
      const addresses = this.#known(host);
      // Else what nobody answers for any more would count for ever, by a restart every other day.
      const isOld = (this.#parts.addresses.age(host) ?? 0) >= DAY_MS;
      const isWritten = this.#days.get(host) === day || this.#unwritten.has(host);
      if (addresses === undefined || isOld || isWritten || !this.#hasRoom(by)) continue;
      this.#unwritten.set(host, { host, below: belowOf(host, addresses, guest), addresses, day });
    }
  }

  #hasRoom(by: string): boolean {
    const { counts } = this.#brought;
    const brought = counts.get(by) ?? 0;
    if (brought >= WHEREABOUTS.mostOfAKey || this.#unwritten.size >= WHEREABOUTS.most) return false;
    counts.set(by, brought + 1);
    return true;
  }

  /** Rejects when the store cannot, and keeps it then. */
  async write(): Promise<void> {
    if (this.#unwritten.size === 0) return;
    const kept = this.#unwritten;
    this.#unwritten = new Map();
    try {
      await this.#parts.store.keepWhereabouts([...kept.values()], this.#sinceDay());
    } catch (error) {
      for (const [host, one] of this.#unwritten) kept.set(host, one);
      this.#unwritten = kept;
      throw error;
    }
    for (const { host, day } of kept.values()) this.#days.set(host, day);
  }

  /** The hosts of all servers, whose addresses count from now on where this one has never known any. */
  async read(): Promise<readonly string[]> {
    const { store, inTurns } = this.#parts;
    return inTurns(this.#taking(await store.whereabouts(this.#sinceDay())));
  }

  *#taking(all: Iterable<Whereabouts>): Steps<readonly string[]> {
    const { addresses, clock } = this.#parts;
    const days = new Map<string, string>();
    const knew = new Map<string, string>();
    for (const one of all) {
      const { host, day } = one;
      if ((days.size + 1) % ROWS_A_STEP === 0) yield;
      // By a clock that was ahead it may have been met tomorrow.
      const ago = Math.max(0, clock() - Date.parse(day));
      addresses.recall(host, one.addresses === '' ? [] : one.addresses.split(' '), ago);
      const known = this.#known(host) ?? one.addresses;
      // Only what has changed here: where two servers are told different addresses, each would write its own for ever.
      const hasMoved = (this.#knew.get(host) ?? known) !== known && known !== one.addresses;
      if (hasMoved && !this.#unwritten.has(host)) this.#unwritten.set(host, movedTo(one, known));
      days.set(host, day);
      knew.set(host, known);
    }
    this.#days = days;
    this.#knew = knew;
    return [...days.keys()];
  }

  #known(host: string): string | undefined {
    return this.#parts.addresses.known(host)?.join(' ');
  }

  #sinceDay(): string {
    return dayOf(this.#parts.clock() - WHEREABOUTS.keptDays * DAY_MS);
  }
}

/** What costs something: the domain of the host, or where it is nowhere that of the guest who names it. */
function belowOf(host: string, addresses: string, guest: string): string {
  if (addresses !== '') return paidDomain(host) ?? host;
  return `?${hashOf(paidDomain(guest) ?? guest).toString(36)}`;
}

/** Who named one that has come to be somewhere no longer counts; one that has gone was of somebody who paid for it. */
function movedTo(one: Whereabouts, addresses: string): Whereabouts {
  const { host } = one;
  return addresses === '' ? { ...one, addresses } : { ...one, addresses, below: paidDomain(host) ?? host };
}
