/** Guests → hosts → what lookups know of them. Learns off the hot path which mail hosts are disposable ones. */

import type { Catalog } from './core/catalog.ts';
import { sparing } from './core/deciding.ts';
import type { Domain } from './core/domain.ts';
import { Established } from './core/established.ts';
import { FairCache } from './core/fair-cache.ts';
import { type HostRecord, LEARNING } from './core/guest.ts';
import { GuestBook } from './core/guest-book.ts';
import { HostsMet } from './core/hosts-met.ts';
import type { Infra } from './core/infra.ts';
import { foldingInfra, NOTHING_LEARNED } from './core/infra-folding.ts';
import { lru } from './core/lru.ts';
import { type Exchange, MAIL_NOT_ASKED, type Mail, receives, triedOf } from './core/mail.ts';
import { Pending } from './core/pending.ts';
import type { Resolver, Store } from './core/ports.ts';
import { dayOf } from './core/quota.ts';
import { guestOf, type ListedAs, type Seen, type Sweeping, sightingOf } from './core/sighting.ts';
import type { Steps } from './core/steps.ts';
import { SweptNames } from './core/swept.ts';
import type { AddressBook } from './core/whereabouts.ts';
import { Noted } from './learn/noted.ts';
import { WhereaboutsBook, type WhereaboutsParts } from './learn/whereabouts.ts';

export interface Learn {
  /** What was learned by all servers on this store, at most a minute old. */
  infra(): Infra;
  /** A domain that was looked up by a key; costs a map entry. `listed` is null when no list names it. */
  note(domain: Domain, zone: string, listed: ListedAs | null, mail: Mail, by: string | Sweeping): void;
  /**
   * A key met these exchanges of a guest, which no table knows: addresses that are not known, or old, are asked for.
   * Whether all are known and have some.
   */
  meet(exchanges: readonly Exchange[], guest: string, by: string): boolean;
  /** From now on the addresses that verdicts hang on are always known, also behind a restart: for servers. */
  hold(): Promise<void>;
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

export interface LearnParts extends WhereaboutsParts {
  readonly store: WhereaboutsParts['store'] &
    Pick<Store, 'learn' | 'readHosts' | 'sharedNames' | 'established' | 'sweepMark'>;
  readonly resolver: Pick<Resolver, 'last'>;
  readonly addresses: AddressBook;
  readonly catalog: () => Catalog;
  readonly isClockBelieved: (lists: Catalog) => boolean;
  readonly onError: (error: unknown) => void;
}

const DAY_MS = 86_400_000;
/** After an answer, not within it; then addresses are asked, so that the next lookup may know them. */
const SOON_MS = 20;
const FLUSH_MS = 1_000;
const RELOAD_MS = 60_000;
/** Beyond these the rest is dropped: what is worth learning is seen again. */
const MOST_PENDING = 5_000;
const MOST_LEARNED = 20_000;
const MOST_HELD_BY_NAME = 5_000;
const MOST_BARRED = 5_000;
/** As many as addresses are kept of; most have some seventy characters, and a key with the longest ones 15 MB of them. */
const MOST_LAST_HOSTS = 20_000;
/** In whose row a sweep's hosts wait for their addresses: no key has this id. */
const SWEEP = 'sweep';
/** A listed name is answered before DNS is; its mail is looked for with so many flushes. */
const MOST_TRIES = 3;

export async function createLearn(parts: LearnParts): Promise<Learn> {
  const learner = new Learner(parts);
  await learner.reload();
  return learner;
}

class Learner implements Learn {
  readonly #parts: LearnParts;
  readonly #noted = new Noted();
  readonly #guestBook: GuestBook;
  readonly #timers: readonly NodeJS.Timeout[];
  readonly #pending = new Pending<Seen>(MOST_PENDING);
  readonly #hostsMet: HostsMet;
  readonly #whereabouts: WhereaboutsBook;
  #isSoon = false;
  #isHolding = false;
  #writing: Promise<void> = Promise.resolve();
  #records: Iterable<HostRecord> = [];
  /** What innocents share, as of the last reading; up to 3 MB of names, which are not the same only when others were seen. */
  #sharedNames = '';
  #spared: ReadonlySet<string> = new Set();
  #established = new Established();
  #infra: Infra = NOTHING_LEARNED;
  #swept = new SweptNames(undefined);

