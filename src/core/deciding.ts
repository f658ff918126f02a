/**
 * What of a domain's mail decides where hosts were learned: which exchanges, and whether their addresses speak for them.
 *
 * | rule | reason |
 * |---|---|
 * | the exchanges that senders try first decide, all of them up to twenty | they get the mail (RFC 5321 5.1). What stands behind them costs one record and need never be asked: it spared whoever added it |
 * | parking hosts, names below a provider's that say that they take no mail (`www.zoho.com`), names below a platform that are not known to have an address, and hosts that are known to have none, or for which nobody has ever answered, do not count | senders go on to the next. A platform's host that is there takes or refuses the mail: what a company has left behind it says nothing of it. Whoever puts a host before his own that refuses connections, and does not say so by its name, is not found: nobody connects to find out |
 * | among those that are tried first one that was not learned spares all | it gets its share of the mail, and a company may be there |
 * | a host is spared where all its IPv4 addresses are those of innocents, of IPv6 where it has no others | mail goes there and nowhere else. One more address is one more record, which spared it. A company's host may have an address of IPv6 that nobody has seen with others; few senders have no IPv4, so whoever lays his out as a decoy goes without their mail |
 * | by its addresses alone a host is found only where all that are looked at are learned, again those of IPv4 where it has any | whoever is at one of them need not be who is at the others: a company may share one with its neighbours. One address of IPv6 that nobody uses is one record, costs no mail, and spared whoever added it |
 * | a host that nobody has asked for is judged by the learned domain that it is below only where three hosts or more beside it are known, all at learned addresses | its own address may be that of innocents; where all others are is where it is too |
 * | while nobody knows where a host is, it is where the last one of the same name was, below the same domain | a new host in every answer costs nothing. By the name that was asked for, since anybody can point a domain at any host of others, and others may have names below the same domain |
 * | where hosts that were learned stand behind or beside others that nobody has asked for yet, or were those of another name below the same domain, nobody is taken for the receiver | these need not exist, and whoever has a domain for each address that he gives away needs one look only; a company's host is known at the next |
 * | a host of the domain's own and a name without exchanges are judged alike: by listed domains with such hosts at the address, where there are some, else by all that are received there, a month long | it is the same machine, and anybody can point a host of his at any address |
 * | of an unlisted name looked at are all that decide, and four at least of those that may once others are known to have no address; of a listed one only those that are tried first, the next where none of them is anywhere | one that nobody looks at is never learned, and would spare the others; but whoever is listed could name any hoster behind his own |
 * | of several exchanges that a listed name has tried alike, one is blamed where half of the mail or more goes to hosts of its group, or to where it is | two thirds of one machine's mail by two other names is its own; who is lent a small part is not to be blamed for all. Nor is he whose addresses others merely name beside theirs. Each is decided on as soon as the addresses have come, of providers' hosts too: who has other names in every answer is never met by the same |
 * | a listed name speaks against an address only where its host has no other | who names another's beside his own goes without a part of his mail, and blamed him for all of it |
 * | a popular name spares the addresses of hosts that are tried first, and of those behind them the names only | whoever has the domain of a backup host, which may have lapsed, puts it at any address |
 * | a host with more addresses than are looked at is not spared by them | those that are not may be where the mail goes |
 */

import { isIP } from 'node:net';
import { Established } from './established.ts';
import { LEARNING } from './guest.ts';
import type { Exchange } from './mail.ts';
import { isPlatform, type Providers } from './provider.ts';
import { takesNoMail } from './provider-names.ts';
import { STEP, type Steps } from './steps.ts';

/** What is known of hosts besides their addresses, without asking. */
export interface OtherHosts {
  /** A few that are below the same registrable domain, whoever has asked for them. */
  beside(host: string): readonly string[];
  /** The last one below the same domain that somebody paid for, which received for this guest: a name, or all below one. */
  before(host: string, guest: string): string | undefined;
  /** Its addresses were asked for, and nobody has answered so far. */
  isSilent(host: string): boolean;
  readonly established: Established;
}
/** All names below a registrable domain as one guest: they may be one party's or anybody's. */
export const allBelow = (registrable: string) => `*.${registrable}`;
export const NO_OTHERS: OtherHosts = {
  ...{ beside: () => [], before: () => undefined, isSilent: () => false },
  established: new Established(),
};

/** Of exchanges in the order of preference. */
export function decidingOf(
  exchanges: readonly Exchange[],
  providers: Pick<Providers, 'match'>,
  addressesOf: (host: string) => readonly string[] | undefined,
): Exchange[] {
  const deciding: Exchange[] = [];
  for (const exchange of exchanges) {
    if (deciding.length > 0 && exchange.preference > deciding[0]!.preference) break;
    if (deciding.length === LEARNING.mostDeciding) break;
    if (mayDecide(exchange, providers, addressesOf)) deciding.push(exchange);
  }
  return deciding;
}

/** Those that decide and those that may, in the same order, and how many of them are to be looked at. */
export function lookedAt(
  exchanges: readonly Exchange[],
  providers: Pick<Providers, 'match'>,
  addressesOf: (host: string) => readonly string[] | undefined,
): { readonly may: readonly Exchange[]; readonly first: number } {
  const deciding = decidingOf(exchanges, providers, addressesOf).length;
  const may = exchanges.filter(exchange => mayDecide(exchange, providers, addressesOf));
  return { may, first: Math.max(deciding, LEARNING.mostExchanges) };
}

function mayDecide(
  { host }: Exchange,
  providers: Pick<Providers, 'match'>,
  addressesOf: (host: string) => readonly string[] | undefined,
): boolean {
  const row = providers.match(host);
  if (row?.class === 'parked' || takesNoMail(host, row)) return false;
  const count = addressesOf(host)?.length;
  return isPlatform(row) ? (count ?? 0) > 0 : count !== 0;
}

/** Where mail for a host goes whoever sends it: to its IPv4 addresses, and to those of IPv6 where it has no others. */
export function reachedAt(addresses: readonly string[] = []): readonly string[] {
  const version4 = addresses.filter(address => !address.includes(':'));
  return version4.length > 0 ? version4 : addresses;
}

/** Whether the addresses of a host speak for it: nobody but innocents receives there. */
export function areSpared(addresses: readonly string[], isShared: (address: string) => boolean): boolean {
  const looked = reachedAt(addresses);
  return looked.length > 0 && looked.length <= LEARNING.mostAddresses && looked.every(isShared);
}

/** Of all names that innocents share: addresses and domains of hosts. A host's own name is not learned, so it is not needed. */
export function* sparing(names: string): Steps<ReadonlySet<string>> {
  const spared = new Set<string>();
  let at = 0;
  for (let from = 0, to = 0; from < names.length; from = to + 1) {
    if (++at % STEP === 0) yield;
    to = names.indexOf(' ', from);
    if (to < 0) to = names.length;
    const name = names.slice(from, to);
    if (name.startsWith('*.') || isIP(name) > 0) spared.add(name);
  }
  return spared;
}
