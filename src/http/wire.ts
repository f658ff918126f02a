/** The JSON that callers see: one function for each shape. What the reference says about them is in schemas.ts. */

import type { DayCount } from '../admit.ts';
import type { EmailCheck } from '../core/check.ts';
import type { ListingChange } from '../core/listing-change.ts';
import { type Allowance, resetAt } from '../core/quota.ts';
import { REFUSALS, type Refusal, type RefusalCode } from '../core/refusal.ts';
import { REASONS } from '../core/signals.ts';
import type { Verdict } from '../core/verdict.ts';
import type { Answer } from '../lookup.ts';
import type { TopDomain } from '../rank.ts';

export const TOP_SOURCES = ['observed', 'lists'] as const;
export const FLAG_REASONS = REASONS.filter(reason => reason !== 'safe');

/** Exchanges in one answer: a thousand names are explained in one, and a domain may have 64 of 253 letters. */
const MOST_SHOWN = 20;

/** The six fields, written by hand: `domain` and `reason` hold nothing that JSON must escape. */
function sixFields(verdict: Verdict): string {
  const label = verdict.mxProviderLabel === null ? 'null' : JSON.stringify(verdict.mxProviderLabel);
  return `"domain":"${verdict.domain}","risk_score":${verdict.riskScore},"reason":"${verdict.reason}","is_free_provider":${verdict.isFreeProvider},"is_corporate_email":${verdict.isCorporateEmail},"mx_provider_label":${label}`;
}

export function domainJson(verdict: Verdict): string {
  return `{${sixFields(verdict)}}`;
}

export function explainedJson({ verdict, evidence, snapshot, graph }: Answer): string {
  const { mail } = evidence;
  const hosts = graph().map(({ listedGuests, ...host }) => ({ ...host, listed_guests: listedGuests }));
  const shown = {
    signals: verdict.signals,
    lists: [...evidence.lists, ...(evidence.otherLists ?? [])],
    dns: {
      state: mail.state,
      mx: mail.exchanges.slice(0, MOST_SHOWN).map(exchange => exchange.host),
      stale: mail.stale,
    },
    graph: hosts.length > 0 ? hosts : undefined,
    snapshot,
  };
  return `{${sixFields(verdict)},"evidence":${JSON.stringify(shown)}}`;
}

/** One of many. */
export function entryJson(answer: Answer, explain: boolean): string {
  const text = explain ? explainedJson(answer) : domainJson(answer.verdict);
  return answer.degraded ? `${text.slice(0, -1)},"degraded":"dns"}` : text;
}

/** One of many that is no domain: as it was sent. */
export function invalidJson(text: string, detail: string): string {
  return JSON.stringify({ domain: text, error: 'validation_error' satisfies RefusalCode, detail });
}

/** Of entries with what stands between them. */
export function domainsBytes(entries: readonly Buffer[]): Buffer {
  const end = Buffer.from(`],"count":${entries.length}}`);
  return Buffer.concat([RESULTS, ...entries, end]);
}

const RESULTS = Buffer.from('{"results":[');

export function checkJson(check: EmailCheck): string {
  return JSON.stringify({
    email: check.email,
    is_risky: check.isRisky,
    risk_score: check.riskScore,
    reason: check.reason,
    deliverability_score: check.deliverabilityScore,
    did_you_mean: check.didYouMean ?? null,
    is_free_provider: check.isFreeProvider,
    is_corporate_email: check.isCorporateEmail,
    is_alias_email: check.isAliasEmail,
    mx_provider_label: check.mxProviderLabel,
  });
}

export function changeJson({ domain, change, feeds }: ListingChange, at: string): string {
  return JSON.stringify({ domain, change, at, feeds });
}

/** One row, written by hand as the six fields are. */
export function topDomainJson({ domain, riskScore, reason, flags }: TopDomain, explain = false): string {
  const more = explain ? `,"flags":${flags},"source":"${TOP_SOURCES[flags > 0 ? 0 : 1]}"` : '';
  return `{"domain":"${domain}","risk_score":${riskScore},"reason":"${reason}"${more}}`;
}

export function usageJson(allowance: Allowance, days?: readonly DayCount[]): string {
  return JSON.stringify({
    monthly_limit: allowance.limit,
    month_count: allowance.used,
    remaining_month: allowance.remaining,
    reset_at: resetAt(allowance.month),
    days,
  });
}

/** Everything of an error that does not change from call to call, for both shapes (RFC 9457 and the plain one). */
const ERROR_HEADS = Object.fromEntries(
  Object.entries(REFUSALS).map(([error, { status, message }]) => {
    const plain = JSON.stringify({ error, message }).slice(1, -1);
    const problem = JSON.stringify({ type: 'about:blank', title: message, status }).slice(1, -1);
    return [error, { plain: `{${plain}`, problem: `{${problem},${plain}` }];
  }),
) as Record<RefusalCode, { plain: string; problem: string }>;

export function errorJson(
  refusal: Refusal,
  requestId: string,
  asProblem: boolean,
  allowance?: Allowance,
): string {
  const head = ERROR_HEADS[refusal.refused][asProblem ? 'problem' : 'plain'];
  const detail = refusal.detail === null ? 'null' : JSON.stringify(refusal.detail);
  const reset = allowance ? `,"reset_at":"${resetAt(allowance.month)}"` : '';
  return `${head},"detail":${detail},"request_id":"${requestId}"${reset}}`;
}
