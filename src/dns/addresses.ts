/** The addresses of mail hosts as far as they are known: asked in the background, a few at a time, and asked again in time. */

import { registrableDomain } from '../core/domain.ts';
import { FairCache } from '../core/fair-cache.ts';
import { LEARNING } from '../core/guest.ts';
import { lru } from '../core/lru.ts';
import type { Resolver, Ticks } from '../core/ports.ts';
import { STEP, type Steps } from '../core/steps.ts';
import type { AddressBook, HostAddresses } from '../core/whereabouts.ts';
import { startDeadline } from './deadline.ts';
import { type PlaceCaps, partOf } from './places.ts';
import { type Slow, SlowRoom } from './slow-room.ts';
import { type Take, type Wanted, WantedHosts } from './wanted.ts';

const HOUR_MS = 3_600_000;
/** Less than a day, so that what is met every day is always asked before anybody wants it. */
const RENEWED_AFTER_MS = 20 * HOUR_MS;
/** Sooner where the owner says so, who may have another for everybody else by then. Held hosts are 2.8 a second so. */
const RENEWED_EARLIEST_MS = HOUR_MS;
/** A host without any may have one soon, and where asking failed an answer may come. */
const SOON_MS = HOUR_MS / 6;
/** Where asking again fails, what was known counts for so long (as RFC 8767 has it for other answers). */
const STALE_MS = 72 * HOUR_MS;
const MOST_KEPT = 20_000;
/** Learned hosts, and those that others have met at learned addresses. */
const MOST_HELD = 10_000;
/** Of so many domains so many hosts are found beside each other, those that were asked for last. */
const MOST_DOMAINS = 5_000;
const MOST_BESIDE = 8;
/** That may still be answered soon. */
const AT_ONCE = 8;
const SOON_ANSWERED_MS = 150;
/** Beside them those that were not: whoever has mail hosts that keep silent must not hold up the addresses of everybody. */
const SLOW: PlaceCaps = { most: 64, perZone: 16, perKey: 48 };
/** In whose row hosts are that are held: no key has this id. */
const HELD = 'held';

/** Those of IPv4 first: they are what every sender has. */
function byVersion(a: string, b: string): number {
  return Number(a.includes(':')) - Number(b.includes(':')) || (a < b ? -1 : 1);
}

/** Age alone takes nothing away: an answer must not change because nobody asked for a while. */
interface Known {
  /** Undefined where nobody could be asked so far, or nobody has answered. */
  readonly addresses: readonly string[] | undefined;
  /** Nobody has answered: not where it was given up, which whoever wants many others can have happen to any host. */
  readonly isSilent?: boolean;
  readonly answeredAt: number;
  readonly askAgainAt: number;
  /** The last answer was that there are none: these are those of the one before. */
  readonly isDenied?: boolean;
}

export class Addresses implements AddressBook {
  readonly #resolver: Pick<Resolver, 'addressesOf' | 'isDoubted'>;
  readonly #ticks: Ticks;
  readonly #known = new FairCache<Known>(MOST_KEPT, HELD);
  readonly #below = lru<readonly string[]>(MOST_DOMAINS);
  readonly #wanted = new WantedHosts();
  readonly #asking = new Set<Promise<void>>();
  readonly #atOnce: number;
  readonly #slow: SlowRoom;
  readonly #soonMs: number;
  #held: ReadonlySet<string> = new Set();

  constructor(
    resolver: Pick<Resolver, 'addressesOf' | 'isDoubted' | 'share'>,
    ticks: Ticks = () => performance.now(),
    /** Who is not answered by then makes room for others. */
    soonMs = SOON_ANSWERED_MS,
  ) {
    this.#resolver = resolver;
    this.#ticks = ticks;
    this.#soonMs = soonMs;
    // Or hosts that keep silent take all sockets from those who wait for an answer.
    const { share = 1 } = resolver;
    this.#atOnce = Math.ceil(AT_ONCE * share);
    this.#slow = new SlowRoom(partOf(SLOW, share));
  }

  known(host: string): readonly string[] | undefined {
    return this.#entry(host)?.addresses;
  }

  fresh(host: string): readonly string[] | undefined {
    const known = this.known(host);
    return known?.length === 0 && this.isDue(host) ? undefined : known;
  }

  age(host: string): number | undefined {
    const known = this.#entry(host);
    return known?.addresses && this.#ticks() - known.answeredAt;
  }

