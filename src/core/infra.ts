/** Mail infrastructure: what the guests of hosts and addresses tell about a domain that is received there. */

import type { Catalog } from './catalog.ts';
import type { Day } from './days.ts';
import { allBelow, areSpared, decidingOf, NO_OTHERS, type OtherHosts, reachedAt } from './deciding.ts';
import { registrableDomain } from './domain.ts';
import { ownOf } from './established.ts';
import { type GraphHost, graphOf } from './graph.ts';
import { isByTwoFamilies, LEARNING, MONTH_DAYS, ownAt } from './guest.ts';
import { enoughFor, groupOf, isBelow, isEnough, isLearnable } from './learnable.ts';
import {
  asResident,
  type Found,
  foundBy,
  type Known,
  type Learned,
  type LearnedBy,
  leastOf,
  ownLineage,
  together,
  UNWEIGHED,
} from './learned.ts';
import { type Exchange, firstOf } from './mail.ts';
import { secondFamily } from './relist.ts';
import { bySiblings, isFarm, type Siblings } from './siblings.ts';
import { zoneOf } from './zone.ts';

/** All that was learned, folded for lookup. Built whole, swapped whole; the catalog has the last word. */
export class Infra {
  readonly #known: ReadonlyMap<string, Known>;
  readonly #siblings: Siblings;
  readonly #addressesOf: (host: string) => readonly string[] | undefined;
  readonly #shared: ReadonlySet<string>;
  readonly #others: OtherHosts;
  readonly #today: Day;
  /** Learned hosts, domains of hosts and addresses. */
  readonly size: number;
  /** By their names, the most listed guests first. */
  readonly learnedHosts: readonly string[];

  constructor(
    known: ReadonlyMap<string, Known>,
    siblings: Siblings,
    /** What is known already, without asking. */
    addressesOf: (host: string) => readonly string[] | undefined,
    /** Addresses and domains of hosts that innocents share, also those of which nothing else is known. */
    shared: ReadonlySet<string> = new Set(),
    others: OtherHosts = NO_OTHERS,
    learned: Pick<Infra, 'size' | 'learnedHosts'> & { today: Day } = { size: 0, learnedHosts: [], today: 0 },
  ) {
    this.#shared = shared;
    this.#others = others;
    this.#known = known;
    this.#siblings = siblings;
    this.#addressesOf = addressesOf;
    this.size = learned.size;
    this.learnedHosts = learned.learnedHosts;
    this.#today = learned.today;
  }

  /** Only where every exchange that decides is learned. */
  find(
    name: string,
    registrable: string | undefined,
    exchanges: readonly Exchange[],
    catalog: Catalog,
    /** Whose hosts before these stand in for them. */
    guest = name,
  ): Learned | undefined {
    const found: Found[] = [];
    const asked = registrable ?? name;
    const isQuiet = () => this.#isResident(asked, ownOf(zoneOf(asked, catalog)), catalog);
    const deciding = this.#deciding(guest, exchanges, catalog);
    for (const { host } of deciding) {
      const own = isBelow(host, registrable);
      const known = this.#knownFor(host, guest);
      const one = own ? this.#byAddress(known, ownAt, catalog, asked) : this.#byHost(known, catalog, asked);
      // Last, since it costs most and most hosts were not learned.
      if (one && !isLearnable(host, catalog)) return undefined;
      if (one) found.push(one);
      else if (catalog.providers.match(host)?.class !== 'disposable')
        return (
          bySiblings(this.#siblings, name, registrable, firstOf(exchanges), catalog, isQuiet) ??
          this.#behind(name, registrable, exchanges, catalog, guest)
        );
    }
    return found.length === 0 ? undefined : together(found, deciding, catalog);
  }

  /**
   * What all hosts say of which somebody knows where they are, or those before them of other names below the same
   * domain. Whoever has a name for each address that he gives away needs one look only, and a host before his that does
   * not exist costs nothing; but these may also be another's, of whom nobody has asked yet where he is.
   */
  #behind(
    name: string,
    registrable: string | undefined,
    exchanges: readonly Exchange[],
    catalog: Catalog,
    guest: string,
  ): Learned | undefined {
    const isOpen = ({ host }: Exchange) => !this.#addressesOf(this.#knownFor(host, guest));
    const others = exchanges.filter(exchange => !isOpen(exchange));
    if (others.length === exchanges.length) return undefined;
    const learned =
      this.find(name, registrable, others, catalog, guest) ??
      (guest === name && registrable !== undefined
        ? this.find(name, registrable, exchanges, catalog, allBelow(registrable))
        : undefined);
    return learned && { ...learned, isBehind: true };
  }

