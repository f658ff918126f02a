/** The raw request target: routed as it was sent, decoded by nobody but the parser of the one part that needs it. */

export const MOST_TARGET = 2048;

export const DOMAIN_PREFIX = '/v1/public/domain/';
/** The one route that all targets with a single segment behind the prefix are sent to. */
export const DOMAIN_ROUTE = `${DOMAIN_PREFIX}:domain`;
const DOMAIN_ROUTED = `${DOMAIN_PREFIX}-`;
/** Cannot be registered: no route begins with two slashes. */
const NOWHERE = '//';

export interface Target {
  readonly path: string;
  /** Without the question mark. */
  readonly query: string;
}

/** Origin-form or absolute-form (RFC 9112 3.2); undefined for anything else. */
export function readTarget(raw: string): Target | undefined {
  let start = 0;
  if (raw.charCodeAt(0) !== 0x2f) {
    const authority = /^https?:\/\/[^/?#]*/i.exec(raw);
    if (!authority) return undefined;
    start = authority[0].length;
  }
  const question = raw.indexOf('?', start);
  if (question < 0) return { path: raw.slice(start) || '/', query: '' };
  return { path: raw.slice(start, question) || '/', query: raw.slice(question + 1) };
}

/** The raw, still encoded segment in the domain's place; undefined when the path is not of that form. */
export function domainSegment(path: string): string | undefined {
  if (!path.startsWith(DOMAIN_PREFIX)) return undefined;
  return path.includes('/', DOMAIN_PREFIX.length) ? undefined : path.slice(DOMAIN_PREFIX.length);
}

/**
 * What the framework's router is shown. It would decode, and refuse or match what it decoded; so it never sees
 * the domain, and a path with an escape in it is at no route.
 */
export function routedUrl(raw: string): string {
  const target = readTarget(raw);
  if (target === undefined) return NOWHERE;
  if (domainSegment(target.path) !== undefined) return DOMAIN_ROUTED;
  return /[%;\\#]|\/\//.test(target.path) ? NOWHERE : target.path;
}
