/** What the console asks the service, besides what operators do. */

import { either, nothing, object, string } from '../../client/src/shape.ts';
import { type DomainRisks, isDomainRisk, isDomainRisks, isTopDomains } from '../../client/src/wire.ts';
import {
  ask,
  type DomainRisk,
  type Failure,
  fail,
  fetchText,
  parse,
  type Result,
  refusal,
  type TopDomains,
} from './api.ts';
import { domainIn } from './domain-in.ts';

/** A half character, as a paste may leave one, cannot be encoded: the service is sent its replacement and refuses it. */
export const domainPath = (domain: string) =>
  `/v1/public/domain/${encodeURIComponent(domain.toWellFormed())}?explain=true`;

/** Counts against the quota of the key. What is more or less than a domain, such as an email address, is not sent. */
export async function askDomain(
  domain: string,
  secret: string,
  signal?: AbortSignal,
): Promise<Result<DomainRisk>> {
  const result: Result<DomainRisk> =
    domainIn(domain) !== domain
      ? fail('refused', { code: 'validation_error', detail: 'a domain looks like gmail.com' })
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
  return { ok: true, data: data as DomainRisk, degraded: degraded !== undefined, at: Date.now() };
}

/** Counts against the quota of the key. */
export function askTop(secret: string): Promise<Result<TopDomains>> {
  return ask({ path: '/v1/public/top-domains?limit=1000&explain=true', secret, check: isTopDomains });
}

/** What operators watch, in Prometheus' text format. */
export async function askMetrics(): Promise<Result<string>> {
  const heard = await fetchText({ path: '/metrics' });
  if ('ok' in heard) return heard;
  const { response, text } = heard;
  if (!response.ok) return refusal(response, parse(text));
  return { ok: true, data: text, degraded: false, at: Date.now() };
}

/** A DNS server that the service does not believe: why, and what to do. */
export interface DnsProblem {
  readonly address: string;
  readonly problem: string;
}

export interface Dns {
  readonly isDegraded: boolean;
  readonly problems: readonly DnsProblem[];
}

/** What readiness tells of it; undefined where that cannot be read, which is not the same as none. */
export async function askDns(): Promise<Dns | undefined> {
  const heard = await fetchText({ path: '/readyz' });
  if ('ok' in heard || !heard.response.ok) return undefined;
  const { dns } = (parse(heard.text) ?? {}) as { dns?: { status?: string; servers?: Partial<DnsProblem>[] } };
  if (!dns || !Array.isArray(dns.servers)) return undefined;
  const isProblem = (one: Partial<DnsProblem>): one is DnsProblem =>
    typeof one.address === 'string' && typeof one.problem === 'string';
  return { isDegraded: dns.status !== 'ok', problems: dns.servers.filter(isProblem) };
}

/** What the link of the first start gives away. */
export interface Welcomed {
  readonly api_key: string;
  readonly operator_token: string | null;
}
const isWelcomed = object({ api_key: string, operator_token: either(string, nothing) });

export const askWelcome = (code: string): Promise<Result<Welcomed>> =>
  ask({ path: '/welcome', method: 'POST', secret: code, check: isWelcomed });
