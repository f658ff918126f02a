/** The headers of answers, as the OpenAPI document tells of them: which status has which, and a real value of each. */

import type { Refusal } from '../core/refusal.ts';
import { ALLOWANCE, NOW, REQUEST_ID, USED_UP } from './examples.ts';
import { quotaHeaders } from './reply.ts';
import type { Reference } from './routes.ts';

interface Words {
  readonly description: string;
  readonly type?: 'integer';
}

const WORDS: Readonly<Record<string, Words>> = {
  'X-Request-Id': { description: 'Finds the request in the logs.' },
  'Cache-Control': { description: 'How long the answer may be kept.' },
  ETag: { description: 'Send it as `If-None-Match` to learn whether anything changed.' },
  'X-Risk-Degraded': { description: '`dns` when DNS did not answer; otherwise absent.' },
  'WWW-Authenticate': { description: 'How to authenticate (RFC 6750).' },
  Allow: { description: 'The methods of this path.' },
  'Retry-After': { description: 'Seconds to wait.', type: 'integer' },
  'RateLimit-Policy': { description: 'The quota, and its window in seconds. Absent for unlimited keys.' },
  RateLimit: { description: 'Calls left, and seconds until the quota resets. Absent for unlimited keys.' },
  'X-RateLimit-Limit': { description: 'The quota. Absent for unlimited keys.', type: 'integer' },
  'X-RateLimit-Remaining': { description: 'Calls left. Absent for unlimited keys.', type: 'integer' },
  'X-RateLimit-Reset': {
    description: 'When the quota resets, in Unix seconds. Absent for unlimited keys.',
    type: 'integer',
  },
};

type Values = Readonly<Record<string, string>>;
const pairs = (flat: readonly string[]): Values =>
  Object.fromEntries(flat.flatMap((name, at) => (at % 2 === 0 ? [[name, flat[at + 1]!]] : [])));

/** Where an answer says something else, it says so itself. */
const USUAL: Values = {
  'X-Request-Id': REQUEST_ID,
  'Cache-Control': 'no-store',
  ETag: '"8N_7eilS8JpPhmafi3NDgK"',
  'X-Risk-Degraded': 'dns',
  'WWW-Authenticate': 'Bearer realm="domain-risk"',
  Allow: 'GET, HEAD, OPTIONS',
  'Retry-After': '1',
  ...pairs(quotaHeaders(ALLOWANCE, NOW)),
};

const headerOf = ([name, value]: [string, string]) => {
  const { description, type = 'string' } = WORDS[name]!;
  return { description, schema: { type }, example: type === 'integer' ? Number(value) : value };
};

/** For `components.headers`. */
export const HEADERS = Object.fromEntries(Object.entries(USUAL).map(one => [one[0], headerOf(one)]));

function shown(values: Values) {
  const refs = Object.entries(values).map(([name, value]) => [
    name,
    value === USUAL[name] ? { $ref: `#/components/headers/${name}` } : headerOf([name, value]),
  ]);
  return Object.fromEntries(refs);
}

/** Of an answer that went well; a 304 is one. */
export function goodHeaders({ isCounted, hasTag, canDegrade, caching }: Reference, isEmpty = false) {
  return shown({
    'X-Request-Id': REQUEST_ID,
    'Cache-Control': caching,
    ...(hasTag ? { ETag: USUAL.ETag! } : {}),
    ...(canDegrade && !isEmpty ? { 'X-Risk-Degraded': 'dns' } : {}),
    ...(isCounted ? pairs(quotaHeaders(ALLOWANCE, NOW)) : {}),
  });
}

/** A call is counted before its values are looked at, so that a 410 and a 422 tell the quota too. */
export function refusalHeaders(
  { isCounted, isCountedLate }: Pick<Reference, 'isCounted' | 'isCountedLate'>,
  status: number,
  { retryAfter }: Refusal,
  allow: string,
) {
  const isMetered = isCounted && (status === 410 || status === 429 || (status === 422 && !isCountedLate));
  return shown({
    'X-Request-Id': REQUEST_ID,
    'Cache-Control': 'no-store',
    ...(status === 401 ? { 'WWW-Authenticate': USUAL['WWW-Authenticate']! } : {}),
    ...(status === 405 ? { Allow: allow } : {}),
    ...(retryAfter === undefined ? {} : { 'Retry-After': `${retryAfter}` }),
    ...(isMetered ? pairs(quotaHeaders(status === 429 ? USED_UP : ALLOWANCE, NOW)) : {}),
  });
}
