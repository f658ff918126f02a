/** What the package offers. */

export type {
  CallOptions,
  ChangesOptions,
  Client,
  LookupOptions,
  RiskOptions,
  TopOptions,
  UsageOptions,
} from './client.ts';
export { createClient } from './client.ts';
export { domainOf } from './domain.ts';
export type { Call, ClientOptions } from './options.ts';
export type { Answer, Cause, Failure, Quota, Result } from './result.ts';
export type { Changes, DomainRisk, TopDomains, Usage } from './wire.ts';
