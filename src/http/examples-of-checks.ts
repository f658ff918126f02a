/** Real examples of what is said about addresses. */

import type { Type } from 'typebox';
import type { CheckSchema } from './schemas.ts';

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
