/** Guests → hosts → what lookups know of them. Learns off the hot path which mail hosts are disposable ones. */

import { LRUCache } from 'lru-cache';
import type { Catalog } from './core/catalog.ts';
import { type Domain, lineage } from './core/domain.ts';
import { type Guest, type HostRecord, LEARNING } from './core/guest.ts';
import { foldingInfra, type Infra, isLearnable } from './core/infra.ts';
import type { Mail } from './core/mail.ts';
import type { AddressBook, Clock, Resolver, Store } from './core/ports.ts';
import { dayOf } from './core/quota.ts';
import { allAtOnce, type Steps } from './core/steps.ts';

export interface Learn {
  /** What was learned by all servers on this store, at most a minute old. */
  infra(): Infra;
  /** A domain that was looked up; costs a map entry. `entry` is the listed name, null when there is none. */
  note(domain: Domain, zone: string, entry: string | null, mail: Mail): void;
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
  readonly store: Pick<Store, 'learn' | 'listHosts'>;
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
const BARRED_TTL_MS = 6 * 3_600_000;
/** A listed name is answered before DNS is; its mail is looked for with so many flushes. */
const MOST_TRIES = 3;

interface Seen {
  readonly domain: Domain;
  readonly zone: string;
  readonly entry: string | null;
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
  /** Zone to the day on which it was noted: each is looked at once a day. */
  readonly #noted = new LRUCache<string, string>({ max: 50_000 });
  /** Providers, by suffix, and hosts of protected names whose addresses were asked for. */
  readonly #barred = new LRUCache<string, true>({ max: 5_000, ttl: BARRED_TTL_MS });
  readonly #timers: readonly NodeJS.Timeout[];
  #pending: Seen[] = [];
  #guests: Guest[] = [];
  #shared = new Set<string>();
  #writing: Promise<void> = Promise.resolve();
  #records: readonly HostRecord[] = [];
  #infra: Infra;

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

  note(domain: Domain, zone: string, entry: string | null, mail: Mail): void {
    const tells = mail.state === 'mx' || (entry !== null && mail.state === 'not_asked');
    if (!tells || mail.stale) return;
    const day = dayOf(this.#parts.clock());
    if (this.#noted.get(zone) === day || this.#pending.length >= MOST_PENDING) return;
    this.#noted.set(zone, day);
    this.#pending.push({ domain, zone, entry, mail, tries: 0 });
    if (this.#pending.length === 1) setTimeout(() => this.#countPending(0), SOON_MS).unref();
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
    const records = await store.listHosts(LEARNING.fewestFlaggedUnderListed, MOST_LEARNED);
    let under: Catalog;
    let infra: Infra;
    do {
      under = catalog();
      infra = await inTurns(this.#folding(records, under));
    } while (under !== catalog());
    this.#records = records;
    this.#infra = infra;
  }

  *adopting(next: Catalog): Steps<() => void> {
    const records = this.#records;
    const infra = yield* this.#folding(records, next);
    return () => {
      // Newer records came while the steps were taken: they must not be lost, and it happens once in a long while.
      this.#infra = records === this.#records ? infra : allAtOnce(this.#folding(this.#records, next));
    };
  }

  #folding(records: readonly HostRecord[], catalog: Catalog): Steps<Infra> {
    return foldingInfra(records, catalog, host => this.#parts.addresses.known(host));
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    await this.flush().catch(this.#parts.onError);
  }

  async #write(): Promise<void> {
    this.#countPending(1);
    const guests = this.#guests;
    const shared = this.#shared;
    if (guests.length === 0 && shared.size === 0) return;
    this.#guests = [];
    this.#shared = new Set();
    const now = this.#parts.clock();
    const sinceDay = dayOf(now - LEARNING.keptDays * DAY_MS);
    try {
      await this.#parts.store.learn(guests, [...shared], dayOf(now), sinceDay);
    } catch (error) {
      this.#guests = [...guests, ...this.#guests].slice(0, MOST_GUESTS);
      for (const name of shared) this.#shared.add(name);
      throw error;
    }
  }

  /** `tries` are charged to names whose mail is not known yet. */
  #countPending(tries: number): void {
    const pending = this.#pending;
    this.#pending = [];
    for (const seen of pending) {
      const mail = seen.mail.state === 'mx' ? seen.mail : this.#parts.resolver.last(seen.domain);
      if (mail) this.#count(seen, mail);
      else if (seen.tries < MOST_TRIES) this.#pending.push({ ...seen, tries: seen.tries + tries });
      else this.#noted.delete(seen.zone);
    }
  }

  #count({ domain, zone, entry }: Seen, { exchanges }: Mail): void {
    const catalog = this.#parts.catalog();
    const day = dayOf(this.#parts.clock());
    for (const { host } of exchanges.slice(0, LEARNING.mostExchanges)) {
      if (!isLearnable(host, catalog)) {
        // One host speaks for a provider's suffix: there may be one per customer.
        this.#bar(catalog.providers.match(host)?.suffix ?? host, host);
      } else if (catalog.isProtected(domain)) {
        this.#shared.add(host);
        this.#bar(host, host);
      } else if (lineage(host).at(-1) !== zone) {
        // Own hosts count for nobody: they say nothing about others, and their address may be anybody's.
        this.#take({ host, domain: zone, entry, day });
      }
    }
  }

  #take(guest: Guest): void {
    this.#add(guest);
    this.#parts.addresses.want(guest.host, found => {
      for (const host of found) this.#add({ ...guest, host });
    });
  }

  #add(guest: Guest): void {
    if (this.#guests.length < MOST_GUESTS) this.#guests.push(guest);
  }

  #bar(name: string, host: string): void {
    if (this.#barred.has(name)) return;
    this.#barred.set(name, true);
    this.#parts.addresses.want(host, found => {
      for (const address of found) this.#shared.add(address);
    });
  }
}
