/** Where listed domains were whenever somebody looked, until it is written: they are nowhere else. */

import type { Catalog } from './catalog.ts';
import { lookedAt } from './deciding.ts';
import { type Guest, LEARNING, ownAt, type SeenListed } from './guest.ts';
import { isLearnable, namesOf } from './learnable.ts';
import type { Exchange } from './mail.ts';
import type { AddressBook } from './whereabouts.ts';

/** What was answered before is not where a host is: one that was somewhere for a day would be there for three. */
export const OLD_MS = 86_400_000;

type Asked = Pick<AddressBook, 'fresh' | 'age'>;
/** Whom a look has met. */
type Met = Pick<Guest, 'domain' | 'registered' | 'day'>;
/** Undefined as long as nobody knows. */
type Places = readonly string[] | undefined;

interface LooksOfOne {
  readonly met: Met;
  /** By what was looked at; asked when they are written, as most addresses are known by then. */
  readonly places: Map<string, () => Places>;
}

/** Beyond this the rest is dropped: who is in use is seen again. */
const MOST_MET = 20_000;
/** With other hosts each time: by so many it is nowhere already. */
const MOST_LOOKS = 8;

export class Looks {
  readonly #addresses: Asked;
  /** By domain, registered name and day. */
  #met = new Map<string, LooksOfOne>();

  constructor(addresses: Asked) {
    this.#addresses = addresses;
  }

  /** Once more as soon as one of its hosts is known. */
  add(domain: string, met: Met, exchanges: readonly Exchange[], catalog: Catalog): void {
    const what = exchanges.map(({ host, preference }) => `${preference} ${host}`).join(' ');
    this.#add(met, what, () => this.#placesOf(domain, exchanges, catalog));
  }

  putBack(listed: readonly SeenListed[]): void {
    for (const seen of listed) this.#add(seen, '', () => seen.at);
  }

  /** What stands in it, once. */
  turn(): readonly SeenListed[] {
    const listed = [...this.#met.values()].flatMap(seenIn);
    this.#met = new Map();
    return listed;
  }

  #add(met: Met, what: string, places: () => Places): void {
    const who = `${met.domain} ${met.registered} ${met.day}`;
    const looks = this.#met.get(who) ?? { met, places: new Map() };
    if (looks.places.size < MOST_LOOKS) looks.places.set(what, places);
    if (this.#met.size < MOST_MET) this.#met.set(who, looks);
  }

  /**
   * What its mail is received under: by the first hosts that are somewhere, and by those before them of which nobody knows
   * that. Behind them it may name anybody's.
   */
  #placesOf(domain: string, exchanges: readonly Exchange[], catalog: Catalog): Places {
    const known = (host: string) => this.#addresses.fresh(host);
    const { may } = lookedAt(exchanges, catalog.providers, known);
    const first = may.find(({ host }) => known(host) !== undefined && !this.#isOld(host));
    // It may be where it was; at a provider's, parked or without mail it is not.
    const mayBeAnywhere = exchanges.length > 0 && exchanges.every(({ host }) => isLearnable(host, catalog));
    if (first === undefined && mayBeAnywhere) return undefined;
    const there = may.filter(({ preference }) => preference <= (first?.preference ?? preference));
    return there.slice(0, LEARNING.mostDeciding).flatMap(({ host }) => {
      const addresses = known(host) ?? [];
      return [...namesOf(host, domain), ...addresses, ...addresses.map(ownAt)];
    });
  }

  #isOld(host: string): boolean {
    return (this.#addresses.age(host) ?? 0) > OLD_MS;
  }
}

/** Where it was at every look: who is at a host for an hour of each day, and at home for the rest, is not there. */
function seenIn({ met: { domain, registered, day }, places }: LooksOfOne): SeenListed[] {
  const known = [...places.values()].map(look => look()).filter(look => look !== undefined);
  const [first, ...others] = known;
  if (first === undefined) return [];
  return [{ domain, registered, day, at: first.filter(name => others.every(other => other.includes(name))) }];
}
