/** The JSON that callers see: schemas for the OpenAPI document, and the functions that write each shape. */

import { Type } from 'typebox';
import { MAIL_STATES } from '../core/mail.ts';
import { type Allowance, resetAt } from '../core/quota.ts';
import { REFUSALS, type Refusal, type RefusalCode } from '../core/refusal.ts';
import { REASONS, type Verdict } from '../core/verdict.ts';
import type { Answer } from '../lookup.ts';
import type { TopDomain } from '../rank.ts';

const literals = <T extends string>(values: readonly T[]) =>
  Type.Union(values.map(value => Type.Literal(value)));
const nullable = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
const Score = Type.Integer({ minimum: 0, maximum: 100, description: '0 to 100; higher means riskier.' });

export const FLAG_REASONS = REASONS.filter(reason => reason !== 'safe');

export const FlagReasonSchema = literals(FLAG_REASONS);

const EvidenceSchema = Type.Object({
  signals: Type.Array(Type.Object({ signal: Type.String(), points: Type.Integer(), detail: Type.String() }), {
    description: 'Every point of the score; the points add up to risk_score.',
  }),
  lists: Type.Array(
    Type.Object({ feed: Type.String(), entry: Type.String(), since: nullable(Type.String()) }),
  ),
  dns: Type.Object({
    state: literals(MAIL_STATES),
    mx: Type.Array(Type.String()),
    stale: Type.Boolean(),
  }),
  snapshot: Type.String({ description: 'Which version of the lists this was judged by.' }),
});

export const DomainSchema = Type.Object(
  {
    domain: Type.String({
      description: 'The domain in canonical form: lower case, A-labels, no trailing dot.',
    }),
    risk_score: Score,
    reason: literals(REASONS),
    is_free_provider: Type.Boolean({ description: 'True for consumer webmail providers.' }),
    is_corporate_email: Type.Boolean({
      description: 'True for domains with a professional MX configuration.',
    }),
    mx_provider_label: nullable(
      Type.String({ description: 'Who receives the mail; null when nobody or unknown.' }),
    ),
    evidence: Type.Optional(EvidenceSchema),
  },
  { title: 'DomainRisk' },
);

export const TopDomainsSchema = Type.Object(
  {
    domains: Type.Array(Type.Object({ domain: Type.String(), risk_score: Score, reason: FlagReasonSchema })),
    count: Type.Integer({ description: 'Number of domains returned.' }),
  },
  { title: 'TopDomains' },
);

export const UsageSchema = Type.Object(
  {
    monthly_limit: nullable(Type.Integer()),
    month_count: Type.Integer(),
    remaining_month: nullable(Type.Integer()),
    reset_at: Type.String({ format: 'date-time' }),
  },
  { title: 'Usage' },
);

const ERROR_MEMBERS = {
  error: literals(Object.keys(REFUSALS) as RefusalCode[]),
  message: Type.String(),
  detail: nullable(Type.String()),
  request_id: Type.String(),
  reset_at: Type.Optional(Type.String({ format: 'date-time' })),
};

export const ErrorSchema = Type.Object(ERROR_MEMBERS, { title: 'Error' });

/** RFC 9457. */
export const ProblemSchema = Type.Object(
  { type: Type.String(), title: Type.String(), status: Type.Integer(), ...ERROR_MEMBERS },
  { title: 'Problem' },
);

/** The six fields, written by hand: `domain` and `reason` hold nothing that JSON must escape. */
function sixFields(verdict: Verdict): string {
  const label = verdict.mxProviderLabel === null ? 'null' : JSON.stringify(verdict.mxProviderLabel);
  return `"domain":"${verdict.domain}","risk_score":${verdict.riskScore},"reason":"${verdict.reason}","is_free_provider":${verdict.isFreeProvider},"is_corporate_email":${verdict.isCorporateEmail},"mx_provider_label":${label}`;
}

export function domainJson(verdict: Verdict): string {
  return `{${sixFields(verdict)}}`;
}

export function explainedJson({ verdict, evidence, snapshot }: Answer): string {
  const { mail } = evidence;
  const shown = {
    signals: verdict.signals,
    lists: evidence.lists,
    dns: { state: mail.state, mx: mail.exchanges.map(exchange => exchange.host), stale: mail.stale },
    snapshot,
  };
  return `{${sixFields(verdict)},"evidence":${JSON.stringify(shown)}}`;
}

export function topDomainsJson(domains: readonly TopDomain[]): string {
  return JSON.stringify({
    domains: domains.map(({ domain, riskScore, reason }) => ({ domain, risk_score: riskScore, reason })),
    count: domains.length,
  });
}

export function usageJson(allowance: Allowance): string {
  return JSON.stringify({
    monthly_limit: allowance.limit,
    month_count: allowance.used,
    remaining_month: allowance.remaining,
    reset_at: resetAt(allowance.month),
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
