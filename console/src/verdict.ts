/** What scores, reasons, signals and states of DNS mean, in words: one row each. */

import type { DomainRisk, Evidence } from './api.ts';

export type Reason = DomainRisk['reason'];
export type DnsState = Evidence['dns']['state'];

export interface Band {
  readonly name: 'accept' | 'look' | 'warn' | 'block' | 'confirmed';
  readonly from: number;
  readonly to: number;
  readonly word: string;
  /** Where there is little room. */
  readonly short: string;
  readonly advice: string;
}

export const BANDS: readonly Band[] = [
  { name: 'accept', from: 0, to: 29, word: 'Accept', short: 'Accept', advice: 'Allow it.' },
  {
    name: 'look',
    from: 30,
    to: 49,
    word: 'Review',
    short: 'Review',
    advice: 'Allow, but review if it matters.',
  },
  { name: 'warn', from: 50, to: 79, word: 'Warn', short: 'Warn', advice: 'Ask for another address.' },
  { name: 'block', from: 80, to: 99, word: 'Block', short: 'Block', advice: 'Refuse it.' },
  {
    name: 'confirmed',
    from: 100,
    to: 100,
    word: 'Block (confirmed)',
    short: 'Confirmed',
    advice: 'Refuse it: this is confirmed.',
  },
];

export const bandOf = (score: number): Band => BANDS.findLast(band => score >= band.from) ?? BANDS[0]!;

export const REASON_WORDS: Readonly<Record<Reason, string>> = {
  safe: 'Safe',
  disposable: 'Disposable',
  undeliverable: 'Undeliverable',
  role_account: 'Role account',
};

/** Without DNS nothing is known of a name that looks safe; other reasons were found without. */
export const isNeutral = (reason: Reason, degraded: boolean) => degraded && reason === 'safe';

/** What a score without DNS must not be called. */
export const reasonWord = (reason: Reason, degraded: boolean) =>
  isNeutral(reason, degraded) ? 'Unknown' : REASON_WORDS[reason];

const TEMPORARY = 'A temporary-inbox service: anyone can create an address and discard it.';
const NO_RISK = 'No risk signals found';

type Sentence = (risk: DomainRisk) => string;
const listed: Sentence = ({ evidence }) => {
  const count = new Set(evidence?.lists.map(({ feed }) => feed)).size;
  return `Named by ${count === 1 ? 'one list' : `${count} lists`} of disposable email domains.`;
};
/** The detail tells it exactly: a count may be "100 or more". */
const shared: Sentence = ({ evidence }) => {
  const told = /for (\d+(?: or more)?) listed/.exec(evidence?.signals[0]?.detail ?? '')?.[1];
  return `Shares its mail server with ${told ?? 'other'} disposable ${told === '1' ? 'domain' : 'domains'}.`;
};
const receivedBy =
  (what: string): Sentence =>
  ({ mx_provider_label }) =>
    `${NO_RISK}. ${what}${mx_provider_label ? `: ${mx_provider_label}` : ''}.`;

/** The first signal in a plain sentence; one without a row is told by its reason. */
export const SENTENCES: Readonly<Record<string, string | Sentence>> = {
  operator_allow: 'Allowed by an operator of this service.',
  operator_deny: 'Blocked by an operator of this service.',
  operator_role: 'Marked as a role account by an operator of this service.',
  verified_list: TEMPORARY,
  two_families: listed,
  one_family: listed,
  new_listing: 'A list named it recently. Nobody has confirmed it yet.',
  popular_listing: 'A list names it, but many people use it and no verified list does.',
  special_use: 'A reserved name that cannot receive mail.',
  nxdomain: 'This domain does not exist.',
  null_mx: 'This domain declares that it accepts no mail.',
  no_mail_host: 'This domain has no mail server.',
  parked: 'This domain is parked and receives no mail.',
  disposable_hosts: 'Its mail goes to a disposable email service.',
  disposable_exchange: 'Some of its mail goes to a disposable email service.',
  few_listed_guests: 'Some domains that share its mail servers are disposable.',
  earlier_guest: 'Disposable domains share its mail servers, but this domain is established there.',
  learned_hosts: shared,
  learned_addresses: shared,
  listed_exchange: 'Its mail server belongs to a disposable email domain.',
  listed_siblings: 'Other names below the same domain are disposable.',
  role_word: 'Set aside for automated mail, not for people.',
  security_gateway: receivedBy('Mail passes a security gateway'),
  business_platform: receivedBy('Mail is hosted by a business platform'),
  consumer_webmail: receivedBy('A consumer mailbox provider'),
  mailbox_provider: receivedBy('A mailbox provider'),
  hosting: receivedBy('Mail is hosted by a hosting company'),
  self_hosted: `${NO_RISK}. It runs its own mail servers.`,
  third_party: `${NO_RISK}. Its mail provider is not one that we recognise.`,
  transactional: 'Its mail goes to an inbound-parse service, not to a mailbox.',
  privacy_relay: 'A privacy relay: real people with hidden addresses.',
  forwarding: 'Its mail is forwarded, so little is known about the mailbox.',
  implicit_mx: 'It has no mail server of its own, only an address.',
  mail_unknown: 'Not flagged, but little is known about its mail servers.',
};

