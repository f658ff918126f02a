/** The judgement: facts in, score and reason out. Every point comes from a row of signals.ts. */

import type { ListHit } from './catalog.ts';
import { type Listed, type Received, type Weight, weigh } from './corroboration.ts';
import type { Domain } from './domain.ts';
import type { Learned } from './learned.ts';
import { learnedDetail, learnedSignal } from './learned-signals.ts';
import type { Override } from './override.ts';
import type { Receiver, ReceiverKind } from './provider.ts';
import { type Reason, SIGNALS, type SignalName } from './signals.ts';

/** A fact worth points, as `?explain=true` shows it. */
export interface Signal {
  readonly signal: string;
  readonly points: number;
  readonly detail: string;
}

export interface Verdict {
  readonly domain: Domain;
  readonly riskScore: number;
  readonly reason: Reason;
  readonly isFreeProvider: boolean;
  readonly isCorporateEmail: boolean;
  readonly mxProviderLabel: string | null;
  readonly signals: readonly Signal[];
}

/** The facts found about a domain. Gathering them is the work of facts.ts and answer.ts; here nothing is asked any more. */
export interface Evidence extends Listed, Received {
  readonly domain: Domain;
  readonly override: Override | undefined;
  /** Disposable feeds that name it or a parent, nearest entry first; empty where the protected list forbids it. */
  readonly lists: readonly ListHit[];
  /** What lists say beside that of the suffix above it, or of itself, and what counts for nothing. */
  readonly otherLists?: readonly ListHit[] | undefined;
  /** The large mailbox provider that somebody may have meant by a listed name. */
  readonly typoOf: string | undefined;
  readonly specialUse: boolean;
  /** A label below the registrable domain that is a name for automated mail. */
  readonly roleWord: string | undefined;
  /** Who receives the mail: from the exchanges, or for well-known domains from the table. */
  readonly receiver: Receiver | undefined;
  /** Answered from a table row for this very name, with no question to DNS. */
  readonly wellKnown: boolean;
  /** The registrable domain is a consumer webmail provider. */
  readonly free: boolean;
  /** The name of the privacy relay that the domain belongs to. */
  readonly relay: string | undefined;
  /** Where its mail hosts are, which no table knows, was asked for and never answered. */
  readonly unheard: boolean;
  /** All its mail is received by hosts that serve disposable domains, or its siblings are listed. */
  readonly learned: Learned | undefined;
}

/** The order of section "precedence": the first that speaks decides, and the last one always speaks. */
const PRECEDENCE: readonly ((evidence: Evidence) => readonly Found[] | undefined)[] = [
  byOperator,
  byLists,
  byMailTrouble,
  byDisposableHosts,
  byLearnedHosts,
  byDisposableExchange,
  byRoleWord,
  byMailConfiguration,
];

type Found = readonly [name: SignalName, detail: string];

export function judge(evidence: Evidence): Verdict {
  let found: readonly Found[] = [];
  for (const look of PRECEDENCE) {
    const spoken = look(evidence);
    if (!spoken) continue;
    found = spoken;
    break;
  }
  const signals = found.map(([signal, detail]) => ({ signal, points: SIGNALS[signal].points, detail }));
  const reason = SIGNALS[found[0]![0]].reason;
  const trusted = (reason === 'safe' || reason === 'role_account') && isDeliverable(evidence);
  const isFreeProvider = trusted && isFree(evidence) && evidence.relay === undefined;
  return {
    domain: evidence.domain,
    riskScore: signals.reduce((sum, { points }) => sum + points, 0),
    reason,
    isFreeProvider,
    isCorporateEmail: trusted && !isFreeProvider && isProfessional(evidence),
    mxProviderLabel: receiverOf(evidence)?.label ?? null,
    signals,
  };
}

function byOperator({ override }: Evidence): Found[] | undefined {
  if (!override) return undefined;
  // The note and its author are the operator's own business: callers see only that there is a decision.
  const reach = override.below ? ' and names below it' : '';
  return [[`operator_${override.action}`, `override for ${override.domain}${reach}`]];
}

/** Which signal each weight of the lists gives. */
const BY_WEIGHT: Readonly<Record<Weight, SignalName>> = {
  verified: 'verified_list',
  popular: 'popular_listing',
  two_families: 'two_families',
  registry: 'new_listing',
  one_family: 'one_family',
  unanswered: 'one_family',
  left: 'new_listing',
  new: 'new_listing',
};

const WHY: Readonly<Partial<Record<Weight, string>>> = {
  popular: ', but many people use it and no verified list names it itself',
  registry: ' only, and companies and others have names below it: not confirmed',
  unanswered: ' only, for less than 30 days, and DNS does not answer for it',
  left: ' only, was shown there for less than 30 days, and is no longer',
  new: ' only, for less than 30 days: not confirmed yet',
};

function byLists(evidence: Evidence): Found[] | undefined {
  const { lists } = evidence;
  if (lists.length === 0) return undefined;
  const { entry } = lists[0]!;
  const weight = weigh(evidence, evidence);
  const found: Found[] = [[BY_WEIGHT[weight], `${namedIn(lists)}${WHY[weight] ?? ''}`]];
  if (weight === 'popular') return found;
  const isFarm = evidence.byItsSuffix === 'free';
  if (weight === 'one_family' && !isFarm)
    found.push(['own_listing', `${entry} is named itself, not only a host above it`]);
  if (isFarm) found.push(['subdomain_farm', `${entry} gives names below it to anybody`]);
  if (evidence.typoOf !== undefined)
    found.push(['typo_domain', `one slip of the finger away from ${evidence.typoOf}`]);
  if (evidence.mail.state === 'nxdomain') found.push(['dead_name', 'the name does not exist']);
  return found;
}

