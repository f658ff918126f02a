/** The guest book: who was seen on which hosts and at which addresses, and what innocents share, until it is written. */

import { blamedAt, firstIn, hasHalf } from './blamed.ts';
import type { Catalog } from './catalog.ts';
import { lookedAt } from './deciding.ts';
import { type Domain, ownDomain, registrableDomain } from './domain.ts';
import { type Guest, LEARNING, ownAt, type SeenListed, seenAgain } from './guest.ts';
import { groupOf, isLearnable, namesOf } from './learnable.ts';
import { Looks, OLD_MS } from './looks.ts';
import type { Exchange } from './mail.ts';
import { isMailService } from './provider.ts';
import { isMailHostOf } from './provider-names.ts';
import type { AddressBook } from './whereabouts.ts';

/** A domain that was seen, and the guest that it is wherever its mail is received. */
export interface Visitor {
  readonly domain: Domain;
  readonly zone: string;
  /** In whose row its hosts wait for their addresses. */
  readonly by: string;
  readonly guest: Omit<Guest, 'host'>;
}

/** What is to be written. */
export interface Page {
  readonly guests: readonly Guest[];
  /** Hosts, domains of hosts and addresses that must not be learned. */
  readonly shared: readonly string[];
  /** Listed domains that were seen somewhere, also where nothing can be learned: they are no longer where they were. */
  readonly listed: readonly SeenListed[];
}

/** Hosts of providers and of innocent names, to the day on which their addresses came; whoever makes it bounds it. */
interface Barred {
  get(host: string): string | undefined;
  set(host: string, day: string): unknown;
}

/** Beyond this the rest is dropped: what is worth learning is seen again. */
const MOST_GUESTS = 20_000;
/** In whose row hosts that cannot be learned wait for their addresses, before the key. */
const PROVIDERS = 'providers';

/** Of the exchanges of a listed domain: those that are tried now, which of them may be learned, and all. */
interface Tried {
  readonly alike: readonly Exchange[];
  readonly ours: readonly Exchange[];
  readonly all: readonly Exchange[];
}

type Asked = Pick<AddressBook, 'fresh' | 'want' | 'age' | 'isSilent'>;

export class GuestBook {
  readonly #addresses: Asked;
  readonly #barred: Barred;
  /** By host, domain and registered name, so that each is written once. */
  #guests = new Map<string, Guest>();
  #shared = new Set<string>();
  readonly #looks: Looks;

  constructor(addresses: Asked, barred: Barred) {
    this.#addresses = addresses;
    this.#barred = barred;
    this.#looks = new Looks(addresses);
  }

  /** What stands in it, once; undefined when there is nothing. */
  turn(): Page | undefined {
    const listed = this.#looks.turn();
    if (this.#guests.size + this.#shared.size + listed.length === 0) return undefined;
    const page = { guests: [...this.#guests.values()], shared: [...this.#shared], listed };
    this.#guests = new Map();
    this.#shared = new Set();
    return page;
  }

  /** For another time, since it could not be written. */
  putBack({ guests, shared, listed }: Page): void {
    for (const guest of guests) this.#add(guest);
    for (const name of shared) this.#shared.add(name);
    this.#looks.putBack(listed);
  }

  /** Where a listed domain is, also where that is known too late to speak against anybody. */
  look({ domain, guest }: Visitor, exchanges: readonly Exchange[], catalog: Catalog): void {
    if (isItself(domain, guest)) this.#looks.add(domain, guest, exchanges, catalog);
  }

  enter(visitor: Visitor, exchanges: readonly Exchange[], catalog: Catalog): void {
    const { domain, by, guest } = visitor;
    // The very name: some that many people use give names below them away, to anybody.
    const isInnocent = catalog.isProtected(domain) || catalog.isPanel(domain);
    const learnable = exchanges.filter(({ host }) => isLearnable(host, catalog));
    const others = exchanges.filter(exchange => !learnable.includes(exchange));
    const isListed = guest.entry !== null;
    this.look(visitor, exchanges, catalog);
    const isFirst = ({ preference }: Exchange) => preference === exchanges[0]!.preference;
    for (const exchange of others.slice(0, LEARNING.mostExchanges)) {
      const { host } = exchange;
      if ((isInnocent && isFirst(exchange)) || isTheirOwn(host, catalog)) this.#bar(host, by, guest.day);
      else if (!isListed) this.#speakFor(host, visitor);
    }
    const known = (host: string) => this.#addresses.fresh(host);
    const { may, first } = lookedAt(isListed ? exchanges : learnable, catalog.providers, known);
    const left = may.slice(0, LEARNING.mostDeciding);
    /** Those that are looked at, and are somewhere or not yet known. */
    let there = 0;
    const look = (count: number) => {
      const next = left.splice(0, count);
      there += next.length;
      // One that does not exist takes nobody's place.
      const isNowhere = () => {
        there--;
        if (!isListed) look(1);
        else if (there === 0) look(firstIn(left));
      };
      const ours = next.filter(exchange => learnable.includes(exchange));
      if (isInnocent) for (const one of ours) this.#spare(one.host, visitor, isFirst(one));
      else if (isListed) {
        // Where nobody can be learned, there or behind, it matters to nobody.
        const canTell = ours.length > 0 || left.some(exchange => learnable.includes(exchange));
        if (canTell && isItself(domain, guest))
          this.#blame({ alike: next, ours, all: exchanges }, visitor, isNowhere);
      } else
        for (const { host } of ours)
          this.#addresses.want(host, by, found => {
            if (found.length === 0) isNowhere();
            else this.#addAt(host, found, visitor);
          });
    };
    look(isListed ? firstIn(left) : first);
  }

  /**
   * What an innocent shares is not learned, also while nobody knows where it is. By what stands behind its first hosts
   * only names are spared: whoever has a backup's domain, which may have lapsed, puts it at any address.
   */
  #spare(host: string, visitor: Visitor, isFirst: boolean): void {
    for (const name of namesOf(host, visitor.domain)) this.#shared.add(name);
    if (isFirst) this.#bar(host, visitor.by, visitor.guest.day);
  }

