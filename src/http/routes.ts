/** Every path of the port, each row with its door, its body, its answer, its price and its handler. */

import { Type } from 'typebox';
import { WINDOW_DAYS } from '../core/quota.ts';
import { NoBody, OverrideBody } from './bodies.ts';
import type { Call } from './call.ts';
import type { Doors } from './doors.ts';
import { type auditEndpoints, MOST_ACTS_SHOWN } from './endpoints/audit.ts';
import type { feedEndpoints } from './endpoints/feeds.ts';
import type { hostEndpoints } from './endpoints/hosts.ts';
import type { keyEndpoints } from './endpoints/keys.ts';
import type { overrideEndpoints } from './endpoints/overrides.ts';
import { livez, type probeEndpoints } from './endpoints/probes.ts';
import { KeyBody, KeySchema, KeysSchema, MadeKeySchema, NewKeyBody, RotationBody } from './key.ts';
import { operated, type Work } from './operators.ts';
import { PRICES } from './prices.ts';
import {
  ActsSchema,
  DomainSchema,
  FeedsSchema,
  FlagReasonSchema,
  HostStateSchema,
  HostsSchema,
  OverrideSchema,
  OverridesSchema,
  TopDomainsSchema,
  UsageSchema,
} from './schemas.ts';
import { DOMAIN_PATH } from './target.ts';

export interface Route {
  /** A GET answers HEAD too. */
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** `{…}` stands for one segment. */
  readonly path: string;
  /** What the logs and metrics call it. */
  readonly name: string;
  /** Who may come in. The key is judged by the handler, since that counts; the operator before any body is read. */
  readonly door: 'none' | 'key' | 'operator';
  /** What one answer costs: see prices.ts. */
  readonly price: number;
  /** Answered whatever the load: who watches the service would take a 503 for its death. */
  readonly isProbe?: true;
  /** Of the request; without it no body is read. */
  readonly body?: Type.TObject;
  /** A schema, the media type of a page, or nothing. */
  readonly answer: Type.TSchema | string | undefined;
  /** What the reference says about it; without it, it is not there. */
  readonly reference?: Reference;
  readonly handle: Handle;
}

export type Handle = (call: Call, body: unknown) => void | Promise<void>;

/** What programs call an operation; its examples are in examples.ts under the same name. */
export type OperationId = CallersOperation | OperatorsOperation;
type CallersOperation = 'getDomain' | 'listTopDomains' | 'getUsage';
type OperatorsOperation =
  | 'listKeys'
  | 'createKey'
  | 'updateKey'
  | 'rotateKey'
  | 'revokeKey'
  | 'listOverrides'
  | 'setOverride'
  | 'removeOverride'
  | 'listFeeds'
  | 'listHosts'
  | 'ignoreHost'
  | 'watchHost'
  | 'listActs';

export interface Reference {
  readonly id: OperationId;
  readonly summary: string;
  readonly description: string;
  /** Of an answer that went well, where it is not 200. */
  readonly status?: 201 | 204;
  readonly parameters: readonly Parameter[];
  readonly refusals: readonly Refused[];
  readonly isCounted: boolean;
  /** `Cache-Control` of an answer that went well. */
  readonly caching: string;
  /** Answers carry an ETag and can be asked for by If-None-Match. */
  readonly hasTag?: true;
  /** Without DNS it is answered all the same, and says so in `X-Risk-Degraded`. */
  readonly canDegrade?: true;
}

/** Statuses that an operation names; 405 and what the transport refuses are everywhere. */
export type Refused = 401 | 403 | 404 | 413 | 415 | 422 | 429 | 500 | 503;

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: true;
  readonly description: string;
  readonly schema: Type.TSchema;
}

const PARAMETERS = {
  domain: {
    name: 'domain',
    in: 'path',
    required: true,
    description: 'A domain name, such as `gmail.com`; never an email address.',
    schema: Type.String({ minLength: 1, examples: ['gmail.com'] }),
  },
  explain: {
    name: 'explain',
    in: 'query',
    description: 'Adds `evidence`: why the answer is what it is.',
    schema: Type.Boolean({ default: false }),
  },
  limit: {
    name: 'limit',
    in: 'query',
    description: 'At most this many domains.',
    schema: Type.Integer({ minimum: 1, maximum: 1000, default: 100 }),
  },
  days: {
    name: 'days',
    in: 'query',
    description: 'Adds `days`: the calls of each of the last so many days, today last.',
    schema: Type.Integer({ minimum: 1, maximum: WINDOW_DAYS }),
  },
  ifNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description: 'The `ETag` of an earlier answer.',
    schema: Type.String(),
  },
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
  reason: {
    name: 'reason',
    in: 'query',
    description: 'Only domains with this reason.',
    schema: FlagReasonSchema,
  },
} as const satisfies Record<string, Parameter>;

const NO_STORE = 'no-store';

