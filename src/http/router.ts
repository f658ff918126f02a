/** Finds what is at a raw path. Few paths, found by a map; those with a place for a name by their segments. */

import type { Headers } from './call.ts';
import type { Route } from './routes.ts';
import { CHECK_PATH, DOMAIN_PATH } from './target.ts';

/** All that can be done at one path. */
export interface Resource {
  readonly name: string;
  readonly isApi: boolean;
  readonly price: number;
  /** By method; HEAD is a GET whose body is not sent (RFC 9110 9.3.2). */
  readonly routes: ReadonlyMap<string, Route>;
  /** What 405 and preflights name. */
  readonly allow: string;
  /** The answer to a CORS preflight (Fetch standard); undefined where pages of other origins have no business. */
  readonly preflight: Headers | undefined;
}

export interface Found {
  readonly resource: Resource;
  /** The raw segment in the place of `{…}`, still encoded; empty where there is none. */
  readonly segment: string;
}

export type Find = (path: string) => Found | undefined;

export function createRouter(routes: readonly Route[]): Find {
  const exact = new Map<string, Found>();
  const shapes: {
    readonly parts: readonly string[];
    readonly nameAt: number;
    readonly resource: Resource;
  }[] = [];
  for (const [path, rows] of Map.groupBy(routes, ({ path }) => path)) {
    const resource = resourceOf(rows);
    const parts = path.split('/');
    const nameAt = parts.findIndex(part => part.startsWith('{'));
    // Their places are found by whoever reads the target: they are asked for most.
    if (nameAt < 0 || path === DOMAIN_PATH || path === CHECK_PATH) exact.set(path, { resource, segment: '' });
    else shapes.push({ parts, nameAt, resource });
  }
  return path => {
    const found = exact.get(path);
    if (found) return found;
    const sent = path.split('/', MOST_SEGMENTS);
    const shape = shapes.find(({ parts, nameAt }) => fits(parts, nameAt, sent));
    return shape && { resource: shape.resource, segment: sent[shape.nameAt]! };
  };
}

const MOST_SEGMENTS = 8;

function fits(parts: readonly string[], nameAt: number, sent: readonly string[]): boolean {
  if (parts.length !== sent.length || sent[nameAt] === '') return false;
  return parts.every((part, at) => at === nameAt || sent[at] === part);
}

function resourceOf(rows: readonly Route[]): Resource {
  const { name, door, price } = rows[0]!;
  const isApi = door === 'key';
  const byMethod = new Map<string, Route>();
  for (const row of rows) {
    byMethod.set(row.method, row);
    if (row.method === 'GET') byMethod.set('HEAD', row);
  }
  const allow = [...byMethod.keys(), ...(isApi ? ['OPTIONS'] : [])].join(', ');
  return {
    name,
    isApi,
    price,
    routes: byMethod,
    allow,
    preflight: isApi ? preflightOf(allow, rows) : undefined,
  };
}

const CALLERS_HEADERS = 'Authorization, If-None-Match, X-Request-Id, traceparent';

function preflightOf(allow: string, rows: readonly Route[]): Headers {
  const headers = rows.some(({ body }) => body) ? `${CALLERS_HEADERS}, Content-Type` : CALLERS_HEADERS;
  return [
    ...['Access-Control-Allow-Methods', allow, 'Access-Control-Allow-Headers', headers],
    ...['Access-Control-Max-Age', '86400', 'Allow', allow],
  ];
}
