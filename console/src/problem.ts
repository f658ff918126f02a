/** What went wrong in words that a person can act on: one row for each way. */

import { type Failure, TIMEOUT_SECONDS } from './api.ts';
import { fromNow, moment, plural } from './time.ts';

export interface Problem {
  readonly title: string;
  readonly advice: string;
  /** Asking the same again can help. */
  readonly canRetry: boolean;
}

type Row = (failure: Failure) => Omit<Problem, 'canRetry'> & { readonly canRetry?: boolean };

const UNSENT: Record<Exclude<Failure['kind'], 'refused'>, Row> = {
  unreachable: () => ({
    title: 'The service cannot be reached',
    advice: `Nothing answers at ${location.origin}. Check that the service is running and that you are online, then try again. Your own callers fail open: they continue without the check.`,
    canRetry: true,
  }),
  timeout: () => ({
    title: `No answer within ${TIMEOUT_SECONDS} seconds`,
    advice:
      'The service is there but too slow, or something between you and it is. The call may have been counted. Try again, or ask the operator to look at its health.',
    canRetry: true,
  }),
  stopped: () => ({ title: 'Cancelled', advice: 'You stopped it before the answer came.', canRetry: true }),
  foreign: ({ status }) => ({
    title: 'Something else answered',
    advice: `The answer${status ? ` (status ${status})` : ''} is not one of this service: a proxy or a login page may stand in between.`,
    canRetry: true,
  }),
};

const REFUSED: Record<string, Row> = {
  unauthorized: ({ detail, path }) =>
    path?.startsWith('/admin/')
      ? {
          title: 'The token is not accepted',
          advice:
            'It is neither the ADMIN_TOKEN that this service was started with nor the token of an operator, or it was revoked. Nothing was changed. Sign in again.',
        }
      : {
          title: 'The key is not accepted',
          advice: `${sentence(detail)}It is incomplete, expired, revoked, or belongs to another service. Paste the whole key again; if it still fails, ask an operator for a new one.`,
        },
  forbidden: ({ detail }) => ({
    title: 'This key may not be used from here',
    advice: `${sentence(detail)}A key that is limited to origins cannot be used in this page: a browser names no origin when a page asks its own server. One that is limited to networks works only from these. Use a key without such limits.`,
  }),
  validation_error: ({ detail, message, isDomain }) => ({
    title: isDomain ? 'Not a valid domain' : 'Not valid',
    advice: `${sentence(detail ?? message)}Correct it and try again.`,
  }),
  quota_exceeded: ({ resetAt }) => ({
    title: 'The monthly quota of this key is used up',
    advice: `${resetAt ? `Quota resets ${fromNow(resetAt)}, on ${moment(resetAt)}. ` : ''}Until then callers continue without the check. An operator can raise the quota; it applies at once.`,
  }),
  rate_limited: ({ retryAfter }) => ({
    title: 'Too many calls per second',
    advice: `This key has a rate limit. Try again in ${plural(retryAfter ?? 1, 'second')}; the refused call was not counted.`,
    canRetry: true,
  }),
  overloaded: ({ retryAfter }) => ({
    title: 'The service is overloaded',
    advice: `It has more calls than it can answer. Try again in ${plural(retryAfter ?? 1, 'second')}; nothing was counted.`,
    canRetry: true,
  }),
  not_ready: ({ detail }) => ({
    title: 'The service is not ready',
    advice: `${sentence(detail)}Try again in a moment.`,
    canRetry: true,
  }),
  internal_error: () => ({
    title: 'The service failed',
    advice:
      'This is a fault of the service, not yours. The operator finds it in the log by the request ID below. Your own callers fail open: they continue without the check.',
    canRetry: true,
  }),
  not_found: ({ detail }) => ({
    title: 'Not found',
    advice: `${sentence(detail)}It may have been removed, or this page is older than the service: reload the page.`,
  }),
};

export function explain(failure: Failure): Problem {
  const row = failure.kind === 'refused' ? REFUSED[failure.code ?? ''] : UNSENT[failure.kind];
  const said = row?.(failure) ?? {
    title: failure.message ?? `The service answered ${failure.status}`,
    advice: sentence(failure.detail),
  };
  return { canRetry: false, ...said };
}

/** What the service says in half a sentence, as a whole one; it ends with a space. */
function sentence(text: string | undefined): string {
  if (!text) return '';
  // The name of a field stays as it is.
  const whole = /^[a-z]+_/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(whole) ? `${whole} ` : `${whole}. `;
}
