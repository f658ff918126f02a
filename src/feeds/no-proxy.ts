/** What NO_PROXY names: addresses that are asked without the proxy. */

import { isIPv4 } from 'node:net';

/**
 * As Node and most others read it: a name, a name and its port, what is below a name (`.example.com`, which is that name
 * too, or `*.example.com`), addresses from one to another (`10.0.0.1-10.0.0.9`), or `*` for all.
 */
export function isPastProxy(url: URL, listed = ''): boolean {
  const host = hostOf(url);
  return listed.split(',').some(text => {
    const entry = text.trim().toLowerCase();
    if (entry === '*' || entry === host || entry === `${host}:${url.port || 443}`) return true;
    if (entry.startsWith('.')) return `.${host}`.endsWith(entry);
    if (entry.startsWith('*.')) return host.endsWith(entry.slice(1));
    const [first = '', last = ''] = entry.split('-').map(one => one.trim());
    if (![host, first, last].every(isIPv4)) return false;
    return numberOf(first) <= numberOf(host) && numberOf(host) <= numberOf(last);
  });
}

/** An IPv6 address without its brackets. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}

function numberOf(address: string): number {
  return address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
}
