/** What the OpenAPI document and the client's types are made of: a schema for each shape that wire.ts writes. */

import { Type } from 'typebox';
import { LEARNING } from '../core/guest.ts';
import { MAIL_STATES } from '../core/mail.ts';
import { OVERRIDE_ACTIONS } from '../core/override.ts';
import { REFUSALS, type RefusalCode } from '../core/refusal.ts';
import { REASONS } from '../core/signals.ts';
import { FLAG_REASONS, TOP_SOURCES } from './wire.ts';

/** One of these words. Not as a union of constants: most tools that read the document know only `enum`. */
export const words = <T extends string>(values: readonly T[], options: { description?: string } = {}) =>
  Type.Unsafe<T>({ type: 'string', enum: [...values], ...options });
/** `"type": ["string", "null"]`, for the same reason; for schemas with one type. */
export const nullable = <T extends Type.TSchema & { readonly type: string }>(schema: T) =>
  Type.Unsafe<Type.Static<T> | null>({ ...schema, type: [schema.type, 'null'] });
const Score = Type.Integer({ minimum: 0, maximum: 100, description: '0 to 100; higher means riskier.' });

export const FlagReasonSchema = words(FLAG_REASONS);

export const EvidenceSchema = Type.Object({
  signals: Type.Array(Type.Object({ signal: Type.String(), points: Type.Integer(), detail: Type.String() }), {
    description: 'Every point of the score; the points add up to risk_score.',
  }),
  lists: Type.Array(
    Type.Object({
      feed: Type.String(),
      entry: Type.String({ description: 'The name on the list: the domain or a parent of it.' }),
      since: nullable(Type.String({ description: 'Since when the list names it, as far as is known.' })),
    }),
  ),
  dns: Type.Object({
    state: words(MAIL_STATES),
    mx: Type.Array(Type.String()),
    stale: Type.Boolean(),
  }),
  graph: Type.Optional(
    Type.Array(
      Type.Object({
        host: Type.String(),
        addresses: Type.Array(Type.String()),
        listed_guests: Type.Integer({
          description: 'How many listed disposable domains it also receives for.',
        }),
        guests: Type.Array(Type.String(), { description: 'Some of them; at most 50 in one answer.' }),
      }),
      { description: 'Mail hosts that the domain shares with listed ones. Absent where there are none.' },
    ),
  ),
  snapshot: Type.String({ description: 'Which version of the lists this was judged by.' }),
});

export const RISK_MEMBERS = {
  risk_score: Score,
  reason: words(REASONS),
  is_free_provider: Type.Boolean({ description: 'True for consumer webmail providers.' }),
  is_corporate_email: Type.Boolean({
    description: 'True for domains with a professional MX configuration.',
  }),
  mx_provider_label: nullable(
    Type.String({ description: 'Who receives the mail; null when nobody or unknown.' }),
  ),
};

export const DomainSchema = Type.Object(
  {
    domain: Type.String({
      description: 'The domain in canonical form: lower case, A-labels, no trailing dot.',
    }),
    ...RISK_MEMBERS,
    evidence: Type.Optional(EvidenceSchema),
  },
  { title: 'DomainRisk' },
);

export const TopDomainsSchema = Type.Object(
  {
    domains: Type.Array(
      Type.Object({
        domain: Type.String(),
        risk_score: Score,
        reason: FlagReasonSchema,
        flags: Type.Optional(
          Type.Integer({
            description: 'How often it was flagged here in the last 30 days: once per key and day.',
          }),
        ),
        source: Type.Optional(
          words(TOP_SOURCES, {
            description: 'Whether lookups flagged it here, or only lists name it, which pad the answer.',
          }),
        ),
      }),
    ),
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
    days: Type.Optional(
      Type.Array(Type.Object({ day: Type.String({ format: 'date' }), count: Type.Integer() }), {
        description: 'Calls counted on each day in UTC, the oldest first, today last.',
      }),
    ),
  },
  { title: 'Usage' },
);

export const Moment = Type.String({ format: 'date-time' });

const OVERRIDE_MEMBERS = {
  domain: Type.String(),
  action: words(OVERRIDE_ACTIONS),
  below: Type.Boolean({ description: 'Whether it holds for subdomains too.' }),
  note: nullable(Type.String()),
  author: nullable(Type.String()),
  created_at: Moment,
  expires_at: nullable(Moment),
};

export const OverrideSchema = Type.Object(OVERRIDE_MEMBERS, { title: 'Override' });
export const OverridesSchema = Type.Object(
  { overrides: Type.Array(Type.Object(OVERRIDE_MEMBERS)) },
  { title: 'Overrides' },
);

export const HostsSchema = Type.Object(
  {
    hosts: Type.Array(
      Type.Object({
        host: Type.String(),
        state: words(['disposable', 'undecided', 'shared', 'forgotten']),
        flagged: Type.Integer(),
        innocent: Type.Integer(),
        sum: Type.Number({
          description: `The evidence of its listed domains together; ${LEARNING.learnedAt} is enough, and ${LEARNING.ownLearnedAt} for own hosts.`,
        }),
        last_seen: nullable(Type.String()),
        neighbours: Type.Array(Type.String(), { description: 'Listed domains that it receives mail for.' }),
        addresses: Type.Array(Type.String(), { description: 'Where it is, as far as this server knows.' }),
      }),
    ),
  },
  { title: 'Hosts' },
);
export const HostStateSchema = Type.Object(
  { host: Type.String(), forgotten: Type.Boolean() },
  { title: 'HostState' },
);

export const ActsSchema = Type.Object(
  {
    acts: Type.Array(
      Type.Object({
        at: Moment,
        who: Type.String(),
        via: Type.String(),
        action: Type.String(),
        subject: Type.String(),
        detail: nullable(Type.String()),
      }),
    ),
  },
  { title: 'Acts' },
);

const ERROR_MEMBERS = {
  error: words(Object.keys(REFUSALS) as RefusalCode[], { description: 'For programs.' }),
  message: Type.String({ description: 'What to do, for people.' }),
  detail: nullable(Type.String({ description: 'What exactly was wrong.' })),
  request_id: Type.String({ description: 'Finds the request in the logs; also in X-Request-Id.' }),
  reset_at: Type.Optional(
    Type.String({ format: 'date-time', description: 'When the quota resets; only with quota_exceeded.' }),
  ),
};

export const ErrorSchema = Type.Object(ERROR_MEMBERS, { title: 'Error' });

/** RFC 9457. */
export const ProblemSchema = Type.Object(
  { type: Type.String(), title: Type.String(), status: Type.Integer(), ...ERROR_MEMBERS },
  { title: 'Problem' },
);
