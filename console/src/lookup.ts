/** Looking up one domain: what is shown for it, also after a visit to another view. */

import { askDomain, type DomainRisk, type Result } from './api.ts';
import { forgetRun, startRun } from './run.ts';
import { type Shared, share } from './shared.ts';

export interface Lookup {
  readonly domain: string;
  /** Not there: it is being asked for. */
  readonly result?: Result<DomainRisk>;
}

export const typedNames = share('');
export const lookup: Shared<Lookup | undefined> = share<Lookup | undefined>(undefined);
let stop = new AbortController();

export async function lookUp(domain: string, secret: string): Promise<void> {
  forgetRun();
  stop.abort();
  const mine = new AbortController();
  stop = mine;
  lookup.set({ domain });
  const result = await askDomain(domain, secret, mine.signal);
  if (stop === mine) lookup.set({ domain, result });
}

export function cancelLookup(): void {
  stop.abort();
}

export function lookUpAll(domains: readonly string[], secret: string): void {
  stop.abort();
  stop = new AbortController();
  lookup.set(undefined);
  startRun(domains, secret);
}