  /**
   * Those of a listed domain that are tried alike, each as soon as it is known to get its share: where all of them are is
   * known later than where one is, and whoever has other names for them in every answer is never met by the same. Beside or
   * before those of others it speaks for no other host below its domain: that a server takes no connections, so that the
   * mail goes to the next, nobody finds out, and a hoster's web server had his customers flagged by it (2026-11-18).
   */
  #blame({ alike, ours, all }: Tried, visitor: Visitor, isNowhere: () => void): void {
    const at = new Map<string, readonly string[]>();
    const left = new Set(ours);
    const known = (host: string) => at.get(host) ?? this.#addresses.fresh(host);
    for (const exchange of alike) {
      const row = left.has(exchange) ? visitor.by : `${PROVIDERS} ${visitor.by}`;
      const take = (found: readonly string[]) => {
        if (found.length > 0 && (this.#addresses.age(exchange.host) ?? 0) > OLD_MS) return;
        // For as long as its name server likes, nobody answers: who stands behind it gets none of the mail (2026-11-18).
        if (found.length === 0 && this.#addresses.isSilent(exchange.host)) return;
        at.set(exchange.host, found);
        if (found.length === 0) isNowhere();
        const there = alike.filter(({ host }) => known(host)?.length !== 0);
        for (const one of left) {
          const addresses = at.get(one.host) ?? [];
          if (addresses.length === 0 || !hasHalf(one, there, known)) continue;
          // Of one that is nowhere somebody may have said so for a minute.
          const isOne = (host: string) => isOfGroup(host, one.host) || isWithin(known(host), addresses);
          const isAlone = all.every(({ host }) => isOne(host));
          if (isAlone) left.delete(one);
          this.#addAt(one.host, blamedAt(addresses), visitor, isAlone ? Infinity : 1);
        }
      };
      this.#addresses.want(exchange.host, row, take, 'anew');
    }
  }

  /** Where it is, since somebody knows that: names of hosts that are not cost nothing, and would fill any store. */
  #addAt(host: string, found: readonly string[], visitor: Visitor, most = Infinity): void {
    const { guest } = visitor;
    const names = namesOf(host, visitor.domain).slice(0, most);
    const via = names.length === 0 ? '' : (registrableDomain(host) ?? host);
    for (const name of names) this.#add({ ...guest, host: name });
    for (const address of found.slice(0, LEARNING.mostAddresses)) {
      this.#add({ ...guest, host: address, via });
      if (names.length === 0) this.#add({ ...guest, host: ownAt(address) });
    }
  }

  /**
   * Where anybody may have a machine below a provider's name, one look spares no address: who is received there counts at
   * it as one more innocent, and nobody speaks against it.
   */
  #speakFor(host: string, { by, guest }: Visitor): void {
    this.#addresses.want(host, `${PROVIDERS} ${by}`, found => {
      for (const address of found.slice(0, LEARNING.mostAddresses))
        this.#add({ ...guest, host: address, via: registrableDomain(host) ?? host });
    });
  }

  #add(guest: Guest): void {
    // Listed names below a suffix are strangers' of each other; the store knows which of them it has there.
    const at = `${guest.host} ${guest.domain} ${guest.entry === null ? null : guest.registered}`;
    const before = this.#guests.get(at);
    if (before) this.#guests.set(at, seenAgain(before, guest));
    else if (this.#guests.size < MOST_GUESTS) this.#guests.set(at, guest);
  }

  /** In a row of their own: providers have a host for each customer, which must not push out the hosts to be learned. */
  #bar(host: string, by: string, day: string): void {
    if (this.#barred.get(host) === day) return;
    this.#addresses.want(host, `${PROVIDERS} ${by}`, found => {
      if (found.length > 0) this.#barred.set(host, day);
      for (const address of found.slice(0, LEARNING.mostAddresses))
        this.#shared.add(address).add(ownAt(address));
    });
  }
}

/**
 * A listed name tells where it is, and speaks against who is there; names below it may be anywhere, for nothing. One key that
 * asked for `www.` of every listed domain kept all hosts from being learned, and a service had three hosters' customers
 * flagged by such names, whose mail went home (2026-11-18).
 */
const isItself = (domain: string, { entry, registered }: Visitor['guest']) =>
  domain === entry || (entry !== null && domain === registered);

const isWithin = (some: readonly string[] = [], all: readonly string[]) =>
  some.length > 0 && some.every(address => all.includes(address));
const isOfGroup = (host: string, other: string) => (groupOf(host) ?? host) === (groupOf(other) ?? other);

/**
 * Whether a host that cannot be learned is of whoever it is named after. Below a name that many people use, and below
 * that of a hosting company, an internet provider or a research network, may be anybody, who could put his host at an
 * address to have it spared.
 */
function isTheirOwn(host: string, catalog: Catalog): boolean {
  const row = catalog.providers.match(host);
  if (row) return isMailService(host, row);
  const registrable = ownDomain(host);
  if (catalog.isPanel(registrable)) return false;
  return catalog.isProtected(host) || (registrable !== undefined && isMailHostOf(host, registrable));
}
