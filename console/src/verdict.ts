/** What scores, reasons, signals and states of DNS mean, in words: one row each. */

import type { DomainRisk, Evidence } from './api.ts';

export type Reason = DomainRisk['reason'];
export type DnsState = Evidence['dns']['state'];

export interface Band {
  readonly name: 'accept' | 'look' | 'warn' | 'block' | 'confirmed';
  readonly from: number;
  readonly to: number;
  readonly word: string;
  readonly advice: string;
}

export const BANDS: readonly Band[] = [
  { name: 'accept', from: 0, to: 29, word: 'Accept', advice: 'Let it in.' },
  { name: 'look', from: 30, to: 49, word: 'Look', advice: 'Let it in, and look closer if it matters.' },
  { name: 'warn', from: 50, to: 79, word: 'Warn', advice: 'Ask for another address.' },
  { name: 'block', from: 80, to: 99, word: 'Block', advice: 'Refuse it.' },
  { name: 'confirmed', from: 100, to: 100, word: 'Confirmed', advice: 'Refuse it: there is no doubt.' },
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

/** One sentence for the reason. */
export function meaning({ reason, risk_score, evidence }: DomainRisk, degraded: boolean): string {
  if (isNeutral(reason, degraded))
    return 'DNS did not answer, so this is a neutral score and not a judgement.';
  if (reason === 'disposable' && risk_score < 80)
    return 'A list named it recently. Nobody has confirmed it yet.';
  if (evidence?.signals[0]?.signal === 'popular_listing')
    return 'A list names it, but many people use it and no verified list does.';
  if (reason === 'disposable') return 'Its addresses are made to be thrown away.';
  if (reason === 'undeliverable') return 'It cannot receive mail.';
  if (reason === 'role_account') return 'It is set aside for automated mail, not for people.';
  return risk_score < 30
    ? 'Nothing speaks against it.'
    : 'It is not flagged, but its mail set-up says little about it.';
}

const SIGNAL_WORDS: Readonly<Record<string, string>> = {
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
  null_mx: 'Says that it accepts no mail',
  no_mail_host: 'Nobody receives its mail',
  parked: 'Parked',
  disposable_hosts: 'Received by disposable mail hosts',
  disposable_exchange: 'A disposable mail host beside others',
  learned_hosts: 'Shares mail hosts with disposable domains',
  listed_exchange: 'Received by a host of a disposable domain',
  learned_addresses: 'Shares addresses of mail hosts with disposable domains',
  listed_siblings: 'Other names below the same domain are disposable',
  role_word: 'Named for automated mail',
  security_gateway: 'Received by a mail security gateway',
  business_platform: 'Received by a business mail platform',
  consumer_webmail: 'Consumer webmail',
  hosting: 'Received by a hosting company',
  self_hosted: 'Receives its own mail',
  third_party: 'Received by somebody unrecognised',
  single_exchange: 'One exchange only',
  transactional: 'Received by a machine (inbound parse)',
  privacy_relay: 'Privacy relay',
  forwarding: 'Forwarded',
  implicit_mx: 'No mail exchanger, only an address',
  mail_unknown: 'Who receives the mail is not known',
};

/** A signal of a newer service is shown by its own name. */
export const signalWords = (signal: string) => SIGNAL_WORDS[signal] ?? signal.replaceAll('_', ' ');

export const DNS_WORDS: Readonly<Record<DnsState, string>> = {
  mx: 'Has mail exchangers',
  null_mx: 'Declares that it accepts no mail (null MX)',
  implicit_mx: 'Has no mail exchanger; mail goes to its address',
  no_mail: 'Nothing that can receive mail',
  nxdomain: 'The name does not exist',
  unknown: 'DNS did not answer',
  not_asked: 'Not asked: the answer was known without',
};
