/** Guests → hosts → what lookups know of them. Learns off the hot path which mail hosts are disposable ones. */

import { LRUCache } from 'lru-cache';
import type { Catalog } from './core/catalog.ts';
import { lookedAt, sparing } from './core/deciding.ts';
import { type Domain, registrableDomain } from './core/domain.ts';
import { type Guest, type HostRecord, LEARNING, ownAt, seenAgain } from './core/guest.ts';
import { foldingInfra, type Infra } from './core/infra.ts';
import { groupOf, isBelow, isLearnable } from './core/learnable.ts';
import { type Exchange, type Mail, triedOf } from './core/mail.ts';
import type { AddressBook, Clock, Resolver, Store } from './core/ports.ts';
import { isMailService } from './core/provider.ts';
import { dayOf } from './core/quota.ts';
import { guestOf, type ListedAs, type Sighting, type Sweeping, sightingOf } from './core/sighting.ts';
import { allAtOnce, type Steps } from './core/steps.ts';
import { SweptNames } from './core/swept.ts';

export interface Learn {
  /** What was learned by all servers on this store, at most a minute old. */
  infra(): Infra;
  /** A domain that was looked up by a key; costs a map entry. `listed` is null when no list names it. */
  note(domain: Domain, zone: string, listed: ListedAs | null, mail: Mail, by: string | Sweeping): void;
  /**
   * A key met these exchanges, which no table knows: addresses that are not known, or old, are asked for. Whether all
   * are known.
   */
  meet(exchanges: readonly Exchange[], by: string): boolean;
  /** From now on the addresses of learned hosts are always known, also behind a restart: for servers. */
  hold(): void;
  /** Waits for the addresses that are being asked. */
  settle(): Promise<void>;
  /** Writes what is pending; rejects when the store cannot, and keeps it then. */
  flush(): Promise<void>;
  /** Reads what all servers have learned. */
  reload(): Promise<void>;
  /** What was learned, as the next catalog has it; what it gives puts that in place, in one go with the catalog. */
  adopting(next: Catalog): Steps<() => void>;
  close(): Promise<void>;
}

export interface LearnParts {
  readonly store: Pick<Store, 'learn' | 'readHosts' | 'sharedNames' | 'sweepMark'>;
  readonly resolver: Pick<Resolver, 'last'>;
  readonly addresses: AddressBook;
  readonly catalog: () => Catalog;
  readonly clock: Clock;
  /** Lets everybody else have a turn between steps. */
  readonly inTurns: <T>(steps: Steps<T>) => Promise<T>;
  readonly onError: (error: unknown) => void;
}

const DAY_MS = 86_400_000;
/** After an answer, not within it; then addresses are asked, so that the next lookup may know them. */
const SOON_MS = 20;
const FLUSH_MS = 1_000;
const RELOAD_MS = 60_000;
/** Beyond these the rest is dropped: what is worth learning is seen again. */
const MOST_PENDING = 5_000;
const MOST_GUESTS = 20_000;
const MOST_LEARNED = 20_000;
/** In whose row a sweep's hosts wait for their addresses: no key has this id. */
const SWEEP = 'sweep';
/** The same for hosts that cannot be learned, before the key. */
const PROVIDERS = 'providers';
/** A listed name is answered before DNS is; its mail is looked for with so many flushes. */
const MOST_TRIES = 3;

/** A sighting, with the mail that was known then. */
interface Seen extends Sighting {
  readonly by: string;
  readonly mail: Mail;
  readonly tries: number;
}

export async function createLearn(parts: LearnParts): Promise<Learn> {
  const learner = new Learner(parts);
  await learner.reload();
  return learner;
}

class Learner implements Learn {
  readonly #parts: LearnParts;
  /** Zone, and mark of the key where it is listed, to the day on which it was noted: each is looked at once a day. */
  readonly #noted = new LRUCache<string, string>({ max: 50_000 });
  /** Hosts of providers and of innocent names, to the day on which their addresses came. */
  readonly #barred = new LRUCache<string, string>({ max: 5_000 });
  readonly #timers: readonly NodeJS.Timeout[];
  #pending: Seen[] = [];
  /** Hosts to the key that met them. */
  #met = new Map<string, string>();
  #isHolding = false;
  /** By host and domain, so that each is written once. */
  #guests = new Map<string, Guest>();
  #shared = new Set<string>();
  #writing: Promise<void> = Promise.resolve();
  #records: Iterable<HostRecord> = [];
  /** What innocents share, as of the last reading; up to 3 MB of names, which are not the same only when others were seen. */
  #sharedNames = '';
  #spared: ReadonlySet<string> = new Set();
  #infra: Infra;
  #swept = new SweptNames(undefined);

