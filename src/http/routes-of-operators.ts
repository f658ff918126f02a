/** What operators ask and do: every path below `/admin`, there only where a token is set. */

import { Type } from 'typebox';
import { NoBody, OverrideBody } from './bodies.ts';
import type { Doors } from './doors.ts';
import { type auditEndpoints, MOST_ACTS_SHOWN } from './endpoints/audit.ts';
import type { feedEndpoints } from './endpoints/feeds.ts';
import type { hostEndpoints } from './endpoints/hosts.ts';
import type { keyEndpoints } from './endpoints/keys.ts';
import type { overrideEndpoints } from './endpoints/overrides.ts';
import { KeyBody, KeySchema, KeysSchema, MadeKeySchema, NewKeyBody, RotationBody } from './key.ts';
import { operated, type Work } from './operators.ts';
import { PRICES } from './prices.ts';
import type { OperatorsOperation, Parameter, Refused, Route } from './routes.ts';
import {
  ActsSchema,
  FeedsSchema,
  HostStateSchema,
  HostsSchema,
  OverrideSchema,
  OverridesSchema,
} from './schemas.ts';

const PARAMETERS = {
  id: {
    name: 'id',
    in: 'path',
    required: true,
    description: 'The id of a key.',
    schema: Type.String({ minLength: 1, examples: ['key_0123456789abcdef'] }),
  },
  overridden: {
    name: 'domain',
    in: 'path',
    required: true,
    description: 'A domain name.',
    schema: Type.String({ minLength: 1, examples: ['partner.example.org'] }),
  },
  host: {
    name: 'host',
    in: 'path',
    required: true,
    description: 'A mail host: a name or an address.',
    schema: Type.String({ minLength: 1, examples: ['mx.example.com'] }),
  },
  acts: {
    name: 'limit',
    in: 'query',
    description: 'At most this many entries.',
    schema: Type.Integer({ minimum: 1, maximum: MOST_ACTS_SHOWN, default: 100 }),
  },
  operator: {
    name: 'X-Operator',
    in: 'header',
    description: 'Your name for the audit log, in UTF-8.',
    schema: Type.String({ maxLength: 100 }),
  },
} as const satisfies Record<string, Parameter>;

const BODY_REFUSALS: readonly Refused[] = [413, 415];

type Actors = Pick<Doors, 'actorOf'>;

/** What differs from row to row; the rest follows from it. */
interface Row<T extends Type.TObject> {
  readonly at: readonly [Route['method'], string];
  readonly says: readonly [id: OperatorsOperation, summary: string, description?: string];
  readonly body?: T;
  readonly answer?: Type.TSchema;
  readonly created?: true;
  readonly parameters?: readonly Parameter[];
  readonly refusals?: readonly Refused[];
  readonly work: Work<T>;
}

