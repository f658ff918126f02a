/** The raw request target: routed as it was sent, decoded by nobody but the parser of the one part that needs it. */

export const MOST_TARGET = 2048;
export const DOMAIN_PREFIX = '/v1/public/domain/';
const CHECK_PREFIX = '/v1/check/';
/** As the OpenAPI document writes them. */
export const DOMAIN_PATH = `${DOMAIN_PREFIX}{domain}`;
export const CHECK_PATH = `${CHECK_PREFIX}{email_or_domain}`;
/** Whether it is alive, and ready: those that know from the first bytes who asks how the service is go by these. */
export const PROBE_PATHS = ['/livez', '/readyz'];

export interface Target {
  /** The path of a route: the place of a domain or an address holds its name in braces. */
  readonly path: string;
  /** The raw segment in that place, still encoded. */
  readonly segment: string;
  /** Without the question mark. */
  readonly query: string;
}

/** Stands for a target that is none. */
export const NO_TARGET: Target = { path: '', segment: '', query: '' };

/** Origin-form or absolute-form (RFC 9112 3.2); undefined for anything else. */
export function readTarget(raw: string): Target | undefined {
  let start = 0;
  if (raw.charCodeAt(0) !== 0x2f) {
    const authority = /^https?:\/\/[^/?#]*/i.exec(raw);
    if (!authority) return undefined;
    start = authority[0].length;
  }
  const question = raw.indexOf('?', start);
  const path = raw.slice(start, question < 0 ? undefined : question) || '/';
  const query = question < 0 ? '' : raw.slice(question + 1);
  if (isPlace(path, DOMAIN_PREFIX))
    return { path: DOMAIN_PATH, segment: path.slice(DOMAIN_PREFIX.length), query };
  if (isPlace(path, CHECK_PREFIX))
    return { path: CHECK_PATH, segment: path.slice(CHECK_PREFIX.length), query };
  return { path, segment: '', query };
}

/** One segment comes behind it, be it empty. */
function isPlace(path: string, prefix: string): boolean {
  return path.startsWith(prefix) && !path.includes('/', prefix.length);
}