const BY_REASON: Readonly<Record<Reason, string>> = {
  safe: `${NO_RISK}.`,
  disposable: TEMPORARY,
  undeliverable: 'This domain cannot receive mail.',
  role_account: 'Set aside for automated mail, not for people.',
};

/** The answer in one plain sentence. */
export function headline(risk: DomainRisk, degraded: boolean): string {
  if (isNeutral(risk.reason, degraded)) return 'Unknown. DNS did not answer, so this is a neutral score.';
  const told = SENTENCES[risk.evidence?.signals[0]?.signal ?? ''] ?? BY_REASON[risk.reason];
  return typeof told === 'string' ? told : told(risk);
}

export const SIGNAL_WORDS: Readonly<Record<string, string>> = {
  operator_allow: 'Allowed by an operator',
  operator_deny: 'Denied by an operator',
  operator_role: 'Marked as role account by an operator',
  verified_list: 'On a verified list',
  two_families: 'On lists of two kinds',
  one_family: 'On lists of one kind',
  own_listing: 'Listed by its own name',
  new_listing: 'Listed recently, not confirmed',
  popular_listing: 'Listed, but widely used',
  subdomain_farm: 'Below a host that gives away subdomains',
  typo_domain: 'Typo of a large mailbox provider',
  dead_name: 'Does not exist in DNS',
  special_use: 'Reserved name',
  nxdomain: 'Does not exist',
  null_mx: 'Declares that it accepts no mail',
  no_mail_host: 'No mail server',
  parked: 'Parked',
  disposable_hosts: 'Received by disposable mail hosts',
  disposable_exchange: 'A disposable mail host beside others',
  few_listed_guests: 'Shares mail hosts with others, some of them disposable',
  earlier_guest: 'Established on mail hosts that disposable domains share',
  learned_hosts: 'Shares mail hosts with disposable domains',
  listed_exchange: 'Received by a host of a disposable domain',
  learned_addresses: 'Shares addresses of mail hosts with disposable domains',
  listed_siblings: 'Other names below the same domain are disposable',
  role_word: 'Named for automated mail',
  security_gateway: 'Received by a mail security gateway',
  business_platform: 'Received by a business mail platform',
  consumer_webmail: 'Consumer webmail',
  mailbox_provider: 'Mailbox provider',
  hosting: 'Received by a hosting company',
  self_hosted: 'Receives its own mail',
  third_party: 'Unrecognised mail provider',
  single_exchange: 'One mail server only',
  transactional: 'Inbound-parse service, not a mailbox',
  privacy_relay: 'Privacy relay',
  forwarding: 'Forwarded',
  implicit_mx: 'No mail exchanger, only an address',
  mail_unknown: 'Mail provider not known',
};

/** A signal of a newer service is shown by its own name. */
export const signalWords = (signal: string) => SIGNAL_WORDS[signal] ?? signal.replaceAll('_', ' ');

export const DNS_WORDS: Readonly<Record<DnsState, string>> = {
  mx: 'Has mail exchangers',
  null_mx: 'Declares that it accepts no mail (null MX)',
  implicit_mx: 'Has no mail exchanger; mail goes to its address',
  no_mail: 'No mail server',
  nxdomain: 'The name does not exist',
  unknown: 'DNS did not answer',
  not_asked: 'Skipped: the lists already decided',
};
