/** One request: from a URL to a checked answer or to what went wrong. */

import { type Failure, failure, type Quota, type Result } from './result.ts';
import type { Check } from './shape.ts';

export interface Question {
  readonly url: string;
  readonly headers: Record<string, string>;
  /** JSON, where something is sent. */
  readonly body?: string | undefined;
  readonly check: Check;
  readonly fetch: typeof fetch;
}

export interface Heard {
  readonly result: Result<unknown>;
  /** Milliseconds for which the answer may be given again. */
  readonly fresh: number;
}

/** Twice the largest answer that the service has: a thousand domains of the greatest length. */
const MOST_BYTES = 1 << 20;
const LONGEST_MESSAGE = 500;
const LONGEST_FRESH = 86_400;

export async function ask(
  { url, headers, body, check, fetch }: Question,
  signal: AbortSignal,
): Promise<Heard> {
  try {
    // The service never redirects. Whoever does must not get the key.
    const sent = body ? { method: 'POST', body } : {};
    const response = await fetch(url, { headers, signal, redirect: 'manual', ...sent, ...UNCACHED });
    const text = await readText(response);
    return text === undefined
      ? none(failure('answer', 'The answer is too large.', seen(response)))
      : read(response, text, check);
  } catch (error) {
    return none(failure('network', `The service could not be reached (${nameOf(error)}).`));
  }
}

/** A browser's own cache would hide an answer's age. Runtimes without this option, such as older Workers, refuse it. */
const UNCACHED: RequestInit =
  typeof Request === 'function' && 'cache' in Request.prototype ? { cache: 'no-store' } : {};

const isText = (value: unknown): value is string => typeof value === 'string';
const none = (result: Failure): Heard => ({ result, fresh: 0 });

/** Undefined when it is too large. */
async function readText(response: Response): Promise<string | undefined> {
  // React Native has no stream here.
  if (!response.body) return response.text();
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.byteLength;
    if (bytes > MOST_BYTES) {
      reader.cancel().catch(() => {});
      return undefined;
    }
    text += decoder.decode(value, { stream: true });
  }
}

function read(response: Response, text: string, check: Check): Heard {
  const { status, headers } = response;
  const json = parse(text);
  if (status >= 400) return none(refusal(response, json));
  if (status !== 200) {
    const message = 'The service never redirects, something else answered: check baseUrl.';
    return none(failure('answer', message, seen(response)));
  }
  if (!check(json)) {
    return none(
      failure('answer', 'The answer is not what this service sends: check baseUrl.', seen(response)),
    );
  }
  const degraded = headers.get('x-risk-degraded') !== null;
  return {
    result: { ok: true, data: json, quota: quotaIn(headers), degraded, fromCache: false },
    fresh: freshFor(headers),
  };
}

function refusal(response: Response, json: unknown): Failure {
  const { status, headers } = response;
  const { error, message, detail } = (json ?? {}) as Record<string, unknown>;
  const text = [message, detail].filter(isText).join(' ');
  return failure(status < 500 ? 'refused' : 'server', plain(text) || `The service answered ${status}.`, {
    ...seen(response),
    code: isText(error) ? plain(error) : null,
    retryAfter: wholeNumber(headers.get('retry-after')),
  });
}

/** What the head of an answer tells, whatever its body is. */
function seen({ status, headers }: Response): Partial<Failure> {
  const requestId = headers.get('x-request-id');
  // A browser shows a redirect as status 0.
  return { status: status || null, quota: quotaIn(headers), requestId: requestId && plain(requestId) };
}

function quotaIn(headers: Headers): Quota | null {
  const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map(name =>
    wholeNumber(headers.get(`x-ratelimit-${name}`)),
  );
  // What `Date` cannot be is no time (ECMA-262, 21.4.1.1).
  if (limit == null || remaining == null || reset == null || reset > 8.64e12) return null;
  return { limit, remaining, resetAt: reset * 1000 };
}

/** RFC 9111 4.2: how long a private cache may use it. */
function freshFor(headers: Headers): number {
  const control = headers.get('cache-control') ?? '';
  if (/no-(store|cache)/i.test(control)) return 0;
  const seconds = Number(/max-age="?(\d+)/i.exec(control)?.[1] ?? 0);
  const age = wholeNumber(headers.get('age')) ?? 0;
  return (Math.min(seconds, LONGEST_FRESH) - age) * 1000;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function wholeNumber(text: string | null): number | null {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null;
}

/** Text from outside may end in a log. */
function plain(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ').slice(0, LONGEST_MESSAGE);
}

/** A name, never the message: a custom fetch may put the request's headers into that one. */
function nameOf(error: unknown): string {
  const { cause, code, name } = (error ?? {}) as {
    cause?: { code?: unknown };
    code?: unknown;
    name?: unknown;
  };
  return plain([cause?.code, code, name].find(isText) ?? 'unknown');
}
