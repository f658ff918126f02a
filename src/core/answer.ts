/** From facts and mail to the answer: the evidence, its verdict, and what is counted of it. */

import { waitsForDns } from './corroboration.ts';
import type { Domain } from './domain.ts';
import type { Facts } from './facts.ts';
import type { GraphHost } from './graph.ts';
import type { Learned } from './learned.ts';
import { type Mail, triedOf } from './mail.ts';
import { isSpared } from './owned.ts';
import { isRented, LANDLORDS, type Receiver, type ReceiverKind } from './provider.ts';
import { roleWord } from './role.ts';
import { nearestOf } from './typo.ts';
import { type Evidence, judge, type Verdict } from './verdict.ts';

export interface Answer {
  readonly verdict: Verdict;
  readonly evidence: Evidence;
  /** The catalog's generation that every fact of this answer comes from. */
  readonly snapshot: string;
  /** Its hosts that listed domains share; made when somebody wants to see it. */
  readonly graph: () => readonly GraphHost[];
  /** The large mailbox provider that was most likely meant; looked for when somebody wants to know. */
  readonly didYouMean: () => string | undefined;
  /** DNS did not answer, nothing older is kept and no list or override decides. */
  readonly degraded: boolean;
  /** What the ranking counts; undefined when the verdict is safe. */
  readonly flag: { readonly domain: string; readonly listed: boolean } | undefined;
}

/** `isSilent` tells of a name without an answer whether that is its own fault. */
export function answerOf(facts: Facts, mail: Mail, isSilent: (domain: Domain) => boolean): Answer {
  const { domain, catalog, override, registrable, listing, row } = facts;
  const isWaiting = waitsForDns(facts);
  const receiver = row ?? catalog.providers.receiver(registrable, mail);
  const evidence: Evidence = {
    domain,
    override,
    lists: listing.hits,
    otherLists: listing.others,
    families: facts.families,
    namedDays: facts.namedDays,
    left: facts.left,
    popular: facts.popular,
    byItsSuffix: facts.byItsSuffix,
    typoOf: facts.typoOf,
    settled: isWaiting ? catalog.providers.settled(registrable, mail) : undefined,
    silent: isWaiting && mail.state === 'unknown' && isSilent(domain),
    specialUse: facts.specialUse,
    roleWord: roleWord(domain, registrable, catalog.roles),
    mail,
    receiver,
    wellKnown: row !== undefined,
    free: catalog.isFree(registrable),
    relay: facts.relay?.label,
    unheard:
      receiver !== undefined &&
      UNRECOGNISED.has(receiver.kind) &&
      facts.infra.isUnheard(domain, mail.exchanges, catalog),
    learned: canBeLearned(facts, mail, receiver) ? byInfra(facts, mail) : undefined,
  };
  const verdict = judge(evidence);
  return {
    verdict,
    evidence,
    snapshot: catalog.generation,
    graph: () => facts.infra.graph(triedOf(domain, mail), catalog),
    didYouMean: () => didYouMean(facts, verdict),
    degraded: mail.state === 'unknown' && listing.hits.length === 0 && override === undefined,
    flag: flagOf(facts, verdict),
  };
}

/** Never where many people use the name: they mean what they type. */
function didYouMean(facts: Facts, { reason }: Verdict): string | undefined {
  const { domain, catalog, registrable, listing, typoOf } = facts;
  if (catalog.isPanel(registrable)) return undefined;
  if (listing.hits.length > 0) return typoOf;
  return reason === 'undeliverable' ? nearestOf(domain, catalog.meant) : undefined;
}

/** Only hosts that no table knows can be learned. */
const UNRECOGNISED: ReadonlySet<ReceiverKind> = new Set<ReceiverKind>(['third_party', 'self_hosted']);

/**
 * A known host before or beside others need not exist, and vetoes nothing: who is received by a platform has all of his
 * exchanges there, or others that nobody learned.
 */
export function canBeLearned({ catalog }: Facts, mail: Mail, receiver: Receiver | undefined): boolean {
  if (!receiver) return mail.exchanges.length > 0 || mail.state === 'implicit_mx';
  if (UNRECOGNISED.has(receiver.kind)) return true;
  if (receiver.hosts.length >= mail.exchanges.length && !LANDLORDS.has(receiver.kind)) return false;
  return mail.exchanges.some(({ host }) => {
    const row = catalog.providers.match(host);
    return !row || isRented(host, row);
  });
}

function byInfra(facts: Facts, mail: Mail): Learned | undefined {
  const { domain, catalog, infra, registrable } = facts;
  const learned =
    mail.state === 'implicit_mx'
      ? infra.findAt(domain, catalog)
      : infra.find(domain, registrable, mail.exchanges, catalog);
  if (!learned || catalog.isSurelyFree(registrable) || catalog.isPanel(registrable)) return undefined;
  return isSpared(domain, catalog) ? undefined : learned;
}

/**
 * `inbox.mailinator.com` counts for `mailinator.com`: the name that the list decided on. A protected name is never
 * ranked, whatever DNS says of it today; only an operator can want that.
 */
function flagOf({ domain, catalog, override, listing }: Facts, { reason }: Verdict): Answer['flag'] {
  if (reason === 'safe' || (override === undefined && catalog.isProtected(domain))) return undefined;
  const entry = reason === 'disposable' ? listing.hits[0]?.entry : undefined;
  return { domain: entry ?? domain, listed: entry !== undefined };
}
