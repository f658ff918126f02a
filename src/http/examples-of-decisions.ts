/** Real examples of decisions that were kept. */

import type { Type } from 'typebox';
import type { DecisionsSchema } from './routes-of-decisions.ts';

export const DECISIONS: Type.Static<typeof DecisionsSchema> = {
  log: 'flagged',
  decisions: [
    {
      at: '2026-11-10T14:03:12Z',
      key: 'key_0123456789abcdef',
      key_name: 'signup',
      domain: 'mailinator.com',
      risk_score: 100,
      reason: 'disposable',
      snapshot: 'aa6756337948',
      degraded: false,
    },
  ],
  next: null,
};
