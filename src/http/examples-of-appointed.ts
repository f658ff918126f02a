/** Real examples of operators with a token of their own. */

import type { Type } from 'typebox';
import type { NewOperatorBody } from './bodies.ts';
import type { MadeOperatorSchema, OperatorsSchema } from './routes-of-appointed.ts';

const ADA = { name: 'Ada', created_at: '2026-11-15T09:30:00Z', revoked_at: null };

export const OPERATORS: Type.Static<typeof OperatorsSchema> = { you: 'Ada', operators: [ADA] };
export const NEW_OPERATOR: Type.Static<typeof NewOperatorBody> = { name: 'Ada' };
export const MADE_OPERATOR: Type.Static<typeof MadeOperatorSchema> = {
  ...ADA,
  token: 'dro_EXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLE0',
};