  /**
   * For a name without exchanges: as a host of its own. Web sites of innocents share their address with many, so what
   * has hosts of others there must not speak for it either.
   */
  findAt(name: string, catalog: Catalog): Learned | undefined {
    const found = this.#byAddress(name, ownAt, catalog, registrableDomain(name) ?? name);
    const all = this.#byAddress(name, address => address, catalog);
    if (!found || (all?.sum ?? 0) < LEARNING.ownLearnedAt) return undefined;
    return together([found], [{ host: name, preference: 0 }], catalog);
  }

  /** Hosts of which nobody heard where they are do not decide before others, and where there are no others they do. */
  #deciding(guest: string, exchanges: readonly Exchange[], catalog: Catalog): Exchange[] {
    const { isSilent } = this.#others;
    const hostOf = (host: string) => this.#knownFor(host, guest);
    const known = (host: string) => this.#addressesOf(hostOf(host));
    const heard = (host: string) => known(host) ?? (isSilent(hostOf(host)) ? [] : undefined);
    const deciding = decidingOf(exchanges, catalog.providers, heard);
    return deciding.length > 0 ? deciding : decidingOf(exchanges, catalog.providers, known);
  }

  /** The host itself, or while nobody knows where that is the last one of the same domain that was looked at. */
  #knownFor(host: string, guest: string): string {
    return this.#addressesOf(host) ? host : (this.#others.before(host, guest) ?? host);
  }

  /** Whether nobody has ever answered where one of the hosts is that the mail goes to, however often that was asked. */
  isUnheard(guest: string, exchanges: readonly Exchange[], catalog: Catalog): boolean {
    const { isSilent } = this.#others;
    const hostOf = (host: string) => (isSilent(host) ? host : this.#knownFor(host, guest));
    const deciding = decidingOf(exchanges, catalog.providers, host => this.#addressesOf(hostOf(host)));
    return deciding.some(({ host }) => isSilent(hostOf(host)));
  }

  /** Whether it matters where these hosts are: one of them, of their addresses or of what they are below is learned or listed. */
  hangsOnAddresses(exchanges: readonly Exchange[], catalog: Catalog): boolean {
    return exchanges.some(({ host }) => {
      const addresses = this.#addressesOf(host)?.slice(0, LEARNING.mostAddresses) ?? [];
      const names = [host, groupOf(host) ?? host, ...addresses, ...addresses.map(ownAt)];
      return (
        names.some(name => this.#isLearned(name)) ||
        isByTwoFamilies(catalog.listed(ownLineage(host)).families)
      );
    });
  }

  graph(exchanges: readonly Exchange[], catalog: Catalog): GraphHost[] {
    const knownAs = (name: string) => this.#known.get(name)?.record;
    return graphOf(exchanges, catalog, this.#addressesOf, knownAs);
  }

  #byHost(host: string, catalog: Catalog, asked: string): Found | undefined {
    const group = groupOf(host) ?? host;
    if (this.#known.get(host)?.record.forgotten || this.#known.get(group)?.record.forgotten) return undefined;
    const addresses = this.#addressesOf(host);
    if (addresses && areSpared(addresses, address => this.#isShared(address))) return undefined;
    const byGroup = () => {
      const found = this.#learned(group, 'name', catalog, asked);
      if (!found) return undefined;
      const below = { ...found, below: registrableDomain(host) };
      return this.#isApart(host, addresses, asked, catalog) ? asResident(below) : below;
    };
    const byName = this.#learned(host, 'name', catalog, asked, group) ?? byGroup();
    // While nobody knows where a host is, nobody knows whom else it serves: its name alone does not count against it.
    if (byName && (addresses || this.#isAmongLearned(host, group, catalog))) return byName;
    const byAddress = () => this.#byAddress(host, address => address, catalog, asked);
    const { hits, families, namings } = catalog.listed(ownLineage(host));
    // One line that names a hoster must not condemn its guests, whoever wrote it.
    if (isByTwoFamilies(families) && !this.#isShared(group)) {
      const listedGuests = this.#known.get(group)?.record.flagged ?? 0;
      const found: Found = { by: 'listed', neighbours: [hits[0]!.entry], listedGuests, ...UNWEIGHED };
      // Nor two that are new those who are established there.
      const isNew = secondFamily(namings) + MONTH_DAYS > this.#today;
      if (!isNew || !this.#isResident(asked, group, catalog)) return found;
      return byAddress() ?? asResident(found);
    }
    return byAddress();
  }

  /** Else whoever has a host name for each domain is never found by the first lookup, and a form makes one only. */
  #isAmongLearned(host: string, group: string, catalog: Catalog): boolean {
    if (!this.#isLearned(group) || this.#isShared(group)) return false;
    const beside = this.#others.beside(host).filter(other => this.#addressesOf(other) !== undefined);
    return (
      beside.length >= LEARNING.fewestBeside &&
      beside.every(other => this.#byAddress(other, address => address, catalog) !== undefined)
    );
  }

  #isShared(name: string): boolean {
    return this.#shared.has(name) || this.#known.get(name)?.record.shared === true;
  }

  #isLearned(name: string): boolean {
    return isEnough(this.#known.get(name)?.sum ?? null, name);
  }

  /** `at`: the domain of hosts, or the domain's own, where names below it may be listed guests too. */
  #learned(name: string, by: LearnedBy, catalog: Catalog, asked?: string, at = name): Found | undefined {
    const known = this.#known.get(name);
    if (!known || !isEnough(known.sum, name)) return undefined;
    const found = foundBy(by, known, enoughFor(name));
    if (asked === undefined || this.#isFarm(asked, at, catalog)) return found;
    const isAt = (host: string) => this.#known.get(host)?.residents.includes(` ${zoneOf(asked, catalog)} `);
    return isAt(name) || isAt(at) ? asResident(found) : found;
  }

  #isResident(asked: string, at: string, catalog: Catalog): boolean {
    return !this.#isFarm(asked, at, catalog) && this.#others.established.has(zoneOf(asked, catalog), at);
  }

  #isFarm(asked: string, at: string, catalog: Catalog): boolean {
    return isFarm(this.#siblings, asked, zoneOf(asked, catalog), at, this.#others.established);
  }

  /**
   * Whether it is established at a host where neither name nor address speaks against it: one of a hoster's machines may be
   * somebody's who has disposable domains. While any two listed guests did, two names of one list, for a day, had it flagged.
   */
  #isApart(host: string, addresses: readonly string[] = [], asked: string, catalog: Catalog): boolean {
    const group = groupOf(host) ?? host;
    const isThere = addresses.length > 0 && this.#others.established.has(zoneOf(asked, catalog), host);
    if (!isThere || this.#isFarm(asked, group, catalog)) return false;
    const found = addresses.map(address => this.#learned(address, 'address', catalog, asked, group));
    return found.every(one => one === undefined || one.isResident);
  }

  #byAddress(host: string, named: typeof ownAt, catalog: Catalog, asked?: string): Found | undefined {
    const addresses = this.#addressesOf(host)?.slice(0, LEARNING.mostAddresses);
    if (!addresses || addresses.length === 0 || this.#known.get(host)?.record.forgotten) return undefined;
    const isOut = (name: string) => this.#known.get(name)?.record.forgotten;
    if (addresses.some(address => isOut(address))) return undefined;
    const at = named === ownAt && asked ? ownOf(zoneOf(asked, catalog)) : (groupOf(host) ?? host);
    const found = reachedAt(addresses).map(one => this.#learned(named(one), 'address', catalog, asked, at));
    if (!found.every(one => one !== undefined)) return undefined;
    return found.find(({ isResident }) => isResident) ?? leastOf(found);
  }
}