function routeOf<T extends Type.TObject>(doors: Actors, row: Row<T>): Route {
  const { at, says, body, answer, work, parameters = [], refusals = [], created } = row;
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
    answer,
    handle: operated(doors, work),
    reference: {
      id,
      summary,
      description: isRead ? description : `${description} Recorded in the audit log.`.trim(),
      ...good,
      parameters: isRead ? parameters : [...parameters, PARAMETERS.operator],
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

interface Endpoints {
  readonly keys: ReturnType<typeof keyEndpoints>;
  readonly overrides: ReturnType<typeof overrideEndpoints>;
  readonly hosts: ReturnType<typeof hostEndpoints>;
  readonly feeds: ReturnType<typeof feedEndpoints>;
  readonly audit: ReturnType<typeof auditEndpoints>;
}

type RouteOf = <T extends Type.TObject>(row: Row<T>) => Route;

export function operatorRoutes(doors: Actors, endpoints: Endpoints): Route[] {
  const row: RouteOf = one => routeOf(doors, one);
  return [...keyRoutes(row, endpoints), ...overrideRoutes(row, endpoints), ...evidenceRoutes(row, endpoints)];
}

function keyRoutes(row: RouteOf, { keys }: Endpoints): Route[] {
  return [
    row({
      at: ['GET', '/admin/keys'],
      says: ['listKeys', 'List keys', 'All keys, with their calls of the last 30 days. Never a secret.'],
      answer: KeysSchema,
      work: keys.list,
    }),
    row({
      at: ['POST', '/admin/keys'],
      says: ['createKey', 'Create a key', 'The secret is in this answer and never again.'],
      body: NewKeyBody,
      answer: MadeKeySchema,
      created: true,
      work: keys.create,
    }),
    row({
      at: ['PATCH', '/admin/keys/{id}'],
      says: ['updateKey', 'Change a key', 'Omitted fields are unchanged; `null` removes a limit.'],
      body: KeyBody,
      answer: KeySchema,
      parameters: [PARAMETERS.id],
      refusals: [404],
      work: keys.update,
    }),
    row({
      at: ['POST', '/admin/keys/{id}/rotate'],
      says: ['rotateKey', 'Rotate a key', 'A new secret for the same key. Its usage stays.'],
      body: RotationBody,
      answer: MadeKeySchema,
      parameters: [PARAMETERS.id],
      refusals: [404],
      work: keys.rotate,
    }),
    row({
      at: ['POST', '/admin/keys/{id}/revoke'],
      says: ['revokeKey', 'Revoke a key', 'Refused from the next request on. Cannot be undone.'],
      answer: KeySchema,
      parameters: [PARAMETERS.id],
      refusals: [404],
      work: keys.revoke,
    }),
  ];
}

function overrideRoutes(row: RouteOf, { overrides }: Endpoints): Route[] {
  return [
    row({
      at: ['GET', '/admin/overrides'],
      says: [
        'listOverrides',
        'List overrides',
        'Your own decisions about domains. They win over every list.',
      ],
      answer: OverridesSchema,
      work: overrides.list,
    }),
    row({
      at: ['PUT', '/admin/overrides/{domain}'],
      says: ['setOverride', 'Set an override', 'Replaces the one that the domain has.'],
      body: OverrideBody,
      answer: OverrideSchema,
      parameters: [PARAMETERS.overridden],
      work: overrides.set,
    }),
    row({
      at: ['DELETE', '/admin/overrides/{domain}'],
      says: ['removeOverride', 'Remove an override'],
      parameters: [PARAMETERS.overridden],
      refusals: [404],
      work: overrides.remove,
    }),
  ];
}

/** What verdicts rest on, and what operators did. */
function evidenceRoutes(row: RouteOf, { hosts, feeds, audit }: Endpoints): Route[] {
  return [
    row({
      at: ['GET', '/admin/feeds'],
      says: [
        'listFeeds',
        'List feeds',
        'The lists in use. `updated_at` is null where a list is as installed.',
      ],
      answer: FeedsSchema,
      work: feeds.list,
    }),
    row({
      at: ['GET', '/admin/infra'],
      says: ['listHosts', 'List learned mail hosts', 'Mail hosts that serve listed domains.'],
      answer: HostsSchema,
      work: hosts.list,
    }),
    row({
      at: ['POST', '/admin/infra/{host}/forget'],
      says: [
        'ignoreHost',
        'Ignore a mail host',
        'It no longer flags anyone. Servers follow within a minute.',
      ],
      answer: HostStateSchema,
      parameters: [PARAMETERS.host],
      refusals: [404],
      work: hosts.forget,
    }),
    row({
      at: ['POST', '/admin/infra/{host}/relearn'],
      says: ['watchHost', 'Watch a mail host again', 'Ends that it is ignored.'],
      answer: HostStateSchema,
      parameters: [PARAMETERS.host],
      refusals: [404],
      work: hosts.relearn,
    }),
    row({
      at: ['GET', '/admin/audit'],
      says: ['listActs', 'Read the audit log', 'What operators did, the newest first.'],
      answer: ActsSchema,
      parameters: [PARAMETERS.acts],
      refusals: [422],
      work: audit.list,
    }),
  ];
}
