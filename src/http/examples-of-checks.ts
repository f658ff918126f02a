/** Real examples of what is said about addresses, and about many names at once. */

import type { Type } from 'typebox';
import type { DomainsBody } from './bodies.ts';
import type { CheckSchema, DomainsSchema } from './schemas-of-checks.ts';

export const CHECK: Type.Static<typeof CheckSchema> = {
  email: 'ja***oe@gmail.com',
  is_risky: false,
  risk_score: 5,
  reason: 'safe',
  deliverability_score: 99,
  did_you_mean: null,
  is_free_provider: true,
  is_corporate_email: false,
  is_alias_email: false,
  mx_provider_label: 'Gmail',
};

export const TYPO: Type.Static<typeof CheckSchema> = {
  email: 'ja***oe@gmail.con',
  is_risky: true,
  risk_score: 90,
  reason: 'undeliverable',
  deliverability_score: 0,
  did_you_mean: 'gmail.com',
  is_free_provider: false,
  is_corporate_email: false,
  is_alias_email: false,
  mx_provider_label: null,
};

export const NAMES: Type.Static<typeof DomainsBody> = {
  domains: ['GMAIL.com', 'mailinator.com', 'bad_name.com'],
};

export const DOMAINS: Type.Static<typeof DomainsSchema> = {
  results: [
    {
      domain: 'gmail.com',
      risk_score: 5,
      reason: 'safe',
      is_free_provider: true,
      is_corporate_email: false,
      mx_provider_label: 'Gmail',
    },
    {
      domain: 'mailinator.com',
      risk_score: 100,
      reason: 'disposable',
      is_free_provider: false,
      is_corporate_email: false,
      mx_provider_label: 'Mailinator',
    },
    {
      domain: 'bad_name.com',
      error: 'validation_error',
      detail:
        'The name holds an underscore: a mail domain has only letters, digits and hyphens in its labels.',
    },
  ],
  count: 3,
};