  constructor(parts: LearnParts) {
    this.#parts = parts;
    this.#guestBook = new GuestBook(parts.addresses, lru(MOST_BARRED));
    this.#hostsMet = new HostsMet(parts.addresses, new FairCache(MOST_LAST_HOSTS, ''));
    this.#whereabouts = new WhereaboutsBook(parts);
    const every = (ms: number, work: () => Promise<void>) =>
      setInterval(() => void work().catch(parts.onError), ms).unref();
    this.#timers = [every(FLUSH_MS, () => this.flush()), every(RELOAD_MS, () => this.reload())];
  }

  infra(): Infra {
    return this.#infra;
  }

  note(domain: Domain, zone: string, listed: ListedAs | null, mail: Mail, by: string | Sweeping): void {
    const tells = receives(mail) || (listed !== null && mail.state === 'not_asked');
    // Whoever is asked for less often than its answer is fresh is met by an old one every time, and a new one is on its way.
    const isOnItsWay = mail.stale && listed !== null;
    if (!tells || (mail.stale && !isOnItsWay)) return;
    const now = this.#parts.clock();
    const sighting = sightingOf(domain, zone, listed, by);
    const row = typeof by === 'string' ? by : SWEEP;
    if (this.#noted.has(sighting, dayOf(now), now) || !this.#pending.hasRoom(row)) return;
    this.#noted.add(sighting, dayOf(now), now);
    this.#soon();
    this.#pending.add({ ...sighting, by: row, mail: isOnItsWay ? MAIL_NOT_ASKED : mail, tries: 0 }, row);
  }

  meet(exchanges: readonly Exchange[], guest: string, by: string): boolean {
    const catalog = this.#parts.catalog();
    const areKnown = this.#hostsMet.meet(exchanges, guest, by, catalog);
    if (this.#hostsMet.size > 0) this.#soon();
    if (this.#infra.hangsOnAddresses(exchanges, catalog)) this.#whereabouts.note(exchanges, guest, by);
    return areKnown;
  }

  hold(): Promise<void> {
    this.#isHolding = true;
    return this.#hold();
  }

  async #hold(): Promise<void> {
    const { addresses, inTurns } = this.#parts;
    const met = await this.#whereabouts.read();
    await inTurns(addresses.holding([...this.#infra.learnedHosts.slice(0, MOST_HELD_BY_NAME), ...met]));
  }

  #soon(): void {
    if (this.#isSoon) return;
    this.#isSoon = true;
    setTimeout(() => this.#countPending(0), SOON_MS).unref();
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
    this.#established = new Established(await store.established(dayOf(this.#parts.clock())));
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
    if (this.#isHolding) await this.#hold();
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
    return foldingInfra(records, catalog, dayOf(clock()), host => addresses.known(host), spared, {
      beside: host => addresses.beside(host),
      before: (host, guest) => this.#hostsMet.before(host, guest),
      isSilent: host => addresses.isSilent(host),
      established: this.#established,
    });
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    await this.flush().catch(this.#parts.onError);
  }

  async #write(): Promise<void> {
    this.#countPending(1);
    const page = this.#guestBook.turn();
    const now = this.#parts.clock();
    const sinceDay = dayOf(now - LEARNING.keptDays * DAY_MS);
    try {
      if (page) await this.#parts.store.learn(page.guests, page.shared, dayOf(now), sinceDay, page.listed);
    } catch (error) {
      this.#guestBook.putBack(page!);
      throw error;
    }
    await this.#whereabouts.write();
  }

  /** `tries` are charged to names whose mail is not known yet. */
  #countPending(tries: number): void {
    this.#isSoon = false;
    for (const seen of this.#pending.take()) {
      const mail = seen.mail.state === 'not_asked' ? this.#parts.resolver.last(seen.domain) : seen.mail;
      const isOver = seen.tries >= MOST_TRIES;
      if (isOver) this.#noted.delete(seen);
      if (mail && (isOver || !mail.stale)) this.#enter(seen, mail);
      else if (!isOver) this.#pending.add({ ...seen, tries: seen.tries + tries }, seen.by);
    }
    this.#hostsMet.ask();
  }

  #enter(seen: Seen, mail: Mail): void {
    const catalog = this.#parts.catalog();
    // Who is denied may be so for a moment, or by one resolver of several, and is nowhere else for that (2026-11-18).
    if (!receives(mail) || !this.#parts.isClockBelieved(catalog)) return;
    const visitor = { ...seen, guest: guestOf(seen, this.#swept, catalog, this.#parts.clock()) };
    // Whoever answers too late each time was not where it answers in time: it had a hoster flagged by that (2026-11-18).
    if (mail.stale) this.#guestBook.look(visitor, mail.exchanges, catalog);
    else this.#guestBook.enter(visitor, seen.listed ? mail.exchanges : triedOf(seen.domain, mail), catalog);
  }
}
