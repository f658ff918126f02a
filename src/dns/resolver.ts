/** The resolver: answers from memory, asks once per name in fair turns, and serves old answers in trouble. */

import { type Domain, isHostName, registrableDomain } from '../core/domain.ts';
import { MAIL_NOT_ASKED, MAIL_UNKNOWN, type Mail } from '../core/mail.ts';
import type { Resolver, ResolverHealth, Ticks } from '../core/ports.ts';
import { isSpecialUse } from '../core/special-use.ts';
import type { HostAddresses, Unheard } from '../core/whereabouts.ts';
import { type Answered, ask } from './ask.ts';
import { type DnsCounters, newCounters, type QuestionOutcome } from './counters.ts';
import { type TtlLimits, UNHEARD, UNKNOWN } from './finding.ts';
import { type FlightCaps, Flights, flightsWithin, shareOf } from './flights.ts';
import { type Inquiry, inquire, inquireAddresses, type Put } from './inquiry.ts';
import { Memory, type MemoryCaps } from './memory.ts';
import { Servers } from './servers.ts';

export interface DnsCaps extends FlightCaps, MemoryCaps {
  /** Hosts whose addresses are being asked in the background, counted apart from lookups. */
  readonly addressesInFlight: number;
  /** For both questions about one of them: nobody waits for these, and whoever answers late must not go unknown. */
  readonly addressesMs: number;
  readonly ttl: TtlLimits;
}

/**
 * A lookup beyond the places waits for one, and a slow one that has to make room for others is unknown.
 *
 * Half of the places are as many as one key can have, so that two keys are needed to make others wait, and those wait
 * for milliseconds: names that never answer leave after `soonMs`, 64 of them some 430 times a second. The slow room
 * holds almost twice what 100 of them a second need (1.65 s each), and of one key a third more than they need.
 * Background work is shared in the same way, though none of it waits: one key's names that never answer, however many,
 * leave three quarters of its places to others.
 */
export const DNS_CAPS: DnsCaps = Object.freeze({
  places: Object.freeze({ most: 128, perZone: 4, perKey: 64 }),
  slow: Object.freeze({ most: 320, perZone: 16, perKey: 224 }),
  background: Object.freeze({ most: 64, perZone: 4, perKey: 16 }),
  slowBackground: Object.freeze({ most: 96, perZone: 8, perKey: 32 }),
  soonMs: 150,
  budgetMs: 1_800,
  addressesInFlight: 96,
  addressesMs: 5_000,
  cacheEntries: 50_000,
  cacheBytes: 32 * 2 ** 20,
  failureMemoMs: 30_000,
  staleMs: 72 * 3_600_000,
  ttl: Object.freeze({
    positive: Object.freeze({ least: 300, most: 86_400 }),
    negative: Object.freeze({ least: 300, most: 3_600 }),
  }),
});

export interface ResolverOptions {
  /** `ip`, `ip:port` or `[ipv6]:port`; the system's when undefined. */
  readonly servers?: readonly string[] | undefined;
  /** The process's own where left out: what is kept must not live longer or shorter because a clock was set. */
  readonly ticks?: Ticks | undefined;
  readonly caps?: Partial<DnsCaps>;
  /** That it may have open at a time. */
  readonly sockets?: number;
  /** Names that certainly receive mail, by which servers prove themselves; none: every server is believed. */
  readonly sentinels?: readonly string[];
  /** Told when other servers are believed than before. */
  readonly changed?: (() => void) | undefined;
  /** Told of every question when it ended. */
  readonly observe?: ((outcome: QuestionOutcome, seconds: number) => void) | undefined;
  /** Told of faults in our own code: what was asked is unknown then. */
  readonly failed?: ((error: unknown) => void) | undefined;
}

export interface DnsResolver extends Resolver {
  readonly counters: DnsCounters;
}

export function createResolver(options: ResolverOptions): DnsResolver {
  return new CachingResolver(options);
}

/** In whose places names are refreshed that somebody asks for, whoever that is: no key has this id. */
const REFRESHES = 'refresh';

class CachingResolver implements DnsResolver {
  readonly counters = newCounters();
  readonly share: number;
  readonly #caps: DnsCaps;
  readonly #observe: ResolverOptions['observe'];
  readonly #failed: ResolverOptions['failed'];
  readonly #servers: Servers;
  readonly #memory: Memory;
  readonly #flights: Flights;
  readonly #addressing = new Map<string, Inquiry<HostAddresses | Unheard | undefined>>();
  #isClosed = false;