/** Every list once, with the name that it has. */
function namedIn(lists: readonly ListHit[]): string {
  const feeds = new Set<string>();
  const named = new Map<string, string[]>();
  for (const { feed, entry } of lists) {
    if (!feeds.has(feed)) named.set(entry, [...(named.get(entry) ?? []), feed]);
    feeds.add(feed);
  }
  const [first, ...others] = [...named].map(([entry, those]) => [entry, those.join(', ')] as const);
  return [`${first![0]} is in ${first![1]}`, ...others.map(([entry, those]) => `${entry} in ${those}`)].join(
    '; ',
  );
}

function byMailTrouble(evidence: Evidence): Found[] | undefined {
  const { mail } = evidence;
  if (evidence.specialUse) return [['special_use', 'reserved name that is not in the public DNS']];
  if (mail.state === 'nxdomain') return [['nxdomain', 'the name does not exist']];
  if (mail.state === 'null_mx') return [['null_mx', 'the domain says that it accepts no mail (RFC 7505)']];
  if (mail.state === 'no_mail') return [['no_mail_host', 'no valid mail exchanger and no public address']];
  const receiver = receiverOf(evidence);
  return receiver?.kind === 'parked' ? [['parked', receivedBy(receiver)]] : undefined;
}

function byDisposableHosts(evidence: Evidence): Found[] | undefined {
  const receiver = receiverOf(evidence);
  return receiver?.kind === 'disposable' ? [['disposable_hosts', receivedBy(receiver)]] : undefined;
}

function byDisposableExchange(evidence: Evidence): Found[] | undefined {
  const receiver = receiverOf(evidence);
  return receiver?.kind === 'partly_disposable'
    ? [['disposable_exchange', `${receivedBy(receiver)}, beside others`]]
    : undefined;
}

function byLearnedHosts({ learned, mail }: Evidence): Found[] | undefined {
  if (!learned || learned.isBehind || (mail.state !== 'mx' && mail.state !== 'implicit_mx')) return undefined;
  return [[learnedSignal(learned), learnedDetail(learned)]];
}

function byRoleWord({ roleWord }: Evidence): Found[] | undefined {
  return roleWord === undefined ? undefined : [['role_word', `"${roleWord}" is a name for automated mail`]];
}

function byMailConfiguration(evidence: Evidence): Found[] {
  const { mail, relay, learned } = evidence;
  if (relay !== undefined && isDeliverable(evidence)) return [['privacy_relay', `address of ${relay}`]];
  if (mail.state === 'implicit_mx')
    return [['implicit_mx', 'no mail exchanger, only an address (RFC 5321 5.1)']];
  if (learned?.isBehind) return [['mail_unknown', `${learnedDetail(learned)}, behind others`]];
  const receiver = receiverOf(evidence);
  if (!receiver && mail.exchanges.length > 0)
    return [['mail_unknown', 'there are mail exchangers that are not looked at']];
  if (!receiver) return [['mail_unknown', 'who receives the mail is not known']];
  const detail = receivedBy(receiver);
  if (evidence.free && CONSUMER_WHEN_FREE.has(receiver.kind)) return [['consumer_webmail', detail]];
  if (evidence.unheard) return [['mail_unknown', `${detail}: nobody answers where these hosts are`]];
  const { kind } = receiver;
  // These receivers were judged before; the name keeps this total for the compiler.
  const isJudged = kind === 'parked' || kind === 'disposable' || kind === 'partly_disposable';
  const found: Found[] = [[isJudged ? 'third_party' : kind, detail]];
  if (COUNTS_EXCHANGES.has(receiver.kind) && receiver.hosts.length < 2)
    found.push(['single_exchange', 'one exchange only']);
  return found;
}

/** The same hosts serve consumers and companies (Zoho, Proton, Fastmail, Tuta, iCloud): the free list tells. */
const CONSUMER_WHEN_FREE: ReadonlySet<ReceiverKind> = new Set<ReceiverKind>([
  ...(['business_platform', 'security_gateway', 'consumer_webmail', 'mailbox_provider'] as const),
  ...(['self_hosted', 'third_party'] as const),
]);
const COUNTS_EXCHANGES: ReadonlySet<ReceiverKind> = new Set<ReceiverKind>(['self_hosted', 'third_party']);
const PROFESSIONAL: ReadonlySet<ReceiverKind> = new Set<ReceiverKind>([
  'business_platform',
  'security_gateway',
  'self_hosted',
]);

/** Only a definite answer or a table row names a receiver: DNS trouble never does. */
export function receiverOf({ mail, receiver, specialUse, wellKnown }: Evidence): Receiver | undefined {
  return !specialUse && (wellKnown || mail.state === 'mx') ? receiver : undefined;
}

export function isDeliverable(evidence: Evidence): boolean {
  if (evidence.specialUse || evidence.receiver?.kind === 'parked') return false;
  return evidence.wellKnown || evidence.mail.state === 'mx' || evidence.mail.state === 'implicit_mx';
}

/** By the lists, or because whoever surely receives its mail has mailboxes for consumers and nothing else. */
function isFree(evidence: Evidence): boolean {
  return evidence.free || (!evidence.learned && receiverOf(evidence)?.kind === 'consumer_webmail');
}

function isProfessional(evidence: Evidence): boolean {
  const receiver = receiverOf(evidence);
  if (evidence.relay !== undefined || evidence.free || evidence.learned || evidence.unheard) return false;
  return receiver !== undefined && PROFESSIONAL.has(receiver.kind);
}

function receivedBy({ label, hosts }: Receiver): string {
  const who = label ?? 'unrecognised hosts';
  return hosts.length === 0 ? `${who}, a well-known domain` : `${who} (${hosts.slice(0, 3).join(', ')})`;
}