  constructor(parts: LearnParts) {
    this.#parts = parts;
    this.#infra = allAtOnce(this.#folding([], parts.catalog()));
    const every = (ms: number, work: () => Promise<void>) =>
      setInterval(() => void work().catch(parts.onError), ms).unref();
    this.#timers = [every(FLUSH_MS, () => this.flush()), every(RELOAD_MS, () => this.reload())];
  }

  infra(): Infra {
    return this.#infra;
  }

  note(domain: Domain, zone: string, listed: ListedAs | null, mail: Mail, by: string | Sweeping): void {
    // A listed name without exchanges tells nothing: many are parked now, where innocents are too.
    const tells = mail.state === 'mx' || mail.state === (listed === null ? 'implicit_mx' : 'not_asked');
    if (!tells || mail.stale) return;
    const day = dayOf(this.#parts.clock());
    const sighting = sightingOf(domain, zone, listed, by);
    const once = onceOf(sighting);
    if (this.#noted.get(once) === day || this.#pending.length >= MOST_PENDING) return;
    this.#noted.set(once, day);
    this.#soon();
    this.#pending.push({ ...sighting, by: typeof by === 'string' ? by : SWEEP, mail, tries: 0 });
  }

  meet(exchanges: readonly Exchange[], by: string): boolean {
    const { may, first } = this.#lookedAt(exchanges);
    const { addresses } = this.#parts;
    const tried = may.slice(0, first);
    for (const { host } of tried) {
      if (!addresses.isDue(host) || this.#met.size >= MOST_PENDING) continue;
      this.#soon();
      this.#met.set(host, by);
    }
    return tried.every(({ host }) => addresses.known(host) !== undefined);
  }

  #lookedAt(exchanges: readonly Exchange[]) {
    const { addresses, catalog } = this.#parts;
    return lookedAt(exchanges, catalog().providers, host => addresses.known(host));
  }

  hold(): void {
    this.#isHolding = true;
    void this.#holdLearned().catch(this.#parts.onError);
  }

  #holdLearned(): Promise<undefined> {
    const { addresses, inTurns } = this.#parts;
    return inTurns(addresses.holding(this.#infra.learnedHosts));
  }

  /** Before the first that waits. */
  #soon(): void {
    if (this.#pending.length + this.#met.size === 0) setTimeout(() => this.#countPending(0), SOON_MS).unref();
  }

  settle(): Promise<void> {
    this.#countPending(0);
    return this.#parts.addresses.settle();
  }

  flush(): Promise<void> {
    this.#writing = this.#writing.catch(() => {}).then(() => this.#write());
    return this.#writing;
  }

  async reload(): Promise<void> {
    const { store, catalog, inTurns } = this.#parts;
    const records = await store.readHosts(LEARNING.fewestFlagged, MOST_LEARNED);
    const shared = await store.sharedNames();
    const spared = shared === this.#sharedNames ? this.#spared : await inTurns(sparing(shared));
    this.#swept = new SweptNames(await store.sweepMark());
    let under: Catalog;
    let infra: Infra;
    do {
      under = catalog();
      infra = await inTurns(this.#folding(records, under, spared));
    } while (under !== catalog());
    this.#records = records;
    this.#spared = spared;
    this.#sharedNames = shared;
    this.#infra = infra;
    if (this.#isHolding) await this.#holdLearned();
  }

  *adopting(next: Catalog): Steps<() => void> {
    let records: Iterable<HostRecord>;
    let infra: Infra;
    do {
      records = this.#records;
      infra = yield* this.#folding(records, next);
    } while (records !== this.#records);
    return () => {
      this.#infra = infra;
      // Newer ones that came since the last step must not be lost; judging them here would hold everybody else up.
      if (records !== this.#records) void this.reload().catch(this.#parts.onError);
    };
  }

  #folding(records: Iterable<HostRecord>, catalog: Catalog, spared = this.#spared): Steps<Infra> {
    const { addresses, clock } = this.#parts;
    return foldingInfra(
      records,
      catalog,
      dayOf(clock()),
      host => addresses.known(host),
      spared,
      host => addresses.beside(host),
    );
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    await this.flush().catch(this.#parts.onError);
  }

  async #write(): Promise<void> {
    this.#countPending(1);
    const guests = this.#guests;
    const shared = this.#shared;
    if (guests.size === 0 && shared.size === 0) return;
    this.#guests = new Map();
    this.#shared = new Set();
    const now = this.#parts.clock();
    const sinceDay = dayOf(now - LEARNING.keptDays * DAY_MS);
    try {
      await this.#parts.store.learn([...guests.values()], [...shared], dayOf(now), sinceDay);
    } catch (error) {
      for (const guest of guests.values()) this.#add(guest);
      for (const name of shared) this.#shared.add(name);
      throw error;
    }
  }

  /** `tries` are charged to names whose mail is not known yet. */
  #countPending(tries: number): void {
    const pending = this.#pending;
    this.#pending = [];
    for (const seen of pending) {
      const mail = seen.mail.state === 'not_asked' ? this.#parts.resolver.last(seen.domain) : seen.mail;
      if (mail) this.#count(seen, seen.listed ? mail.exchanges : triedOf(seen.domain, mail));
      else if (seen.tries < MOST_TRIES) this.#pending.push({ ...seen, tries: seen.tries + tries });
      else this.#noted.delete(onceOf(seen));
    }
    const met = this.#met;
    this.#met = new Map();
    for (const [host, by] of met) this.#parts.addresses.want(host, by, () => {});
  }

  #count(seen: Seen, exchanges: readonly Exchange[]): void {
    const { domain, zone, by } = seen;
    const catalog = this.#parts.catalog();
    // The very name: some that many people use give names below them away, to anybody.
    const isInnocent = catalog.isProtected(domain) || (domain === zone && catalog.isPanel(domain));
    const learnable = exchanges.filter(({ host }) => isLearnable(host, catalog));
    const others = exchanges.filter(exchange => !learnable.includes(exchange));
    for (const { host } of others.slice(0, LEARNING.mostExchanges))
      if (isInnocent || isTheirOwn(host, catalog)) this.#bar(host, by);
    const guest = guestOf(seen, this.#swept, catalog, this.#parts.clock());
    const { may, first } = this.#lookedAt(learnable);
    const left = may.slice(0, LEARNING.mostDeciding);
    const look = (count: number) => {
      for (const { host } of left.splice(0, count)) {
        const isOwn = isBelow(host, registrableDomain(domain));
        // Own hosts tell nothing by their names, but domains of one operator share an address.
        const names = isOwn ? [] : [host, groupOf(host) ?? host];
        if (isInnocent) {
          for (const name of names) this.#shared.add(name);
          this.#bar(host, by);
        } else {
          for (const name of names) this.#add({ ...guest, host: name });
          // One that does not exist takes nobody's place.
          this.#addAt(host, by, guest, isOwn, () => look(1));
        }
      }
    };
    look(first);
  }

  #addAt(host: string, by: string, guest: Omit<Guest, 'host'>, isOwn: boolean, isNowhere: () => void): void {
    this.#parts.addresses.want(host, by, found => {
      if (found.length === 0) isNowhere();
      for (const address of found.slice(0, LEARNING.mostAddresses)) {
        this.#add({ ...guest, host: address });
        if (isOwn) this.#add({ ...guest, host: ownAt(address) });
      }
    });
  }

  #add(guest: Guest): void {
    const at = `${guest.host} ${guest.domain}`;
    const before = this.#guests.get(at);
    if (before) this.#guests.set(at, seenAgain(before, guest));
    else if (this.#guests.size < MOST_GUESTS) this.#guests.set(at, guest);
  }

  /** In a row of their own: providers have a host for each customer, which must not push out the hosts to be learned. */
  #bar(host: string, by: string): void {
    const day = dayOf(this.#parts.clock());
    if (this.#barred.get(host) === day) return;
    this.#parts.addresses.want(host, `${PROVIDERS} ${by}`, found => {
      if (found.length > 0) this.#barred.set(host, day);
      for (const address of found.slice(0, LEARNING.mostAddresses))
        this.#shared.add(address).add(ownAt(address));
    });
  }
}

/**
 * Whether a host that cannot be learned is of whoever it is named after. Below a name that many people use, and below a
 * hosting company's, may be anybody, who could put his host at an address to have it spared.
 */
function isTheirOwn(host: string, catalog: Catalog): boolean {
  const row = catalog.providers.match(host);
  return row ? isMailService(host, row) : !catalog.isPanel(registrableDomain(host));
}

const onceOf = ({ zone, mark }: Sighting) => (mark === 0 ? zone : `${zone} ${mark}`);
