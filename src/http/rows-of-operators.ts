/** What the rows of operators have in common. */

import { Type } from 'typebox';
import { NoBody } from './bodies.ts';
import type { Doors } from './doors.ts';
import { operated, type Work } from './operators.ts';
import { PRICES } from './prices.ts';
import type { OperatorsOperation, Parameter, Refused, Route } from './routes.ts';

const OPERATOR: Parameter = {
  name: 'X-Operator',
  in: 'header',
  description: 'Your name for the audit log, in UTF-8.',
  schema: Type.String({ maxLength: 100 }),
};

const BODY_REFUSALS: readonly Refused[] = [413, 415];

export type Actors = Pick<Doors, 'actorOf'>;

/** What differs from row to row; the rest follows from it. */
export interface Row<T extends Type.TObject> {
  readonly at: readonly [Route['method'], string];
  readonly says: readonly [id: OperatorsOperation, summary: string, description?: string];
  readonly body?: T;
  readonly mostBody?: Route['mostBody'];
  readonly answer?: Type.TSchema;
  readonly created?: true;
  readonly parameters?: readonly Parameter[];
  readonly refusals?: readonly Refused[];
  readonly work: Work<T>;
}

export function routeOf<T extends Type.TObject>(doors: Actors, row: Row<T>): Route {
  const { at, says, body, mostBody, answer, work, parameters = [], refusals = [], created } = row;
  const [method, path] = at;
  const [id, summary, description = ''] = says;
  const isRead = method === 'GET';
  const good = answer === undefined ? { status: 204 as const } : created ? { status: 201 as const } : {};
  return {
    method,
    path,
    name: 'admin',
    door: 'operator',
    price: PRICES.read,
    ...(isRead ? {} : { body: body ?? NoBody }),
    ...(mostBody ? { mostBody } : {}),
    answer,
    handle: operated(doors, work),
    reference: {
      id,
      summary,
      description: isRead ? description : `${description} Recorded in the audit log.`.trim(),
      ...good,
      parameters: isRead ? parameters : [...parameters, OPERATOR],
      refusals: [
        401,
        ...refusals,
        ...(body ? BODY_REFUSALS : []),
        ...(isRead ? [] : [422 as const]),
        500,
        503,
      ],
      isCounted: false,
      caching: 'no-store',
    },
  };
}

export type RouteOf = <T extends Type.TObject>(row: Row<T>) => Route;
