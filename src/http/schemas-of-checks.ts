/** Schemas of what is said about addresses, and about many names at once. */

import { Type } from 'typebox';
import { RISKY_FROM } from '../core/check.ts';
import { EvidenceSchema, nullable, RISK_MEMBERS, words } from './schemas.ts';

/** Without unions, which many tools cannot read: a name that is no domain has `error` and `detail` and nothing else. */
export const DomainsSchema = Type.Object(
  {
    results: Type.Array(
      Type.Object({
        domain: Type.String({ description: 'In canonical form; as you sent it when it is not valid.' }),
        ...Type.Partial(Type.Object(RISK_MEMBERS)).properties,
        evidence: Type.Optional(EvidenceSchema),
        degraded: Type.Optional(
          words(['dns'], { description: 'DNS did not answer in time: judged by name and lists alone.' }),
        ),
        error: Type.Optional(words(['validation_error'], { description: 'The name is not a valid domain.' })),
        detail: Type.Optional(Type.String({ description: 'What exactly is wrong with it.' })),
      }),
      { description: 'One for each name, in the order of the names.' },
    ),
    count: Type.Integer({ description: 'Number of results.' }),
  },
  { title: 'DomainRisks' },
);

export const CheckSchema = Type.Object(
  {
    email: Type.String({
      description: 'What you sent, with the part before the @ masked: `ja***oe@example.com`.',
    }),
    is_risky: Type.Boolean({ description: `True from a risk score of ${RISKY_FROM} on.` }),
    risk_score: RISK_MEMBERS.risk_score,
    reason: RISK_MEMBERS.reason,
    deliverability_score: Type.Integer({
      minimum: 0,
      maximum: 100,
      description: '0 to 100; 0 when the domain receives no mail, 50 when that is unknown.',
    }),
    did_you_mean: nullable(
      Type.String({ description: 'The domain of a large mailbox provider that was probably meant.' }),
    ),
    is_free_provider: RISK_MEMBERS.is_free_provider,
    is_corporate_email: RISK_MEMBERS.is_corporate_email,
    is_alias_email: Type.Boolean({ description: 'True for addresses of privacy relays.' }),
    mx_provider_label: RISK_MEMBERS.mx_provider_label,
  },
  { title: 'EmailCheck' },
);
