/** Every way to say no, in one table: the code, its status, and what the caller should do. */

export const REFUSALS = {
  bad_request: { status: 400, message: 'The request is not valid HTTP for this service.' },
  unauthorized: {
    status: 401,
    message: 'The API key is missing or invalid. Send it as "Authorization: Bearer <API_KEY>".',
  },
  forbidden: {
    status: 403,
    message: 'This key may not be used from here. Call from an allowed origin or network.',
  },
  not_found: { status: 404, message: 'There is nothing at this path. See /docs for what exists.' },
  method_not_allowed: {
    status: 405,
    message: 'This method is not allowed here. Use one that the Allow header names.',
  },
  request_timeout: { status: 408, message: 'The request was not sent in time.' },
  gone: {
    status: 410,
    message:
      'Changes after this cursor are not known any more. Start again without one, and without what you kept.',
  },
  content_too_large: { status: 413, message: 'The body of the request is too large.' },
  uri_too_long: { status: 414, message: 'The request target is too long.' },
  unsupported_media_type: {
    status: 415,
    message: 'The body must be JSON: send "Content-Type: application/json".',
  },
  expectation_failed: { status: 417, message: 'The Expect header is not supported. Leave it out.' },
  validation_error: { status: 422, message: 'The request could be read, but a value in it is not valid.' },
  quota_exceeded: {
    status: 429,
    message: 'The monthly quota of this key is used up. Continue without the check until the reset.',
  },
  rate_limited: { status: 429, message: 'Too many calls per second with this key. Slow down.' },
  headers_too_large: { status: 431, message: 'The request headers are too large.' },
  internal_error: { status: 500, message: 'Something failed on our side. Continue without the check.' },
  overloaded: { status: 503, message: 'The service has more calls than it can answer. Try again shortly.' },
  not_ready: { status: 503, message: 'The service cannot answer calls right now.' },
} as const;

export type RefusalCode = keyof typeof REFUSALS;

/** A value, not an exception: the caller is expected to act on it. */
export interface Refusal {
  readonly refused: RefusalCode;
  readonly detail: string | null;
  /** Seconds. */
  readonly retryAfter?: number;
}

export function refuse(refused: RefusalCode, detail: string | null = null, retryAfter?: number): Refusal {
  return retryAfter === undefined ? { refused, detail } : { refused, detail, retryAfter };
}
