/** A resolver in front of loopback DNS servers, with a time that the test moves; both close themselves. */

import { onTestFinished } from 'vitest';
import { type Domain, parseDomain } from '../../src/core/domain.ts';
import {
  createResolver,
  type DnsCaps,
  type DnsResolver,
  type ResolverOptions,
} from '../../src/dns/resolver.ts';
import { type DnsServer, startDns, type Zone } from './dns.ts';

export interface Resolving {
  readonly dns: DnsServer;
  readonly resolver: DnsResolver;
  /** The moment that the resolver sees, in milliseconds. */
  readonly time: { now: number };
}

export function domain(name: string): Domain {
  const parsed = parseDomain(name);
  if (!parsed.ok) throw new Error(`${name}: ${parsed.detail}`);
  return parsed.domain;
}

export async function serveZones(zones: Readonly<Record<string, Zone>> = {}): Promise<DnsServer> {
  const dns = await startDns(Object.entries(zones));
  onTestFinished(() => dns.close());
  return dns;
}

export function resolverFor(
  servers: readonly string[],
  caps: Partial<DnsCaps> = {},
  more: Pick<ResolverOptions, 'sentinels' | 'changed' | 'failed'> = {},
): Omit<Resolving, 'dns'> {
  const time = { now: Date.UTC(2026, 10, 1) };
  const resolver = createResolver({ ...more, servers, ticks: () => time.now, caps });
  onTestFinished(() => resolver.close());
  return { resolver, time };
}

export async function resolving(
  zones: Readonly<Record<string, Zone>> = {},
  caps: Partial<DnsCaps> = {},
): Promise<Resolving> {
  const dns = await serveZones(zones);
  return { dns, ...resolverFor([dns.address], caps) };
}
