/** Where listed domains were whenever somebody looked, until it is written: they are nowhere else. */

import type { Catalog } from './catalog.ts';
import { lookedAt } from './deciding.ts';
import { type Guest, LEARNING, ownAt, type SeenListed } from './guest.ts';
import { isLearnable, namesOf } from './learnable.ts';
import type { Exchange } from './mail.ts';
import type { AddressBook } from './whereabouts.ts';

/** What was answered before is not where a host is: one that was somewhere for a day would be there for three. */
export const OLD_MS = 86_400_000;

type Asked = Pick<AddressBook, 'fresh' | 'age' | 'isSilent'>;
/** Whom a look has met. */
type Met = Pick<Guest, 'domain' | 'registered' | 'day'>;

interface Places {
  /** Names and addresses. */
  readonly at: readonly string[];
  /** Hosts are still asked for. */
  readonly isOpen: boolean;
}

interface LooksOfOne {
  readonly met: Met;
  /** By what was looked at; asked when they are written, as most addresses are known by then. */
  readonly places: Map<string, () => Places>;
  turns: number;
}

/** Beyond this the rest is dropped: who is in use is seen again. */
const MOST_MET = 20_000;
/** With other hosts each time: by so many it is nowhere already. */
const MOST_LOOKS = 8;
/** So often it is kept while hosts are asked for of which nobody knows yet. */
const MOST_TURNS = 8;

export class Looks {
  readonly #addresses: Asked;
  /** By domain, registered name and day. */
  #met = new Map<string, LooksOfOne>();

  constructor(addresses: Asked) {
    this.#addresses = addresses;
  }

  /** By its own name. */
  add(domain: string, met: Met, exchanges: readonly Exchange[], catalog: Catalog): void {
    const what = exchanges.map(({ host, preference }) => `${preference} ${host}`).join(' ');
    this.#add(met, what, () => this.#placesOf(domain, exchanges, catalog));
  }

  putBack(listed: readonly SeenListed[]): void {
    for (const seen of listed) this.#add(seen, 'before', () => ({ at: seen.at, isOpen: false }));
  }

  /** What stands in it, once. */
  turn(): readonly SeenListed[] {
    const listed: SeenListed[] = [];
    for (const [who, looks] of this.#met) {
      const places = [...looks.places.values()].map(look => look());
      if (places.some(({ isOpen }) => isOpen) && looks.turns++ < MOST_TURNS) continue;
      this.#met.delete(who);
      listed.push({ ...looks.met, at: inAll(places.map(({ at }) => at)) });
    }
    return listed;
  }

  #add({ domain, registered, day }: Met, what: string, places: () => Places): void {
    const who = `${domain} ${registered} ${day}`;
    const looks = this.#met.get(who) ?? { met: { domain, registered, day }, places: new Map(), turns: 0 };
    if (looks.places.size < MOST_LOOKS) looks.places.set(what, places);
    if (this.#met.size < MOST_MET) this.#met.set(who, looks);
  }

  /**
   * What its mail is received under: by the first hosts that are somewhere, and by those before them of which nobody knows
   * that, by their names alone. Behind them it may name anybody's; and for as long as one likes nobody answers.
   */
  #placesOf(domain: string, exchanges: readonly Exchange[], catalog: Catalog): Places {
    const known = (host: string) => this.#addresses.fresh(host);
    const isKnown = ({ host }: Exchange) => known(host) !== undefined && !this.#isOld(host);
    const { may } = lookedAt(exchanges, catalog.providers, known);
    // Those that are nowhere count too where there are no others: by denying them for a second of every ten minutes a service
    // was never at home (2026-11-18).
    const tried = may.length > 0 ? may : exchanges;
    const first = tried.find(isKnown) ?? tried[0];
    const there = tried
      .filter(({ preference }) => preference <= first!.preference)
      .slice(0, LEARNING.mostDeciding);
    const at = there.flatMap(({ host }) => {
      const addresses = known(host) ?? [];
      return [...namesOf(host, domain), ...addresses, ...addresses.map(ownAt)];
    });
    const canTell = may.some(({ host }) => isLearnable(host, catalog));
    const isOpen = canTell && there.some(one => !isKnown(one) && !this.#addresses.isSilent(one.host));
    return { at, isOpen };
  }

  #isOld(host: string): boolean {
    return (this.#addresses.age(host) ?? 0) > OLD_MS;
  }
}

/** Where it was at every look: who is at a host for an hour of each day, and at home for the rest, is not there. */
function inAll([first, ...others]: readonly (readonly string[])[]): readonly string[] {
  return (first ?? []).filter(name => others.every(other => other.includes(name)));
}
