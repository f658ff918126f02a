/** Which network an IP address belongs to: reachable by everybody, or private, reserved and the like. */

import { BlockList, isIP } from 'node:net';

/**
 * IANA IPv4 and IPv6 Special-Purpose Address Registries (RFC 6890), as of 2026-11: what is not "globally
 * reachable", with N/A and deprecated rows (6to4, Teredo, ORCHID) read as not reachable. Multicast and
 * site-local stand in registries of their own and receive no mail either.
 */
const UNREACHABLE = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
];

/** Smaller blocks inside the ones above that the registries call globally reachable. */
const REACHABLE_WITHIN = [
  '192.0.0.9/32',
  '192.0.0.10/32',
  '2001:1::1/128',
  '2001:1::2/128',
  '2001:1::3/128',
  '2001:3::/32',
  '2001:4:112::/48',
  '2001:20::/28',
  '2001:30::/28',
];

/** All that IANA has given out as IPv6 global unicast; everything outside is special or unassigned. */
const GLOBAL_UNICAST_6 = ['2000::/3'];

/** The well-known NAT64 prefix (RFC 6052): the last 32 bits are the IPv4 address that counts. */
const NAT64 = ['64:ff9b::/96'];

/** Networks behind whose resolvers names of one organisation only may be answered (split horizon). */
const PRIVATE = [
  '10.0.0.0/8',
  '100.64.0.0/10',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.168.0.0/16',
  'fc00::/7',
  'fe80::/10',
];

function networks(prefixes: readonly string[]): BlockList {
  const list = new BlockList();
  for (const prefix of prefixes) {
    const [address = '', bits] = prefix.split('/');
    list.addSubnet(address, Number(bits), address.includes(':') ? 'ipv6' : 'ipv4');
  }
  return list;
}

const unreachable = networks(UNREACHABLE);
const reachableWithin = networks(REACHABLE_WITHIN);
const globalUnicast6 = networks(GLOBAL_UNICAST_6);
const nat64 = networks(NAT64);
const privateNetworks = networks(PRIVATE);

/** The IPv4 address in the last 32 bits of an IPv6 address whose bits before them are known. */
function embedded4(address: string): string {
  const [high = '', low = ''] = address.split(':').slice(-2);
  if (isIP(low) === 4) return low;
  const bits = [high, low].map(group => Number.parseInt(group || '0', 16));
  return bits.flatMap(group => [group >> 8, group & 0xff]).join('.');
}

/** True when the address is globally reachable; false for anything that is not an IP address. */
export function isPublicAddress(address: string): boolean {
  const version = isIP(address);
  if (version === 0 || address.includes('%')) return false;
  if (version === 4) {
    return !unreachable.check(address, 'ipv4') || reachableWithin.check(address, 'ipv4');
  }
  if (nat64.check(address, 'ipv6')) return isPublicAddress(embedded4(address));
  if (!globalUnicast6.check(address, 'ipv6')) return false;
  return !unreachable.check(address, 'ipv6') || reachableWithin.check(address, 'ipv6');
}

/** True inside a private, shared or link-local network; a loopback address is not one of these. */
export function isPrivateNetwork(address: string): boolean {
  const plain = address.split('%', 1)[0]!;
  const version = isIP(plain);
  return version !== 0 && privateNetworks.check(plain, version === 4 ? 'ipv4' : 'ipv6');
}

/** The eight parts of an IPv6 address, in hexadecimal. */
export function groupsOf(address: string): string[] {
  const [left = '', right] = address.split('%', 1)[0]!.split('::');
  const groups = left === '' ? [] : left.split(':');
  if (right !== undefined) {
    const behind = right === '' ? [] : right.split(':');
    while (groups.length + behind.length < 8) groups.push('0');
    groups.push(...behind);
  }
  return groups;
}

/** Whom an address stands for: itself, or of IPv6 its /64, which is what one subscriber gets (RFC 6177). */
export function networkOf(address: string): string {
  if (isIP(address) !== 6) return address;
  return `${groupsOf(address).slice(0, 4).join(':')}::/64`;
}
