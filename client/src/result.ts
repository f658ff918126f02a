/** What every call resolves to: an answer, or the reason why there is none. */

/** Look at `ok` first: TypeScript then knows which of the two it is. */
export type Result<T> = Answer<T> | Failure;

/** The service answered. */
export interface Answer<T> {
  readonly ok: true;
  /** What the service said, checked field by field. */
  readonly data: T;
  /** What was left of the monthly quota when this was answered; null for a key without limit. */
  readonly quota: Quota | null;
  /** The service had no answer from DNS and gave a neutral score. */
  readonly degraded: boolean;
  /** From this client's memory: nothing was sent and nothing was counted. */
  readonly fromCache: boolean;
}

/** There is no answer: continue without it. */
export interface Failure {
  readonly ok: false;
  readonly cause: Cause;
  /** The HTTP status, when there was one. */
  readonly status: number | null;
  /** The service's own word for it, such as `quota_exceeded`. */
  readonly code: string | null;
  /** For a person to read; it never holds the API key. */
  readonly message: string;
  /** Seconds to wait before asking again, when the service said so. */
  readonly retryAfter: number | null;
  /** As in an answer; known with 422 and 429, for example. */
  readonly quota: Quota | null;
  /** What the service's log calls this request. */
  readonly requestId: string | null;
}

/**
 * Why there is no answer:
 * - `timeout`: not answered in time
 * - `aborted`: your signal said so
 * - `network`: refused, reset, cut off, no such host
 * - `refused`: a 4xx; 401, 403 and 422 are yours to fix, 429 is a used-up quota or a rate limit
 * - `server`: a 5xx
 * - `answer`: not an answer of this service: no JSON, wrong fields, too large, a redirect
 * - `breaker`: not asked, because the last calls got no answer
 * - `input`: not asked, because the text holds no domain
 * - `options`: not asked, because the client's options are wrong
 */
export type Cause =
  | 'timeout'
  | 'aborted'
  | 'network'
  | 'refused'
  | 'server'
  | 'answer'
  | 'breaker'
  | 'input'
  | 'options';

/** The monthly quota of the key. */
export interface Quota {
  readonly limit: number;
  readonly remaining: number;
  /** The first instant of the next month, in milliseconds since 1970: for `new Date(resetAt)`. */
  readonly resetAt: number;
}

export function failure(cause: Cause, message: string, more: Partial<Failure> = {}): Failure {
  return {
    ok: false,
    cause,
    status: null,
    code: null,
    message,
    retryAfter: null,
    quota: null,
    requestId: null,
    ...more,
  };
}
