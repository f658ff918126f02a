/** What is said about an email address: the verdict on its domain, and whether mail for it has a chance to arrive. */

import type { Answer } from './answer.ts';
import type { Address } from './email.ts';
import type { ReceiverKind } from './provider.ts';
import { type Reason, SIGNALS } from './signals.ts';
import { type Evidence, isDeliverable, receiverOf } from './verdict.ts';

export interface EmailCheck {
  /** What was sent, with the local part masked. */
  readonly email: string;
  readonly isRisky: boolean;
  readonly riskScore: number;
  readonly reason: Reason;
  readonly deliverabilityScore: number;
  readonly didYouMean: string | undefined;
  readonly isFreeProvider: boolean;
  readonly isCorporateEmail: boolean;
  /** Of a privacy relay. */
  readonly isAliasEmail: boolean;
  readonly mxProviderLabel: string | null;
}

/** From this score on an address is called risky. Our own client leaves that to its user, and begins at 80. */
export const RISKY_FROM = 65;

/** What a mail configuration deserves, by who receives: how likely it is that mail is taken, today and tomorrow. */
const RECEIVED_BY: Readonly<Record<ReceiverKind, number>> = {
  consumer_webmail: 99,
  business_platform: 98,
  mailbox_provider: 96,
  security_gateway: 95,
  hosting: 90,
  forwarding: 88,
  self_hosted: 85,
  third_party: 80,
  disposable: 75,
  partly_disposable: 75,
  // Mail is taken by a program there, as a rule for a few addresses only.
  transactional: 65,
  parked: 0,
};
const NO_MAIL = 0;
const UNKNOWN = 50;
/** Only an address in place of an exchange (RFC 5321 5.1): often a web server that takes no mail. */
const IMPLICIT = 60;
/** One host of its own: nobody takes over when it is down. */
const SINGLE_EXCHANGE = 5;
const COUNTS_EXCHANGES: ReadonlySet<ReceiverKind> = new Set<ReceiverKind>(['self_hosted', 'third_party']);

export function checkOf({ shown, isRole }: Address, answer: Answer): EmailCheck {
  const { verdict, evidence } = answer;
  const isRoleAccount = isRole && verdict.reason === 'safe';
  const riskScore = isRoleAccount ? SIGNALS.role_word.points : verdict.riskScore;
  return {
    email: shown,
    isRisky: riskScore >= RISKY_FROM,
    riskScore,
    reason: isRoleAccount ? SIGNALS.role_word.reason : verdict.reason,
    deliverabilityScore: deliverabilityOf(evidence),
    didYouMean: answer.didYouMean(),
    isFreeProvider: verdict.isFreeProvider,
    isCorporateEmail: verdict.isCorporateEmail,
    isAliasEmail: evidence.relay !== undefined,
    mxProviderLabel: verdict.mxProviderLabel,
  };
}

function deliverabilityOf(evidence: Evidence): number {
  const { mail, specialUse, unheard } = evidence;
  const receiver = receiverOf(evidence);
  const isUnknown = mail.state === 'unknown' || mail.state === 'not_asked';
  if (!isDeliverable(evidence)) return isUnknown && !specialUse && !receiver ? UNKNOWN : NO_MAIL;
  if (mail.state === 'implicit_mx') return IMPLICIT;
  if (!receiver || unheard) return UNKNOWN;
  const isSingle = COUNTS_EXCHANGES.has(receiver.kind) && receiver.hosts.length < 2;
  return RECEIVED_BY[receiver.kind] - (isSingle ? SINGLE_EXCHANGE : 0);
}
