/** From where a key may be used: web origins (RFC 6454) and client networks. */

import { BlockList, isIP } from 'node:net';
import { bad, type Checked, good } from './checked.ts';
import { parseDomain, registrableDomain } from './domain.ts';

const WILDCARD = '://*.';

/** Canonical text of an allowed origin: `https://app.example.com`, `http://localhost:3000`, `https://*.example.com`. */
export function parseOrigin(text: string): Checked<string> {
  const problem = `the origin ${JSON.stringify(text.slice(0, 100))} must be scheme://host[:port], such as https://app.example.com or https://*.example.com`;
  const wildcard = text.includes(WILDCARD);
  const plain = wildcard ? text.replace(WILDCARD, '://') : text;
  if (!URL.canParse(plain)) return bad(problem);
  const url = new URL(plain);
  if (!/^https?:\/\/[^/?#@\\*\s]+$/i.test(plain)) return bad(problem);
  if (!wildcard) return good(url.origin);
  if (!parseDomain(url.hostname).ok || registrableDomain(url.hostname) === undefined) {
    return bad(`${problem}; a wildcard needs a registered domain behind it`);
  }
  return good(url.origin.replace('://', WILDCARD));
}

/**
 * Exact scheme, host and port, or a wildcard on a label border. What a browser sends is canonical already, so
 * anything that a URL parser would rewrite (upper case, a trailing dot, a default port, two origins) is no match.
 */
export function originAllowed(allowed: readonly string[], origin: string): boolean {
  return allowed.some(rule => {
    const star = rule.indexOf(WILDCARD);
    if (star < 0) return rule === origin;
    const scheme = rule.slice(0, star + 3);
    const tail = rule.slice(star + WILDCARD.length - 1);
    return origin.startsWith(scheme) && origin.endsWith(tail) && isCanonicalHost(origin, scheme, tail);
  });
}

/** Browsers take an underscore in a host name, though it can be no mail domain. */
const LABELS = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/;

function isCanonicalHost(origin: string, scheme: string, tail: string): boolean {
  const below = origin.slice(scheme.length, origin.length - tail.length);
  return LABELS.test(below) && URL.canParse(origin) && new URL(origin).origin === origin;
}

/** A client network: `192.0.2.0/24`, `2001:db8::/32`, or a single address. */
export function parseNetwork(text: string): Checked<string> {
  const [address = '', length, more] = text.split('/');
  const family = isIP(address);
  const most = family === 4 ? 32 : 128;
  const bits = length === undefined ? most : /^\d{1,3}$/.test(length) ? Number(length) : -1;
  if (family === 0 || more !== undefined || bits < 0 || bits > most || address.includes('%')) {
    const shown = JSON.stringify(text.slice(0, 60));
    return bad(`the network ${shown} must be an address or CIDR, such as 192.0.2.0/24`);
  }
  return good(`${address}/${bits}`);
}

/** Folds checked networks for matching. */
export function networkMatcher(networks: readonly string[]): (address: string) => boolean {
  // A list each: in one of both ::/0 has all of IPv4 in it, in mapped form (Node 24).
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() };
  const familyOf = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4');
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    lists[familyOf(address)].addSubnet(address, Number(bits), familyOf(address));
  }
  return address => isIP(address) !== 0 && lists[familyOf(address)].check(address, familyOf(address));
}

const MAPPED = '::ffff:';

/** A dual-stack socket reports IPv4 clients as `::ffff:192.0.2.1` (IPv4-mapped, RFC 4291 2.5.5.2); rules have no such. */
export function plainAddress(address: string): string {
  return address.startsWith(MAPPED) && isIP(address.slice(MAPPED.length)) === 4
    ? address.slice(MAPPED.length)
    : address;
}

/** Some proxies write the client's port, too (RFC 7239 6 has both forms), and IPv6 in brackets then. */
const WITH_PORT = /^(?:\[([^[\]]+)\]|([0-9.]+))(?::[0-9]{1,5})?$/;

function hopAddress(hop: string): string {
  const [, inBrackets, dotted] = WITH_PORT.exec(hop) ?? [];
  return inBrackets ?? dotted ?? hop;
}

/** So much of X-Forwarded-For is read, from its end. */
const MOST_FORWARDED = 1024;

/**
 * The client's address: the socket's, unless the socket belongs to a trusted proxy. Then the right-most
 * address of X-Forwarded-For that is not itself a trusted proxy: everything left of it can be forged.
 */
export function clientAddress(
  socketAddress: string,
  forwardedFor: string | undefined,
  isTrusted: (address: string) => boolean,
): string {
  let client = plainAddress(socketAddress);
  if (forwardedFor === undefined || !isTrusted(client)) return client;
  const hops = forwardedFor.slice(-MOST_FORWARDED).split(',');
  // The first one may be the end of an address only, which is another address.
  if (forwardedFor.length > MOST_FORWARDED) hops.shift();
  for (const hop of hops.reverse()) {
    const address = plainAddress(hopAddress(hop.trim()));
    if (isIP(address) === 0) return client;
    client = address;
    if (!isTrusted(client)) return client;
  }
  return client;
}