/** What callers and watchers find. */
export function publicRoutes(handlers: {
  domain: Handle;
  top: Handle;
  usage: Handle;
  probes: ReturnType<typeof probeEndpoints>;
}): Route[] {
  const { domain, top, usage, probes } = handlers;
  return [
    {
      method: 'GET',
      path: DOMAIN_PATH,
      name: 'domain',
      door: 'key',
      price: PRICES.call,
      answer: DomainSchema,
      handle: domain,
      reference: {
        id: 'getDomain',
        summary: 'Look up a domain',
        description:
          'The risk of one domain, from 0 to 100. Send the domain only, never a whole email address.',
        parameters: [PARAMETERS.domain, PARAMETERS.explain],
        refusals: [401, 403, 422, 429, 500, 503],
        isCounted: true,
        caching: 'private, max-age=300',
        canDegrade: true,
      },
    },
    {
      method: 'GET',
      path: '/v1/public/top-domains',
      name: 'top_domains',
      door: 'key',
      price: PRICES.call,
      answer: TopDomainsSchema,
      handle: top,
      reference: {
        id: 'listTopDomains',
        summary: 'List top domains',
        description:
          'The domains flagged most often here in the last 30 days; the rest of the list is padded with widely listed domains.',
        parameters: [PARAMETERS.limit, PARAMETERS.reason, PARAMETERS.ifNoneMatch],
        refusals: [401, 403, 422, 429, 500, 503],
        isCounted: true,
        caching: 'private, max-age=60',
        hasTag: true,
      },
    },
    {
      method: 'GET',
      path: '/v1/usage',
      name: 'usage',
      door: 'key',
      price: PRICES.read,
      answer: UsageSchema,
      handle: usage,
      reference: {
        id: 'getUsage',
        summary: 'Get the usage of your key',
        description: 'How much of the monthly quota is used and left.',
        parameters: [PARAMETERS.days],
        refusals: [401, 403, 422, 500, 503],
        isCounted: false,
        caching: NO_STORE,
      },
    },
    LIVEZ,
    { ...page('/readyz', 'readyz', 'application/json', probes.readyz), isProbe: true },
  ];
}

/** An answer that is made once for all: a probe, a document. */
export function page(path: string, name: string, answer: string, handle: Handle): Route {
  return { method: 'GET', path, name, door: 'none', price: PRICES.bytes, answer, handle };
}

/** There from the first moment on. */
export const LIVEZ: Route = { ...page('/livez', 'livez', 'application/json', livez), isProbe: true };

/** What operators ask and do; there only where a token is set. */
export function operatorRoutes(
  doors: Pick<Doors, 'actorOf'>,
  endpoints: {
    keys: ReturnType<typeof keyEndpoints>;
    overrides: ReturnType<typeof overrideEndpoints>;
    hosts: ReturnType<typeof hostEndpoints>;
    feeds: ReturnType<typeof feedEndpoints>;
    audit: ReturnType<typeof auditEndpoints>;
  },
): Route[] {
  const { keys, overrides, hosts, feeds, audit } = endpoints;
  const { id, overridden, host, acts } = PARAMETERS;

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

  function row<T extends Type.TObject>({
    at: [method, path],
    says,
    body,
    answer,
    work,
    ...rest
  }: Row<T>): Route {
    const [id, summary, description = ''] = says;
    const { parameters = [], refusals = [], created } = rest;
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
        caching: NO_STORE,
      },
    };
  }

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
      parameters: [id],
      refusals: [404],
      work: keys.update,
    }),
    row({
      at: ['POST', '/admin/keys/{id}/rotate'],
      says: ['rotateKey', 'Rotate a key', 'A new secret for the same key. Its usage stays.'],
      body: RotationBody,
      answer: MadeKeySchema,
      parameters: [id],
      refusals: [404],
      work: keys.rotate,
    }),
    row({
      at: ['POST', '/admin/keys/{id}/revoke'],
      says: ['revokeKey', 'Revoke a key', 'Refused from the next request on. Cannot be undone.'],
      answer: KeySchema,
      parameters: [id],
      refusals: [404],
      work: keys.revoke,
    }),
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
      parameters: [overridden],
      work: overrides.set,
    }),
    row({
      at: ['DELETE', '/admin/overrides/{domain}'],
      says: ['removeOverride', 'Remove an override'],
      parameters: [overridden],
      refusals: [404],
      work: overrides.remove,
    }),
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
      parameters: [host],
      refusals: [404],
      work: hosts.forget,
    }),
    row({
      at: ['POST', '/admin/infra/{host}/relearn'],
      says: ['watchHost', 'Watch a mail host again', 'Ends that it is ignored.'],
      answer: HostStateSchema,
      parameters: [host],
      refusals: [404],
      work: hosts.relearn,
    }),
    row({
      at: ['GET', '/admin/audit'],
      says: ['listActs', 'Read the audit log', 'What operators did, the newest first.'],
      answer: ActsSchema,
      parameters: [acts],
      refusals: [422],
      work: audit.list,
    }),
  ];
}

const BODY_REFUSALS: readonly Refused[] = [413, 415];
