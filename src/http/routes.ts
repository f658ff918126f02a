/** Every path of the port, each row with its door, its body, its answer, its price and its handler. */

import { Type } from 'typebox';
import { WINDOW_DAYS } from '../core/quota.ts';
import { KeyBody, NewKeyBody, NoBody, OverrideBody, RotationBody } from './bodies.ts';
import type { Call } from './call.ts';
import type { Doors } from './doors.ts';
import { type auditEndpoints, MOST_ACTS_SHOWN } from './endpoints/audit.ts';
import type { feedEndpoints } from './endpoints/feeds.ts';
import type { hostEndpoints } from './endpoints/hosts.ts';
import type { keyEndpoints } from './endpoints/keys.ts';
import type { overrideEndpoints } from './endpoints/overrides.ts';
import type { probeEndpoints } from './endpoints/probes.ts';
import { operated, type Work } from './operators.ts';
import { PRICES } from './prices.ts';
import {
  ActsSchema,
  DomainSchema,
  FeedsSchema,
  FlagReasonSchema,
  HostStateSchema,
  HostsSchema,
  KeySchema,
  KeysSchema,
  MadeKeySchema,
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
  /** Of the request; without it no body is read. */
  readonly body?: Type.TObject;
  /** A schema, the media type of a page, or nothing. */
  readonly answer: Type.TSchema | string | undefined;
  /** What the reference says about it; without it, it is not there. */
  readonly reference?: Reference;
  readonly handle: Handle;
}

export type Handle = (call: Call, body: unknown) => void | Promise<void>;

export interface Reference {
  readonly summary: string;
  readonly description: string;
  /** Of an answer that went well, where it is not 200. */
  readonly status?: 201 | 204;
  readonly parameters: readonly Parameter[];
  readonly refusals: readonly number[];
  readonly isCounted: boolean;
  /** Answers carry an ETag and can be asked for by If-None-Match. */
  readonly hasTag?: true;
}

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
    description: 'How many domains at the most.',
    schema: Type.Integer({ minimum: 1, maximum: 1000, default: 100 }),
  },
  days: {
    name: 'days',
    in: 'query',
    description: 'Adds `days`: the calls of each of the last so many days.',
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
    description: 'The id of a key, or its name where only one key has it.',
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
    description: 'How many acts at the most.',
    schema: Type.Integer({ minimum: 1, maximum: MOST_ACTS_SHOWN, default: 100 }),
  },
  operator: {
    name: 'X-Operator',
    in: 'header',
    description: 'A name for the audit log, in UTF-8.',
    schema: Type.String({ maxLength: 100 }),
  },
  reason: { name: 'reason', in: 'query', description: 'Only these.', schema: FlagReasonSchema },
} as const satisfies Record<string, Parameter>;

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
        summary: 'Risk of one domain',
        description: 'Analyses the domain only, never a local part.',
        parameters: [PARAMETERS.domain, PARAMETERS.explain],
        refusals: [401, 403, 422, 429, 500, 503],
        isCounted: true,
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
        summary: 'Most often flagged domains',
        description: 'The domains that this service flagged most often in the last 30 days.',
        parameters: [PARAMETERS.limit, PARAMETERS.reason, PARAMETERS.ifNoneMatch],
        refusals: [401, 403, 422, 429, 500, 503],
        isCounted: true,
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
        summary: 'Quota of this key',
        description: 'What is used and left of the monthly quota.',
        parameters: [PARAMETERS.days],
        refusals: [401, 403, 422, 500, 503],
        isCounted: false,
      },
    },
    page('/livez', 'livez', 'application/json', probes.livez),
    page('/readyz', 'readyz', 'application/json', probes.readyz),
  ];
}

/** An answer that is made once for all: a probe, a document. */
export function page(path: string, name: string, answer: string, handle: Handle): Route {
  return { method: 'GET', path, name, door: 'none', price: PRICES.bytes, answer, handle };
}

/** What operators ask and do; there only where a token is set. */
export function operatorRoutes(
  doors: Doors,
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

  /** The bodies of requests, the answers and what the reference says: all that differs from row to row. */
  function row<T extends Type.TObject>(
    [method, path]: readonly [Route['method'], string],
    summary: string,
    [body, answer]: readonly [T, Type.TSchema | undefined],
    work: Work<T>,
    parameters: readonly Parameter[] = [],
  ): Route {
    const isRead = method === 'GET';
    const made = answer === MadeKeySchema && path === '/admin/keys' ? { status: 201 as const } : {};
    return {
      method,
      path,
      name: 'admin',
      door: 'operator',
      price: PRICES.read,
      ...(isRead ? {} : { body }),
      answer,
      handle: operated(doors, work),
      reference: {
        summary,
        description: isRead ? '' : 'Recorded in the audit log.',
        ...(answer === undefined ? { status: 204 as const } : made),
        parameters: isRead ? parameters : [...parameters, PARAMETERS.operator],
        refusals: [401, ...(parameters.length > 0 ? [404] : []), 422, 500],
        isCounted: false,
      },
    };
  }

  return [
    row(['GET', '/admin/keys'], 'List keys', [NoBody, KeysSchema], keys.list),
    row(['POST', '/admin/keys'], 'Create a key', [NewKeyBody, MadeKeySchema], keys.create),
    row(['PATCH', '/admin/keys/{id}'], 'Change a key', [KeyBody, KeySchema], keys.update, [id]),
    row(['POST', '/admin/keys/{id}/rotate'], 'Rotate a key', [RotationBody, MadeKeySchema], keys.rotate, [
      id,
    ]),
    row(['POST', '/admin/keys/{id}/revoke'], 'Revoke a key', [NoBody, KeySchema], keys.revoke, [id]),
    row(['GET', '/admin/overrides'], 'List overrides', [NoBody, OverridesSchema], overrides.list),
    row(
      ['PUT', '/admin/overrides/{domain}'],
      'Set an override',
      [OverrideBody, OverrideSchema],
      overrides.set,
      [overridden],
    ),
    row(
      ['DELETE', '/admin/overrides/{domain}'],
      'Remove an override',
      [NoBody, undefined],
      overrides.remove,
      [overridden],
    ),
    row(['GET', '/admin/feeds'], 'Status of the feeds', [NoBody, FeedsSchema], feeds.list),
    row(['GET', '/admin/infra'], 'List mail hosts', [NoBody, HostsSchema], hosts.list),
    row(
      ['POST', '/admin/infra/{host}/forget'],
      'Ignore a mail host',
      [NoBody, HostStateSchema],
      hosts.forget,
      [host],
    ),
    row(
      ['POST', '/admin/infra/{host}/relearn'],
      'Watch a mail host again',
      [NoBody, HostStateSchema],
      hosts.relearn,
      [host],
    ),
    row(['GET', '/admin/audit'], 'The audit log', [NoBody, ActsSchema], audit.list, [acts]),
  ];
}
