/** The guest book: who was seen on which hosts and at which addresses, and what innocents share, until it is written. */

import type { Catalog } from './catalog.ts';
import { lookedAt, reachedAt } from './deciding.ts';
import { type Domain, registrableDomain } from './domain.ts';
import { type Guest, LEARNING, ownAt, seenAgain } from './guest.ts';
import { groupOf, isBelow, isLearnable } from './learnable.ts';
import type { Exchange } from './mail.ts';
import { isMailHostOf, isMailService } from './provider.ts';
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

export class GuestBook {
  readonly #addresses: Pick<AddressBook, 'fresh' | 'want'>;
  readonly #barred: Barred;
  /** By host and domain, so that each is written once. */
  #guests = new Map<string, Guest>();
  #shared = new Set<string>();

  constructor(addresses: Pick<AddressBook, 'fresh' | 'want'>, barred: Barred) {
    this.#addresses = addresses;
    this.#barred = barred;
  }

  /** What stands in it, once; undefined when there is nothing. */
  turn(): Page | undefined {
    if (this.#guests.size === 0 && this.#shared.size === 0) return undefined;
    const page = { guests: [...this.#guests.values()], shared: [...this.#shared] };
    this.#guests = new Map();
    this.#shared = new Set();
    return page;
  }

  /** For another time, since it could not be written. */
  putBack({ guests, shared }: Page): void {
    for (const guest of guests) this.#add(guest);
    for (const name of shared) this.#shared.add(name);
  }

  enter(visitor: Visitor, exchanges: readonly Exchange[], catalog: Catalog): void {
    const { domain, zone, by, guest } = visitor;
    // The very name: some that many people use give names below them away, to anybody.
    const isInnocent = catalog.isProtected(domain) || (domain === zone && catalog.isPanel(domain));
    const learnable = exchanges.filter(({ host }) => isLearnable(host, catalog));
    const others = exchanges.filter(exchange => !learnable.includes(exchange));
    const isListed = guest.entry !== null;
    for (const { host } of others.slice(0, LEARNING.mostExchanges)) {
      if (isInnocent || isTheirOwn(host, catalog)) this.#bar(host, by, guest.day);
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
      for (const one of next.filter(exchange => learnable.includes(exchange))) {
        const { host } = one;
        if (isListed && !hasHalf(one, next, known)) {
          this.#addresses.want(host, by, found => void (found.length === 0 && isNowhere()));
          continue;
        }
        const isOwn = isBelow(host, registrableDomain(domain));
        // Own hosts tell nothing by their names, but domains of one operator share an address.
        const names = isOwn ? [] : [host, groupOf(host) ?? host];
        if (isInnocent) {
          for (const name of names) this.#shared.add(name);
          this.#bar(host, by, guest.day);
        } else {
          this.#addAt(host, names, visitor, isNowhere);
        }
      }
    };
    look(isListed ? firstIn(left) : first);
  }

  /** Once somebody knows that the host is there: names of hosts that are not cost nothing, and would fill any store. */
  #addAt(host: string, names: readonly string[], { by, guest }: Visitor, isNowhere: () => void): void {
    this.#addresses.want(host, by, found => {
      if (found.length === 0) return isNowhere();
      for (const name of names) this.#add({ ...guest, host: name });
      for (const address of found.slice(0, LEARNING.mostAddresses)) {
        this.#add({ ...guest, host: address });
        if (names.length === 0) this.#add({ ...guest, host: ownAt(address) });
      }
    });
  }

  /**
   * Where anybody may have a machine below a provider's name, one look spares no address: who is received there counts at
   * it as one more innocent, and nobody speaks against it.
   */
  #speakFor(host: string, { by, guest }: Visitor): void {
    this.#addresses.want(host, `${PROVIDERS} ${by}`, found => {
      for (const address of found.slice(0, LEARNING.mostAddresses)) this.#add({ ...guest, host: address });
    });
  }

  #add(guest: Guest): void {
    const at = `${guest.host} ${guest.domain}`;
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
 * How many get the mail before all others. Of a listed name only these speak against a host: one more behind them costs
 * a record and no mail, and by it whoever is listed had any hoster's customers flagged (2026-11-17).
 */
const firstIn = (exchanges: readonly Exchange[]) =>
  exchanges.filter(({ preference }) => preference === exchanges[0]!.preference).length;

/**
 * Whether an exchange of a listed domain may be blamed for it: not one of many that are tried alike, which is lent a small
 * part of the mail to be blamed for all of it. Where hosts are the domain's own, half of the mail or more goes to hosts of
 * one group, or to the same addresses: else three names for one machine would keep it from being learned, and with each
 * a decoy beside that machine did (2026-11-17).
 */
function hasHalf(
  { host }: Exchange,
  alike: readonly Exchange[],
  known: (host: string) => readonly string[] | undefined,
): boolean {
  const group = groupOf(host);
  const addresses = new Set(reachedAt(known(host)));
  const shareOf = (other: string) => {
    if (groupOf(other) === group) return 1;
    const theirs = reachedAt(known(other));
    const common = theirs.filter(one => addresses.has(one)).length;
    // Others may name anybody's addresses beside their own.
    const isNamedBeside = common === addresses.size && common < theirs.length;
    return common === 0 || isNamedBeside ? 0 : common / theirs.length;
  };
  const share = alike.reduce((sum, other) => sum + shareOf(other.host), 0);
  return 2 * share >= alike.length;
}

/**
 * Whether a host that cannot be learned is of whoever it is named after. Below a name that many people use, and below
 * that of a hosting company, an internet provider or a research network, may be anybody, who could put his host at an
 * address to have it spared.
 */
function isTheirOwn(host: string, catalog: Catalog): boolean {
  const row = catalog.providers.match(host);
  if (row) return isMailService(host, row);
  const registrable = registrableDomain(host);
  if (catalog.isPanel(registrable)) return false;
  return catalog.isProtected(host) || (registrable !== undefined && isMailHostOf(host, registrable));
}