  constructor(options: ResolverOptions) {
    const ticks = options.ticks ?? (() => performance.now());
    const { sockets = Number.POSITIVE_INFINITY } = options;
    this.share = shareOf(sockets);
    this.#caps = { ...DNS_CAPS, ...flightsWithin(DNS_CAPS, this.share), ...options.caps };
    this.#observe = options.observe;
    this.#failed = options.failed;
    this.#memory = new Memory(this.#caps, ticks);
    this.#servers = new Servers({
      ...{ list: options.servers, ticks, sentinels: options.sentinels ?? [], sockets },
      drop: (since, lied) => this.#memory.drop(since, lied),
      forget: name => this.#memory.forget(name),
      changed: () => options.changed?.(),
    });
    this.#flights = new Flights(this.#caps, this.#fly);
  }

  peek(domain: Domain): Mail | undefined {
    const mail = this.#memory.recall(domain, this.#refresh);
    if (mail === undefined) return undefined;
    if (mail.stale) this.counters.stale += 1;
    else this.counters.hits += 1;
    return mail;
  }

  last(domain: Domain): Mail | undefined {
    return this.#memory.last(domain);
  }

  async resolve(domain: Domain, keyId: string): Promise<Mail> {
    if (isSpecialUse(domain)) return MAIL_NOT_ASKED;
    const cached = this.peek(domain);
    if (cached) return cached;
    const joined = this.#flights.joined(domain, keyId);
    this.counters[joined ? 'joined' : 'misses'] += 1;
    const mail = await (joined ?? this.#flights.ask(domain, zoneOf(domain), keyId));
    if (mail) return mail;
    this.counters.capped += 1;
    return this.#inTrouble(domain);
  }

  isSilent(domain: Domain): boolean {
    const failures = this.#memory.failures(domain);
    return failures !== undefined && this.#servers.haveAnswered(failures.first, failures.last);
  }

  prefetch(domain: Domain, keyId: string): void {
    if (isSpecialUse(domain) || this.#memory.isSettled(domain)) return;
    this.#askInBackground(domain, keyId);
  }

  async addressesOf(host: string, giveUp?: AbortSignal): ReturnType<Resolver['addressesOf']> {
    const running = this.#addressing.get(host);
    if (running) return running.result;
    if (this.#isClosed || this.#addressing.size >= this.#caps.addressesInFlight) return 'given_up';
    if (!isHostName(host) || isSpecialUse(host)) return undefined;
    const inquiry = inquireAddresses(this.#put, host, this.#caps.addressesMs);
    this.#addressing.set(host, inquiry);
    giveUp?.addEventListener('abort', inquiry.cancel, { once: true });
    try {
      return await inquiry.result;
    } catch (error) {
      this.#failed?.(error);
      return undefined;
    } finally {
      this.#addressing.delete(host);
    }
  }

  isDoubted(at: number): boolean {
    return this.#memory.isDoubted(at);
  }

  health(): ResolverHealth {
    const servers = this.#servers.health();
    const degraded = servers.every(({ healthy, problem }) => !healthy || problem !== null);
    const { asking, slow, waiting } = this.#flights.counts;
    return { servers, degraded, inFlight: asking, slow, waiting, cached: this.#memory.size };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#servers.close();
    const addressing = [...this.#addressing.values()];
    for (const inquiry of addressing) inquiry.cancel();
    await Promise.allSettled([this.#flights.close(), ...addressing.map(({ result }) => result)]);
  }

  readonly #refresh = (domain: string): boolean => this.#askInBackground(domain, REFRESHES);

  #askInBackground(domain: string, key: string): boolean {
    const outcome = this.#flights.askInBackground(domain, zoneOf(domain), key);
    if (outcome === 'begun') this.counters.background += 1;
    return outcome !== 'full';
  }

  readonly #fly = (domain: string): Inquiry<Mail> => {
    const { result, cancel } = inquire(this.#put, domain, this.#caps.budgetMs, this.#caps.ttl);
    const mail = result
      .then(finding => {
        if (finding === UNHEARD) return this.#inTrouble(domain);
        if (finding === UNKNOWN) this.#servers.doubt();
        const kept = this.#memory.keep(domain, finding, this.#servers.troubleAt);
        if (kept.stale) this.counters.stale += 1;
        return kept;
      })
      // The last line of defence: nothing that a domain's owner sends may end the process.
      .catch(error => {
        this.#failed?.(error);
        return this.#inTrouble(domain);
      });
    return { result: mail, cancel };
  };

  readonly #put: Put = (name, type, withinMs, isDoubtful) => {
    const startedAt = performance.now();
    const patienceMs = this.#caps.budgetMs / 4;
    const asking = ask(this.#servers, { name, type, withinMs, patienceMs, isDoubtful });
    void asking.answered.then(answered => {
      const outcome = outcomeOf(answered);
      this.counters.questions[outcome] += 1;
      this.#observe?.(outcome, (performance.now() - startedAt) / 1_000);
    });
    return asking;
  };

  #inTrouble(domain: string): Mail {
    const mail = this.#memory.last(domain) ?? MAIL_UNKNOWN;
    if (mail.stale) this.counters.stale += 1;
    return mail;
  }
}

/** By the whole public suffix list: below a shared suffix such as eu.org every customer has name servers of his own. */
function zoneOf(domain: string): string {
  return registrableDomain(domain) ?? domain;
}

function outcomeOf(answered: Answered): QuestionOutcome {
  if ('failure' in answered) return answered.failure;
  return answered.found.kind === 'none' && answered.found.nxdomain ? 'nxdomain' : 'answer';
}
