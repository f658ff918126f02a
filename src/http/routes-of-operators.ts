/** What operators ask and do: every path below `/admin`, there only where a token is set. */

import { Type } from 'typebox';
import { OverrideBody } from './bodies.ts';
import type { appointedEndpoints } from './endpoints/appointed.ts';
import { type auditEndpoints, MOST_ACTS_SHOWN } from './endpoints/audit.ts';
import type { decisionEndpoints } from './endpoints/decisions.ts';
import type { hostEndpoints } from './endpoints/hosts.ts';
import { type keyEndpoints, MOST_KEYS_SHOWN } from './endpoints/keys.ts';
import type { overrideEndpoints } from './endpoints/overrides.ts';
import { KeyBody, KeySchema, KeysSchema, MadeKeySchema, NewKeyBody, RotationBody } from './key.ts';
import type { Parameter, Route } from './routes.ts';
import { appointedRoutes } from './routes-of-appointed.ts';
import { decisionsRoute } from './routes-of-decisions.ts';
import { type FeedRows, feedRoutes } from './routes-of-feeds.ts';
import { type TrafficRows, trafficRoutes } from './routes-of-traffic.ts';
import { type Actors, type RouteOf, routeOf } from './rows-of-operators.ts';
import { ActsSchema, HostStateSchema, HostsSchema, OverrideSchema, OverridesSchema } from './schemas.ts';

const PARAMETERS = {
  id: {
    name: 'id',
    in: 'path',
    required: true,
    description: 'The id of a key.',
    schema: Type.String({ minLength: 1, examples: ['key_0123456789abcdef'] }),
  },
  keys: {
    name: 'limit',
    in: 'query',
    description: 'At most this many keys.',
    schema: Type.Integer({ minimum: 1, maximum: MOST_KEYS_SHOWN, default: MOST_KEYS_SHOWN }),
  },
  after: {
    name: 'after',
    in: 'query',
    description: 'The `next` of an earlier answer.',
    schema: Type.String({ examples: ['key_0123456789abcdef'] }),
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
  onlyHost: {
    name: 'host',
    in: 'query',
    description: 'Only this host, with up to 50 of its listed domains.',
    schema: Type.String({ examples: ['mx.example.com'] }),
  },
  acts: {
    name: 'limit',
    in: 'query',
    description: 'At most this many entries.',
    schema: Type.Integer({ minimum: 1, maximum: MOST_ACTS_SHOWN, default: 100 }),
  },
} as const satisfies Record<string, Parameter>;

interface Endpoints {
  readonly keys: ReturnType<typeof keyEndpoints>;
  readonly overrides: ReturnType<typeof overrideEndpoints>;
  readonly hosts: ReturnType<typeof hostEndpoints>;
  readonly feeds: FeedRows;
  readonly audit: ReturnType<typeof auditEndpoints>;
  readonly traffic: TrafficRows;
  readonly appointed: ReturnType<typeof appointedEndpoints>;
  readonly decisions: ReturnType<typeof decisionEndpoints>;
}

export function operatorRoutes(doors: Actors, endpoints: Endpoints): Route[] {
  const row: RouteOf = one => routeOf(doors, one);
  return [
    ...keyRoutes(row, endpoints),
    ...overrideRoutes(row, endpoints),
    ...feedRoutes(row, endpoints.feeds),
    ...evidenceRoutes(row, endpoints),
    ...trafficRoutes(row, endpoints.traffic),
    decisionsRoute(row, endpoints.decisions),
    ...appointedRoutes(row, endpoints.appointed),
  ];
}

function keyRoutes(row: RouteOf, { keys }: Endpoints): Route[] {
  return [
    row({
      at: ['GET', '/admin/keys'],
      says: [
        'listKeys',
        'List keys',
        'The oldest first, with their calls of the last 30 days. Never a secret.',
      ],
      answer: KeysSchema,
      parameters: [PARAMETERS.keys, PARAMETERS.after],
      refusals: [422],
      work: keys.list,
    }),
    row({
      at: ['POST', '/admin/keys'],
      says: ['createKey', 'Create a key', 'The secret is returned only once.'],
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
function evidenceRoutes(row: RouteOf, { hosts, audit }: Endpoints): Route[] {
  return [
    row({
      at: ['GET', '/admin/infra'],
      says: ['listHosts', 'List learned mail hosts', 'Mail hosts that serve listed domains.'],
      answer: HostsSchema,
      parameters: [PARAMETERS.onlyHost],
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