  /** What was said while servers lied is asked again. */
  #entry(host: string): Known | undefined {
    const known = this.#known.get(host);
    return known && this.#resolver.isDoubted(known.answeredAt) ? undefined : known;
  }

  beside(host: string): readonly string[] {
    return this.#below.get(registrableDomain(host) ?? host) ?? [];
  }

  isSilent(host: string): boolean {
    return this.#entry(host)?.isSilent === true;
  }

  isDue(host: string): boolean {
    const known = this.#entry(host);
    return !known || known.askAgainAt <= this.#ticks();
  }

  *holding(hosts: readonly string[]): Steps<undefined> {
    const held = new Set(hosts.slice(0, MOST_HELD));
    const before = this.#held;
    this.#held = held;
    let at = 0;
    for (const host of before.union(held)) {
      if (++at % STEP === 0) yield;
      // As it is now: others may be to be held since the last step.
      const isHeld = this.#held.has(host);
      this.#known.give(host, isHeld ? HELD : '');
      if (isHeld && this.isDue(host)) this.want(host, HELD, () => {});
    }
  }

  recall(host: string, addresses: readonly string[], agoMs: number): void {
    // Not in place of what was said while servers lied, either: they may have told all servers the same.
    if (this.#known.get(host)) return;
    const now = this.#ticks();
    this.#known.set(host, { addresses, answeredAt: now - agoMs, askAgainAt: now }, '');
    if (addresses.length > 0) this.#standBeside(host);
  }

  want(host: string, by: string, take: Take, anew?: 'anew'): void {
    const known = anew && this.isDue(host) ? undefined : this.fresh(host);
    if (known) take(known);
    if (!this.isDue(host)) {
      // Nobody answered a moment ago: as little is known as where nobody answers now.
      if (this.isSilent(host)) take([]);
      return;
    }
    this.#wanted.want(host, by, known ? [] : [take]);
    this.#askOn();
  }

  async settle(): Promise<void> {
    while (this.#asking.size > 0) await Promise.all(this.#asking);
  }

  #askOn(): void {
    while (this.#asking.size - this.#slow.size < this.#atOnce) {
      const next = this.#wanted.next();
      if (!next) return;
      const asking = this.#ask(...next).finally(() => {
        this.#asking.delete(asking);
        this.#askOn();
      });
      this.#asking.add(asking);
    }
  }

  async #ask(host: string, { keys, takers }: Wanted): Promise<void> {
    const [by] = keys;
    const patience = new AbortController();
    const zone = registrableDomain(host) ?? host;
    const slow: Slow = { zone, keys, giveUp: () => patience.abort() };
    const soon = startDeadline(this.#soonMs, () => {
      this.#slow.enter(slow);
      this.#askOn();
    });
    const told = await this.#resolver.addressesOf(host, patience.signal);
    soon.cancel();
    this.#slow.leave(slow);
    const found = typeof told === 'object' ? told : undefined;
    const known = found ? this.#answered(host, found) : this.#asBefore(host, told === undefined);
    // That no server is believed says nothing of a host.
    if (known.addresses || told !== 'distrusted')
      this.#known.set(host, known, this.#held.has(host) ? HELD : by!);
    if (found && found.addresses.length > 0) this.#standBeside(host);
    this.#wanted.done(host);
    // Of one that nobody was heard about it is not said that it is nowhere: the next behind it would be blamed.
    if (known.addresses || known.isSilent) for (const take of takers) take(known.addresses ?? []);
  }

  #standBeside(host: string): void {
    const others = this.beside(host).filter(other => other !== host);
    this.#below.set(registrableDomain(host) ?? host, [host, ...others.slice(0, MOST_BESIDE - 1)]);
  }

  /**
   * One bad moment must not make another host of it: that it has no address any more is believed the second time, and
   * half of an answer only where nothing else is known. Not never: whoever has those of IPv4 fail all the time would not
   * be found.
   */
  #answered(host: string, { addresses: found, isWhole, ttl }: HostAddresses): Known {
    const addresses = found.toSorted(byVersion).slice(0, LEARNING.mostAddresses + 1);
    const now = this.#ticks();
    const before = this.#asBefore(host);
    const hadSome = before.addresses !== undefined && before.addresses.length > 0;
    if (hadSome && !isWhole) return before;
    if (hadSome && found.length === 0 && !before.isDenied) return { ...before, isDenied: true };
    const renewedMs = Math.min(RENEWED_AFTER_MS, Math.max(RENEWED_EARLIEST_MS, ttl * 1_000));
    const keptMs = isWhole && found.length > 0 ? renewedMs : SOON_MS;
    return { addresses, answeredAt: now, askAgainAt: now + keptMs };
  }

  /** What was known, for as long as that counts, to be asked for again soon. */
  #asBefore(host: string, isSilent = false): Known {
    const now = this.#ticks();
    const before = this.#entry(host);
    const isUsable = before !== undefined && now - before.answeredAt < STALE_MS;
    const addresses = isUsable ? before.addresses : undefined;
    return {
      ...{ addresses, answeredAt: before?.answeredAt ?? now, askAgainAt: now + SOON_MS },
      isDenied: isUsable && before.isDenied === true,
      isSilent: !addresses && (isSilent || before?.isSilent === true),
    };
  }
}
