/** Calls of the service, as any caller makes them. What goes wrong is a value: the views only show it. */

import { type Check, either, nothing, object, string } from '../../client/src/shape.ts';
import {
  type DomainRisk,
  type DomainRisks,
  isDomainRisk,
  isDomainRisks,
  isTopDomains,
  isUsage,
  type TopDomains,
  type Usage,
} from '../../client/src/wire.ts';

export type { DomainRisk, TopDomains, Usage } from '../../client/src/wire.ts';
export type Evidence = NonNullable<DomainRisk['evidence']>;
export type TopDomain = TopDomains['domains'][number];
export type Day = NonNullable<Usage['days']>[number];

export interface Answer<T> {
  readonly ok: true;
  readonly data: T;
  /** Judged without DNS, which did not answer. */
  readonly degraded: boolean;
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

const fail = (kind: Failure['kind'], more: Partial<Failure> = {}): Failure => ({ ok: false, kind, ...more });

/** Sends it and gives the response with its text, or why there is none. */
async function fetchText(question: Question): Promise<{ response: Response; text: string } | Failure> {
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
  };
}

/** Only what has the shape of our errors is one: a proxy in between has words of its own. */
function refusal({ status, headers }: Response, json: unknown): Failure {
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

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A half character, as a paste may leave one, cannot be encoded: the service is sent its replacement and refuses it. */
export const domainPath = (domain: string) =>
  `/v1/public/domain/${encodeURIComponent(domain.toWellFormed())}?explain=true`;

/** Counts against the quota of the key. */
export async function askDomain(
  domain: string,
  secret: string,
  signal?: AbortSignal,
): Promise<Result<DomainRisk>> {
  // A browser takes these for steps in the path, however they are written, and would ask for something else.
  const result: Result<DomainRisk> =
    domain === '.' || domain === '..'
      ? fail('refused', { code: 'validation_error', detail: 'dots alone are no domain' })
      : await ask({ path: domainPath(domain), secret, check: isDomainRisk, ...(signal ? { signal } : {}) });
  return !result.ok && result.code === 'validation_error' ? { ...result, isDomain: true } : result;
}

/** One call for all; each name counts against the quota. Gives one result for each name, in their order. */
export async function askDomains(
  domains: readonly string[],
  secret: string,
  signal: AbortSignal,
): Promise<readonly Result<DomainRisk>[] | Failure> {
  const body = { domains };
  const path = '/v1/public/domains?explain=true';
  const answer = await ask<DomainRisks>({ path, secret, method: 'POST', body, check: isDomainRisks, signal });
  if (!answer.ok) return answer;
  const { results } = answer.data;
  return results.length === domains.length ? results.map(resultOf) : fail('foreign', { status: 200 });
}

function resultOf(entry: DomainRisks['results'][number]): Result<DomainRisk> {
  const { degraded, error, detail = '', ...data } = entry;
  if (error) return fail('refused', { code: error, detail, isDomain: true });
  if (!isDomainRisk(data)) return fail('foreign', { status: 200 });
  return { ok: true, data: data as DomainRisk, degraded: degraded !== undefined };
}

/** Counts against the quota of the key. */
export function askTop(secret: string): Promise<Result<TopDomains>> {
  return ask({ path: '/v1/public/top-domains?limit=1000&explain=true', secret, check: isTopDomains });
}

export function askUsage(secret: string): Promise<Result<Usage>> {
  return ask({ path: '/v1/usage?days=30', secret, check: isUsage });
}

/** What operators watch, in Prometheus' text format. */
export async function askMetrics(): Promise<Result<string>> {
  const heard = await fetchText({ path: '/metrics' });
  if ('ok' in heard) return heard;
  const { response, text } = heard;
  if (!response.ok) return refusal(response, parse(text));
  return { ok: true, data: text, degraded: false };
}

/** A DNS server that the service does not believe: why, and what to do. */
export interface DnsProblem {
  readonly address: string;
  readonly problem: string;
}

/** Those that readiness tells of; none where it cannot be had, which the metrics beside it tell better. */
export async function askDnsProblems(): Promise<readonly DnsProblem[]> {
  const heard = await fetchText({ path: '/readyz' });
  if ('ok' in heard) return [];
  const told = parse(heard.text) as { dns?: { servers?: Partial<DnsProblem>[] } } | undefined;
  const servers = told?.dns?.servers ?? [];
  return servers.filter(
    (one): one is DnsProblem => typeof one.address === 'string' && typeof one.problem === 'string',
  );
}

/** What the link of the first start gives away. */
export interface Welcomed {
  readonly api_key: string;
  readonly operator_token: string | null;
}
const isWelcomed = object({ api_key: string, operator_token: either(string, nothing) });

export const askWelcome = (code: string): Promise<Result<Welcomed>> =>
  ask({ path: '/welcome', method: 'POST', secret: code, check: isWelcomed });
