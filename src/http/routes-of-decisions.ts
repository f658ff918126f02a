/** The row of decisions that were kept, and the shape of its answer. */

import { Type } from 'typebox';
import { DECISION_LOGS } from '../core/decision.ts';
import { REASONS } from '../core/signals.ts';
import { type decisionEndpoints, MOST_DECISIONS_SHOWN } from './endpoints/decisions.ts';
import type { Parameter, Route } from './routes.ts';
import type { RouteOf } from './rows-of-operators.ts';
import { Moment, nullable, words } from './schemas.ts';

export const DecisionsSchema = Type.Object(
  {
    log: words(DECISION_LOGS, { description: 'The DECISION_LOG of this service.' }),
    decisions: Type.Array(
      Type.Object({
        at: Moment,
        key: Type.String({ description: 'The id of the key.' }),
        key_name: nullable(Type.String()),
        domain: Type.String(),
        risk_score: Type.Integer(),
        reason: words(REASONS),
        snapshot: Type.String({ description: 'The lists that it was judged by.' }),
        degraded: Type.Boolean({ description: 'Whether DNS did not answer.' }),
      }),
    ),
    next: nullable(Type.String({ description: 'Send it as `before` for older ones.' })),
  },
  { title: 'Decisions' },
);

const PARAMETERS: readonly Parameter[] = [
  {
    name: 'domain',
    in: 'query',
    description: 'Only of this domain.',
    schema: Type.String({ examples: ['mailinator.com'] }),
  },
  {
    name: 'key',
    in: 'query',
    description: 'Only of the key with this id or name.',
    schema: Type.String({ examples: ['key_0123456789abcdef'] }),
  },
  {
    name: 'since',
    in: 'query',
    description: 'Only from this date or time on, in UTC.',
    schema: Type.String({ examples: ['2026-11-10', '2026-11-10T08:00:00Z'] }),
  },
  {
    name: 'before',
    in: 'query',
    description: 'The `next` of an earlier answer.',
    schema: Type.String(),
  },
  {
    name: 'limit',
    in: 'query',
    description: 'At most this many entries.',
    schema: Type.Integer({ minimum: 1, maximum: MOST_DECISIONS_SHOWN, default: 100 }),
  },
];

export const decisionsRoute = (row: RouteOf, { list }: ReturnType<typeof decisionEndpoints>): Route =>
  row({
    at: ['GET', '/admin/decisions'],
    says: [
      'listDecisions',
      'Find decisions',
      'What callers were told of which domain, the newest first; kept where `DECISION_LOG` is set. Never an address.',
    ],
    answer: DecisionsSchema,
    parameters: PARAMETERS,
    refusals: [422],
    work: list,
  });
