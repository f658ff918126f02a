/** What NO_PROXY names: addresses that are asked without the proxy. */

import { BlockList, isIP } from 'node:net';

/**
 * As curl, Go, Python and npm read it: a name and what is below it (`example.com`, `.example.com`; `*.example.com` is
 * only what is below it), an address, a network (`10.0.0.0/8`), addresses from one to another (`10.0.0.1-10.0.0.9`), each
 * with or without a port, or `*` for all.
 */
export function isPastProxy(url: URL, listed = ''): boolean {
  const host = hostOf(url);
  const end = `:${url.port || 443}`;
  return listed.split(',').some(text => {
    const entry = text.trim().toLowerCase();
    return isNamedBy(entry, host) || (entry.endsWith(end) && isNamedBy(entry.slice(0, -end.length), host));
  });
}

function isNamedBy(entry: string, host: string): boolean {
  if (entry === '*' || withoutBrackets(entry) === host) return true;
  if (isIP(host)) return networkOf(entry)?.check(host, familyOf(host)) === true;
  if (entry.startsWith('*.')) return host.endsWith(entry.slice(1));
  const name = entry.startsWith('.') ? entry : `.${entry}`;
  return name !== '.' && `.${host}`.endsWith(name);
}

/** Undefined where it is none. */
function networkOf(entry: string): BlockList | undefined {
  const list = new BlockList();
  const [first = '', last = ''] = entry.split('-').map(one => one.trim());
  const [base = '', bits = ''] = entry.split('/');
  try {
    if (isIP(last)) list.addRange(first, last, familyOf(last));
    else if (bits !== '') list.addSubnet(base, Number(bits), familyOf(base));
    else return undefined;
  } catch {
    return undefined;
  }
  return list;
}

const familyOf = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

const withoutBrackets = (host: string) => host.replace(/^\[|\]$/g, '');

/** An IPv6 address without its brackets. */
export const hostOf = ({ hostname }: URL) => withoutBrackets(hostname);
