/** The client: its questions. The one way that each of them takes to its answer is calls.ts. */

import { Calls, pathOf } from './calls.ts';
import { domainOf } from './domain.ts';
import { amount, type ClientOptions, readOptions } from './options.ts';
import type { Answer, Failure, Result } from './result.ts';
import { tell } from './warning.ts';
import {
  type Changes,
  type DomainRisk,
  type DomainRisks,
  type EmailCheck,
  isChanges,
  isDomainRisk,
  isEmailCheck,
  isTopDomains,
  isUsage,
  type TopDomains,
  type Usage,
} from './wire.ts';

export interface Client {
  /** What the service knows about a domain. Of an email address only the domain is sent. */
  lookup(domainOrEmail: string, options?: LookupOptions): Promise<Result<DomainRisk>>;
  /** Whether the risk score reaches the threshold. False when there is no answer; `onFailure` is told why. */
  isRisky(domainOrEmail: string, options?: RiskOptions): Promise<boolean>;
  /**
   * The risk of an email address. The whole address is sent, always: a filter has no `did_you_mean` and no
   * `deliverability_score`. The answer shows it masked and is never kept.
   */
  check(emailOrDomain: string, options?: CallOptions): Promise<Result<EmailCheck>>;
  /**
   * What the service knows about up to 1,000 domains, in one call and in their order; those known from before or in the
   * filter are not sent. Of email addresses only the domains are sent. An entry with `error` is no domain.
   */
  domains(domainsOrEmails: readonly string[], options?: DomainsOptions): Promise<Result<DomainRisks>>;
  /** The domains that the service flagged most often in the last 30 days. */
  topDomains(options?: TopOptions): Promise<Result<TopDomains>>;
  /** What the lists began or ceased to flag, page by page, up to now. Ends behind a page that is a failure. */
  changes(options?: ChangesOptions): AsyncGenerator<Result<Changes>, void>;
  /** What is used and left of the monthly quota. Not counted. */
  usage(options?: UsageOptions): Promise<Result<Usage>>;
}

export interface CallOptions {
  /** Ends this call at once, with the cause `aborted`. */
  readonly signal?: AbortSignal | undefined;
  /** In place of the client's own, in milliseconds. */
  readonly timeout?: number | undefined;
}

export interface LookupOptions extends CallOptions {
  /** Adds `evidence`: why the answer is what it is. */
  readonly explain?: boolean | undefined;
  /** Asks the service also where the filter has the domain. */
  readonly confirm?: boolean | undefined;
}

export interface RiskOptions extends CallOptions {
  /** Asks the service also where the filter has the domain. */
  readonly confirm?: boolean | undefined;
  /** In place of the client's own, 0 to 100. */
  readonly threshold?: number | undefined;
  /** Told why there is no answer, before `isRisky` says false. */
  readonly onFailure?: ((failure: Failure) => void) | undefined;
}

export interface DomainsOptions extends CallOptions {
  /** Asks the service also for domains that the filter has. */
  readonly confirm?: boolean | undefined;
}

export interface TopOptions extends CallOptions {
  /** 1 to 1000; 100 when absent. */
  readonly limit?: number | undefined;
  /** Only domains that were flagged for this reason. */
  readonly reason?: TopDomains['domains'][number]['reason'] | undefined;
}

export interface ChangesOptions extends CallOptions {
  /** The `cursor` of the last page that was seen; the last 24 hours when absent. */
  readonly since?: string | undefined;
  /** Of each page, 1 to 1000; 100 when absent. */
  readonly limit?: number | undefined;
}

export interface UsageOptions extends CallOptions {
  /** Adds the calls of each of the last so many days, 1 to 30. */
  readonly days?: number | undefined;
}

/** Makes a client. It never throws and its promises never reject, whatever the service, the network or a hook does. */
export function createClient(options: ClientOptions): Client {
  const given = options ?? {};
  const settings = readOptions(given);
  const calls = new Calls(given, settings);

  /** Without a call, where the filter has it. */
  const settled = (domain: string, options: DomainsOptions | undefined) =>
    !options?.confirm && hasIn(given.filter, domain) ? confirmed(domain) : undefined;

  const lookup: Client['lookup'] = (domainOrEmail, options) =>
    calls.get('lookup', isDomainRisk, options, () => {
      const domain = domainOf(domainOrEmail);
      if (!domain) return undefined;
      if (options?.explain) return `${pathOf(domain)}?explain=true`;
      return settled(domain, options) ?? pathOf(domain);
    });

  return {
    lookup,
    async isRisky(domainOrEmail, options) {
      const result = await lookup(domainOrEmail, options);
      if (result.ok) return result.data.risk_score >= amount(options?.threshold, settings.threshold);
      if (options?.onFailure) tell(options.onFailure, result);
      return false;
    },
    check: (emailOrDomain, options) =>
      calls.get('check', isEmailCheck, options, () => {
        // What has no domain, or no place in a URL, is not sent.
        if (!domainOf(emailOrDomain) || /\p{Cs}/u.test(emailOrDomain)) return undefined;
        return `/v1/check/${encodeURIComponent(emailOrDomain.trim())}`;
      }),
    domains: (domainsOrEmails, options) =>
      calls.make('domains', () =>
        calls.many(domainsOrEmails.map(domainOf), options ?? {}, domain => settled(domain, options)),
      ),
    topDomains: options =>
      calls.get('topDomains', isTopDomains, options, () =>
        withQuery('/v1/public/top-domains', { limit: options?.limit, reason: options?.reason }),
      ),
    async *changes(options) {
      let since = options?.since;
      // A page that leads back to one that was seen is the last: it would go on for ever, out of the memory of answers.
      const seen = new Set([since]);
      for (let more = true; more; ) {
        const page = await calls.get<Changes>('changes', isChanges, options, () =>
          withQuery('/v1/public/changes', { since, limit: options?.limit }),
        );
        if (page.ok) since = page.data.cursor;
        more = page.ok && page.data.more && !seen.has(since);
        seen.add(since);
        yield page;
      }
    },
    usage: options =>
      calls.get('usage', isUsage, options, () => withQuery('/v1/usage', { days: options?.days })),
  };
}

/** It may be anybody's: what it throws is no. */
function hasIn(filter: ClientOptions['filter'], domain: string): boolean {
  try {
    return filter?.has(domain) === true;
  } catch {
    return false;
  }
}

/** What the service says of every name in the filter. */
function confirmed(domain: string): Answer<DomainRisk> {
  const data: DomainRisk = {
    domain,
    risk_score: 100,
    reason: 'disposable',
    is_free_provider: false,
    is_corporate_email: false,
    mx_provider_label: null,
  };
  return { ok: true, data, quota: null, degraded: false, fromCache: true };
}

function withQuery(path: string, wanted: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(wanted).filter(([, value]) => value !== undefined);
  const query = given.map(([name, value]) => `${name}=${encodeURIComponent(value!)}`).join('&');
  return query === '' ? path : `${path}?${query}`;
}
