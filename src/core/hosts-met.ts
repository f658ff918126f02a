/** Hosts that lookups met: whose addresses are to be asked for, and which one a guest had before it came with another. */

import type { Catalog } from './catalog.ts';
import { allBelow, decidingOf, lookedAt } from './deciding.ts';
import { paidDomain, registrableDomain } from './domain.ts';
import { LEARNING } from './guest.ts';
import type { Exchange } from './mail.ts';
import { isPlatform, type Providers } from './provider.ts';
import { takesNoMail } from './provider-names.ts';
import type { AddressBook } from './whereabouts.ts';

/** What a key met: the exchanges of a name. */
interface Meeting {
  readonly exchanges: readonly Exchange[];
  readonly guest: string;
  readonly by: string;
  readonly providers: Pick<Providers, 'match'>;
}

/**
 * A host with addresses by guest and domain of hosts; whoever makes it bounds it. By guest, since others can point their
 * domains at any host below any name, and by the domain of the hosts, since a guest may move to somebody else. Shared
 * fairly by whoever met it: a key's lookups must not make it forget what others met.
 */
interface LastHosts {
  get(key: string): string | undefined;
  set(key: string, host: string, by: string): unknown;
}

/** Beyond this the rest is dropped: whoever is worth looking at is met again. */
const MOST_MET = 5_000;

type Book = Pick<AddressBook, 'fresh' | 'isDue' | 'isSilent' | 'want'>;

export class HostsMet {
  readonly #addresses: Book;
  readonly #lastHosts: LastHosts;
  /** By host and guest. */
  #met = new Map<string, { readonly host: string; readonly meeting: Meeting }>();

  constructor(addresses: Book, lastHosts: LastHosts) {
    this.#addresses = addresses;
    this.#lastHosts = lastHosts;
  }

  /** Those that are to be asked for. */
  get size(): number {
    return this.#met.size;
  }

  /** Whether all are known and have addresses. */
  meet(exchanges: readonly Exchange[], guest: string, by: string, { providers }: Catalog): boolean {
    const addresses = this.#addresses;
    const meeting = { exchanges, guest, by, providers };
    const { may } = lookedAt(exchanges, providers, host => addresses.fresh(host));
    // Further than what decides: with every answer there may be other names before it, none of which exist.
    const tried = may.slice(0, LEARNING.mostDeciding);
    const platforms = exchanges.filter(({ host }) => {
      const row = providers.match(host);
      return isPlatform(row) && !takesNoMail(host, row);
    });
    const wanted = [...new Set([...tried, ...platforms.slice(0, LEARNING.mostExchanges)])];
    for (const { host } of wanted) {
      if (!addresses.isDue(host) || this.#met.size >= MOST_MET) continue;
      this.#met.set(`${host} ${guest}`, { host, meeting });
    }
    this.#remember(meeting);
    // One without an address may have one in ten minutes.
    const isDead = ({ host }: Exchange) => addresses.fresh(host)?.length === 0;
    return wanted.every(({ host }) => addresses.fresh(host) !== undefined) && !exchanges.some(isDead);
  }

  ask(): void {
    const met = this.#met;
    this.#met = new Map();
    for (const { host, meeting } of met.values())
      this.#addresses.want(host, meeting.by, () => this.#remember(meeting));
  }

  /** Where the mail of this guest, a name or all below one, went when it was looked at last, below the same domain. */
  before(host: string, guest: string): string | undefined {
    return this.#lastHosts.get(keyOf(host, guest));
  }

  /**
   * Those that decide as far as is known: a host behind them costs one record, need never be asked, and must not stand
   * in for the next one before it. One behind another for which nobody answers may be such a host too.
   */
  #remember({ exchanges, guest, by, providers }: Meeting): void {
    const book = this.#addresses;
    const [first] = decidingOf(exchanges, providers, host => book.fresh(host));
    const last = first?.preference ?? Number.POSITIVE_INFINITY;
    for (const { host, preference } of exchanges) {
      const known = book.fresh(host) ?? (book.isSilent(host) ? [] : undefined);
      if (known && preference <= last) this.#saw(host, guest, by, known);
    }
  }

  /** One with addresses takes any other's place; one without nobody's, since mail goes where there is a host. */
  #saw(host: string, guest: string, by: string, addresses: readonly string[]): void {
    const registrable = registrableDomain(guest) ?? guest;
    for (const each of guest === registrable ? [guest] : [guest, allBelow(registrable)]) {
      const key = keyOf(host, each);
      if (addresses.length > 0 || this.#lastHosts.get(key) === undefined) this.#lastHosts.set(key, host, by);
    }
  }
}

/** Names below a suffix that gives them away (duckdns.org) cost nothing either. */
const keyOf = (host: string, guest: string) => `${guest} ${paidDomain(host) ?? host}`;
