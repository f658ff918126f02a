/** Special-use names, which are well-formed and receive no mail. */

/**
 * Names that never stand for a mail domain in the public DNS, each with all names below it: IANA's registry
 * "Special-Use Domain Names" (RFC 6761), state of 2026-05-24 as tldts 7.4 records it, without example.com, .net
 * and .org, which resolve; the reverse trees whole, since they map addresses; and `internal`, which ICANN's Board
 * reserved for private use on 2024-07-29.
 */
const SPECIAL_USE: ReadonlySet<string> = new Set([
  'alt', // RFC 9476
  'example', // RFC 6761
  'internal', // ICANN Board, 2024-07-29
  'invalid', // RFC 6761
  'local', // RFC 6762
  'localhost', // RFC 6761
  'onion', // RFC 7686
  'test', // RFC 6761
  '6tisch.arpa', // RFC 9031
  'eap.arpa', // RFC 9965
  'eap-noob.arpa', // RFC 9140
  'home.arpa', // RFC 8375
  'in-addr.arpa', // RFC 1035
  'ip6.arpa', // RFC 3596
  'ipv4only.arpa', // RFC 8880
  'resolver.arpa', // RFC 9462
  'service.arpa', // RFC 9665
]);

/** For a canonical name: whether it is, or lies below, a special-use name. Such a name is never sent to DNS. */
export function isSpecialUse(name: string): boolean {
  const dot = name.lastIndexOf('.');
  const last = name.slice(dot + 1);
  if (last !== 'arpa') return SPECIAL_USE.has(last);
  return SPECIAL_USE.has(name.slice(name.lastIndexOf('.', dot - 1) + 1));
}
