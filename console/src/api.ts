/** Calls of the service, as any caller makes them. What goes wrong is a value: the views only show it. */

import type { Check } from '../../client/src/shape.ts';
import { type DomainRisk, isUsage, type TopDomains, type Usage } from '../../client/src/wire.ts';

export type { DomainRisk, TopDomains, Usage } from '../../client/src/wire.ts';
export type Evidence = NonNullable<DomainRisk['evidence']>;
export type TopDomain = TopDomains['domains'][number];
export type Day = NonNullable<Usage['days']>[number];

export interface Answer<T> {
  readonly ok: true;
  readonly data: T;
  /** Judged without DNS, which did not answer. */
  readonly degraded: boolean;
  /** When it came, in milliseconds since the epoch. */
  readonly at: number;
}

/**
 * - `refused`: the service said no; `code` is its word for it.
 * - `unreachable`, `timeout`, `stopped`: no answer; the last one because the person did not want it any more.
 * - `foreign`: something that is not this service answered.
 */
export interface Failure {
  readonly ok: false;
  readonly kind: 'refused' | 'unreachable' | 'timeout' | 'stopped' | 'foreign';
  /** What was asked for. */
  readonly path?: string;
  readonly status?: number;
  readonly code?: string;
  readonly message?: string;
  readonly detail?: string;
  readonly requestId?: string;
  readonly resetAt?: string;
  /** Seconds. */
  readonly retryAfter?: number;
  /** What is left of the quota, where it is less than was asked for. */
  readonly remaining?: number;
  /** It is the domain that is not valid. */
  readonly isDomain?: true;
}

export type Result<T> = Answer<T> | Failure;

export interface Question {
  readonly path: string;
  readonly secret?: string;
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
  readonly check?: Check;
}

export const TIMEOUT_SECONDS = 10;

export const fail = (kind: Failure['kind'], more: Partial<Failure> = {}): Failure => ({
  ok: false,
  kind,
  ...more,
});

/** Sends it and gives the response with its text, or why there is none. */
export async function fetchText(question: Question): Promise<{ response: Response; text: string } | Failure> {
  const { path, secret, method = 'GET', body, signal } = question;
  const headers: Record<string, string> = { accept: 'application/json', ...question.headers };
  if (secret !== undefined) headers.authorization = `Bearer ${secret}`;
  if (body !== undefined) headers['content-type'] = 'application/json';
  const late = AbortSignal.timeout(TIMEOUT_SECONDS * 1000);
  try {
    const response = await fetch(path, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      // The browser's memory would hide what an operator has just changed.
      cache: 'no-store',
      credentials: 'omit',
      redirect: 'manual',
      signal: signal ? AbortSignal.any([late, signal]) : late,
    });
    return { response, text: await response.text() };
  } catch {
    if (signal?.aborted) return fail('stopped');
    return fail(late.aborted ? 'timeout' : 'unreachable');
  }
}

export async function ask<T>(question: Question): Promise<Result<T>> {
  const heard = await fetchText(question);
  if ('ok' in heard) return heard;
  const { response, text } = heard;
  const json = response.status === 204 ? null : parse(text);
  if (!response.ok) return { ...refusal(response, json), path: question.path };
  if (json === undefined || question.check?.(json) === false)
    return fail('foreign', { status: response.status });
  return {
    ok: true,
    data: json as T,
    degraded: response.headers.has('x-risk-degraded'),
    at: Date.now(),
  };
}

/** Only what has the shape of our errors is one: a proxy in between has words of its own. */
export function refusal({ status, headers }: Response, json: unknown): Failure {
  const { error, message, detail, request_id, reset_at } = (json ?? {}) as Record<string, unknown>;
  if (typeof error !== 'string') return fail('foreign', { status });
  const retryAfter = Number(headers.get('retry-after'));
  const remaining = Number(headers.get('x-ratelimit-remaining'));
  return fail('refused', {
    status,
    code: error,
    ...(typeof message === 'string' ? { message } : {}),
    ...(typeof detail === 'string' ? { detail } : {}),
    ...(typeof request_id === 'string' ? { requestId: request_id } : {}),
    ...(typeof reset_at === 'string' ? { resetAt: reset_at } : {}),
    ...(retryAfter > 0 ? { retryAfter } : {}),
    ...(error === 'quota_exceeded' && remaining > 0 ? { remaining } : {}),
  });
}

export function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Of the key's own quota; not counted. */
export function askUsage(secret: string): Promise<Result<Usage>> {
  return ask({ path: '/v1/usage?days=30', secret, check: isUsage });
}
