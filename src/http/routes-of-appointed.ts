/** The rows of operators with a token of their own, and the shapes of what they send and get. */

import { Type } from 'typebox';
import { NewOperatorBody } from './bodies.ts';
import type { appointedEndpoints } from './endpoints/appointed.ts';
import type { Parameter, Route } from './routes.ts';
import type { RouteOf } from './rows-of-operators.ts';
import { Moment, nullable } from './schemas.ts';

const MEMBERS = { name: Type.String(), created_at: Moment, revoked_at: nullable(Moment) };

export const OperatorsSchema = Type.Object(
  {
    you: Type.String({ description: 'The name that the audit log has for whoever asks.' }),
    operators: Type.Array(Type.Object(MEMBERS)),
  },
  { title: 'Operators' },
);
export const MadeOperatorSchema = Type.Object(
  { ...MEMBERS, token: Type.String({ description: 'Shown this once.' }) },
  { title: 'MadeOperator' },
);

const NAME: Parameter = {
  name: 'name',
  in: 'path',
  required: true,
  description: 'The name of an operator.',
  schema: Type.String({ minLength: 1, examples: ['Ada'] }),
};

export function appointedRoutes(
  row: RouteOf,
  { list, add, revoke }: ReturnType<typeof appointedEndpoints>,
): Route[] {
  return [
    row({
      at: ['GET', '/admin/operators'],
      says: ['listOperators', 'List operators', 'Who has a token of their own. Never a token.'],
      answer: OperatorsSchema,
      work: list,
    }),
    row({
      at: ['POST', '/admin/operators'],
      says: ['addOperator', 'Add an operator', 'The token is in this answer only.'],
      body: NewOperatorBody,
      answer: MadeOperatorSchema,
      created: true,
      work: add,
    }),
    row({
      at: ['POST', '/admin/operators/{name}/revoke'],
      says: ['revokeOperator', 'Revoke an operator', 'The token is refused from the next request on.'],
      parameters: [NAME],
      refusals: [404],
      work: revoke,
    }),
  ];
}
