/** The raw request target: routed as it was sent, decoded by nobody but the parser of the one part that needs it. */

export const MOST_TARGET = 2048;
export const DOMAIN_PREFIX = '/v1/public/domain/';
/** As the OpenAPI document writes it. */
export const DOMAIN_PATH = `${DOMAIN_PREFIX}{domain}`;

export interface Target {
  /** The path of a route: the domain's place holds `{domain}`. */
  readonly path: string;
  /** The raw segment in the domain's place, still encoded. */
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
  if (path.startsWith(DOMAIN_PREFIX) && !path.includes('/', DOMAIN_PREFIX.length)) {
    return { path: DOMAIN_PATH, segment: path.slice(DOMAIN_PREFIX.length), query };
  }
  return { path, segment: '', query };
}
