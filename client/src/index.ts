/** What the package offers. */

export type {
  CallOptions,
  ChangesOptions,
  Client,
  DomainsOptions,
  LookupOptions,
  RiskOptions,
  TopOptions,
  UsageOptions,
} from './client.ts';
export { createClient } from './client.ts';
export { domainOf } from './domain.ts';
export type { Filter, FilterOptions } from './filter.ts';
export { createFilter } from './filter.ts';
export type { Call, ClientOptions } from './options.ts';
export type { Answer, Cause, Failure, Quota, Result } from './result.ts';
export type { Changes, DomainRisk, DomainRisks, EmailCheck, TopDomains, Usage } from './wire.ts';
