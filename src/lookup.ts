/** From a domain to its answer. The facts are core/facts.ts, the judging is core/answer.ts; here DNS joins them. */

import { type Answer, answerOf, canBeLearned } from './core/answer.ts';
import type { Catalog } from './core/catalog.ts';
import { dayAt } from './core/days.ts';
import type { Domain } from './core/domain.ts';
import { type Facts, factsOf, isCurrent, type Sources } from './core/facts.ts';
import type { Infra } from './core/infra.ts';
import { lru } from './core/lru.ts';
import { MAIL_NOT_ASKED, MAIL_UNKNOWN, type Mail, triedOf } from './core/mail.ts';
import type { Override } from './core/override.ts';
import type { Clock, Resolver } from './core/ports.ts';
import type { Learn } from './learn.ts';

export type { Answer };

export interface Lookup {
  /** At once whenever no DNS wait is needed: most lookups never leave this turn of the event loop. */
  lookup(domain: Domain, keyId: string): Answer | Promise<Answer>;
  /** Today's verdict from what is kept, with no question sent. */
  last(domain: Domain): Answer;
}

export interface LookupParts {
  readonly catalog: () => Catalog;
  readonly overrides: () => ReadonlyMap<string, Override>;
  readonly resolver: Resolver;
  readonly clock: Clock;
  /** What was learned about mail hosts. */
  readonly infra: () => Infra;
  /** Told whose mail is received where, for learning. */
  readonly note: Learn['note'];
  /** Told which hosts were met that no table knows. */
  readonly meet: Learn['meet'];
}

/**
 * Gathering and judging take 3 µs, remembering 0.3 (2026-11-15). Only names that were answered without waiting for DNS
 * are remembered: a name asked for once is not worth its room, and a flood of them would take the room of all others.
 */
const MOST_REMEMBERED = 20_000;

/**
 * An answer keeps its mail from being freed when the cache of DNS has let it go, so only short ones are remembered: 20
 * long hosts each of 22,000 names took 144 MiB (2026-11-16). Of the hosts' names together; five of Google's have 110.
 */
const MOST_HOST_CHARACTERS = 400;

/** What was found for a name, and what was answered last. */
interface Remembered {
  readonly facts: Facts;
  answer: Answer | undefined;
  /** Whose hosts' addresses are all known. */
  met: Mail | undefined;
}

/** What was found for the names that are asked for often. */
class Memory {
  readonly #names = lru<Remembered>(MOST_REMEMBERED);
  #from: Sources | undefined;

  /**
   * What was found stands while its sources do. Names that nobody asks for again would keep a catalog of 11 MB that was
   * replaced long ago, and what was learned as of every minute: 4 MiB a minute with 5,000 hosts (2026-11-16).
   */
  recall(domain: Domain, from: Sources): Remembered | undefined {
    if (this.#from && !isCurrent(this.#from, from)) this.#names.clear();
    this.#from = from;
    return this.#names.get(domain);
  }

  /** Only an override that ends makes it a matter of time. */
  remember(found: Remembered): void {
    const { domain, override } = found.facts;
    if ((override?.expiresAt ?? null) === null) this.#names.set(domain, found);
  }
}

export function createLookup(parts: LookupParts): Lookup {
  const { catalog, overrides, resolver, clock, infra, note, meet } = parts;
  const memory = new Memory();
  const isSilent = (domain: Domain) => resolver.isSilent(domain);
  const sources = (): Sources => ({
    catalog: catalog(),
    overrides: overrides(),
    infra: infra(),
    today: dayAt(clock()),
  });

  function lookup(domain: Domain, keyId: string): Answer | Promise<Answer> {
    const from = sources();
    const before = memory.recall(domain, from);
    const found: Remembered = before ?? {
      facts: factsOf(domain, from, clock()),
      answer: undefined,
      met: undefined,
    };
    const { asks } = found.facts;
    const fresh = asks === 'never' ? undefined : resolver.peek(domain);
    if (asks === 'wait' && !fresh) {
      return resolver.resolve(domain, keyId).then(mail => noted(found, mail, keyId));
    }
    if (!before) memory.remember(found);
    if (asks === 'never') return answered(found, MAIL_NOT_ASKED, isSilent);
    if (fresh) return noted(found, fresh, keyId);
    resolver.prefetch(domain, keyId);
    return noted(found, resolver.last(domain) ?? MAIL_NOT_ASKED, keyId);
  }

  /** An operator's word says nothing about a host's other guests, so such a name is no guest. */
  function noted(found: Remembered, mail: Mail, keyId: string): Answer {
    const { facts } = found;
    if (facts.override === undefined) note(facts.domain, facts.zone, facts.listed, mail, keyId);
    const given = answered(found, mail, isSilent);
    if (found.met !== mail) {
      const isKnown =
        !canBeLearned(facts, mail, given.evidence.receiver) ||
        meet(triedOf(facts.domain, mail), facts.domain, keyId);
      // Addresses stay known for longer than an answer about mail is kept.
      if (isKnown && !isLong(mail)) found.met = mail;
    }
    return given;
  }

  /** Remembers nothing: a ranking of thousands of names would push out the hot ones. */
  function last(domain: Domain): Answer {
    const facts = factsOf(domain, sources(), clock());
    if (facts.asks === 'never') return answerOf(facts, MAIL_NOT_ASKED, isSilent);
    const nothing = facts.asks === 'wait' ? MAIL_UNKNOWN : MAIL_NOT_ASKED;
    return answerOf(facts, resolver.last(domain) ?? nothing, isSilent);
  }

  return { lookup, last };
}

/** The answer that was given last, while its mail is the same. */
function answered(found: Remembered, mail: Mail, isSilent: Resolver['isSilent']): Answer {
  if (found.answer?.evidence.mail === mail) return found.answer;
  const fresh = answerOf(found.facts, mail, isSilent);
  // Addresses of unrecognised hosts become known behind an answer, and the next one must use them. Whether silence
  // tells anything is known later.
  const isOpen = found.met !== mail && canBeLearned(found.facts, mail, fresh.evidence.receiver);
  const isAddressed = fresh.evidence.receiver?.kind === 'third_party' || mail.state === 'implicit_mx';
  found.answer = isOpen || isAddressed || mail.state === 'unknown' || isLong(mail) ? undefined : fresh;
  return fresh;
}

function isLong({ exchanges }: Mail): boolean {
  return exchanges.reduce((sum, { host }) => sum + host.length, 0) > MOST_HOST_CHARACTERS;
}
