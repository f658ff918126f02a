/**
 * A harder internet, made from what was measured of the real one (November 2026): most disposable names are unlisted,
 * half of them have hosts of their own, operators rotate numbered hosts and addresses, ordinary platforms have 10 to 54
 * listed guests among thousands that nobody asks for, and somebody registers listed names to frame small hosters.
 */

import type { Domain } from '../../src/core/domain.ts';
import { a, mx, type Zone } from './dns.ts';
import { type Kind, type Site, shuffle } from './internet.ts';
import { randomFrom } from './scale.ts';

export interface HardSize {
  /** Disposable names in all. */
  readonly disposable: number;
  readonly platforms: number;
  /** Listed names with which each hoster is framed, from one key and from three. */
  readonly framing: readonly number[];
}
export const HARD: HardSize = { disposable: 3_000, platforms: 24, framing: [10, 50, 200] };

export interface Framing {
  readonly victim: string;
  readonly keys: readonly string[];
  readonly names: readonly string[];
}

export interface HardInternet {
  readonly sites: readonly Site[];
  readonly zones: Map<string, Zone>;
  /** Names that are listed and not registered, until somebody frames a hoster with them. */
  readonly framings: readonly Framing[];
  /** Innocent domains on framed hosters, and companies whose own hosts are framed by address. */
  readonly victims: readonly Site[];
  /** Registers the names, at a host of the one who means harm. */
  gather(): void;
  /** Registers the names and points them at their victims. */
  frame(): void;
  /** Operators with numbered hosts go on to the next numbers, and one of their addresses is another. */
  rotate(): void;
}

const ENDINGS = ['com', 'net', 'xyz', 'top', 'info', 'site'];

/** `late`: the names that hosters are framed with are listed by an update after the first sweep, and do not exist then. */
export function simulateHardInternet(
  size: HardSize,
  unlisted: number,
  seed: number,
  late = false,
): HardInternet {
  const random = randomFrom(seed);
  const below = (most: number) => Math.floor(random() * most);
  const pick = <T>(items: readonly T[]): T => items[below(items.length)]!;
  const sites: Site[] = [];
  const zones = new Map<string, Zone>();
  const place = (host: string, ...addresses: string[]) =>
    zones.set(host, { records: addresses.map(address => a(host, address)) });
  const point = (name: string, ...exchanges: string[]) =>
    zones.set(name, { records: exchanges.map((host, at) => mx(name, 10 * (at + 1), host)) });
  const add = (kind: Kind, listed: boolean, name: string, exchanges: string[], facts: Partial<Site> = {}) => {
    const site = { name: name as Domain, kind, listed, exchanges, ...facts };
    sites.push(site);
    point(name, ...exchanges);
    return site;
  };
  const disposable = (name: string, ...exchanges: string[]) =>
    add('own', random() >= unlisted, name, exchanges, { oneFamily: random() < 0.25 });
  let names = 0;
  const freshName = () => `drop${names++}.${pick(ENDINGS)}`;
  let networks = 0;
  const network = (kind: number) => `${kind}.${(networks >> 8) & 255}.${networks++ & 255}`;

  // 30 % with operators of 12 to 60 names: a third on one host, a third on numbered ones, a third below a listed domain.
  const rotating: { domain: string; addresses: string[]; names: string[] }[] = [];
  for (let at = 0, left = 0.3 * size.disposable; left > 0; at++) {
    const count = 12 + below(49);
    left -= count;
    const net = network(5);
    const domain = `operator${at}.${pick(ENDINGS)}`;
    const addresses = [`${net}.10`, `${net}.11`, `${net}.12`];
    const guests = Array.from({ length: count }, freshName);
    if (at % 3 === 1) rotating.push({ domain, addresses, names: guests });
    if (at % 3 === 2) add('own', true, domain, [`mx.${domain}`]);
    place(`mx.${domain}`, addresses[0]!);
    for (let number = 0; number < 60; number++) place(`mx${number}.${domain}`, addresses[number % 3]!);
    for (const name of guests) disposable(name, at % 3 === 1 ? `mx${below(30)}.${domain}` : `mx.${domain}`);
  }
  // 12 % on hosts of one to three names, which nobody can learn; 15 % on hosts of their own at shared addresses.
  for (let i = 0; i < 0.12 * size.disposable; i++) {
    const host = `mx.tiny${Math.floor(i / 2)}.net`;
    if (i % 2 === 0) place(host, `${network(31)}.5`);
    disposable(freshName(), host);
  }
  for (let i = 0; i < 0.15 * size.disposable; ) {
    const address = `${network(37)}.5`;
    for (let guests = 12 + below(20); guests > 0; guests--, i++) {
      const name = freshName();
      place(`mail.${name}`, address);
      disposable(name, `mail.${name}`);
    }
  }
  // The rest has its own hosts at addresses of their own.
  for (let i = 0; i < 0.43 * size.disposable; i++) {
    const name = freshName();
    place(`mail.${name}`, `${network(41)}.5`);
    disposable(name, `mail.${name}`);
  }

  // Registrars, forwarders and hosters: thousands of customers, of whom a few are asked for and one or two are popular.
  for (let at = 0; at < size.platforms; at++) {
    const domain = `platform${at}.com`;
    const address = `${network(61)}.5`;
    const own = at % 4 === 3;
    place(`mx1.${domain}`, address);
    place(`mx2.${domain}`, address);
    const hostsOf = (customer: string) => {
      if (!own) return [`mx1.${domain}`, `mx2.${domain}`];
      place(`mail.${customer}`, address);
      return [`mail.${customer}`];
    };
    for (let i = 10 + below(45); i > 0; i--) {
      const customer = `abuse${at}-${i}.com`;
      add('shared', true, customer, hostsOf(customer), { oneFamily: i % 2 === 0 });
    }
    for (let i = below(21); i > 0; i--)
      add('innocent', false, `customer${at}-${i}.com`, hostsOf(`customer${at}-${i}.com`));
    // Every fourth is known by its own name, the others by a customer.
    const known = at % 4 === 0 ? domain : `popular${at}.com`;
    add('innocent', false, known, hostsOf(known), { popular: true });
  }

  // Small hosters and companies that are framed: no popular customer, few that are asked for.
  const framings: Framing[] = [];
  const victims: Site[] = [];
  const pointed = new Map<string, readonly string[]>();
  const attacks = size.framing.flatMap(count =>
    [1, 3].flatMap(keys => [0, 1, 2].map(kind => ({ count, keys, kind }))),
  );
  for (const [at, { count, keys, kind }] of attacks.entries()) {
    const domain = `hoster${at}.com`;
    const address = `${network(71)}.5`;
    const company = `company${at}.com`;
    place(`mx.${domain}`, address);
    place(`mx1.${company}`, address);
    for (let i = 0; i < 4; i++)
      victims.push(add('innocent', false, `client${at}-${i}.com`, [`mx.${domain}`]));
    victims.push(add('innocent', false, company, [`mx1.${company}`]));
    // At the name of the hoster's host, or at its address by a name of their own, or by a host below each.
    const attack = Array.from({ length: count }, (_, i) => `lapsed${at}-${i}.com`);
    for (const name of attack) {
      const bait = [`mx.${domain}`, `mx.evil${at}.net`, `mail.${name}`][kind]!;
      if (kind > 0) place(bait, address);
      sites.push({ name: name as Domain, kind: 'shared', listed: true, late, exchanges: [bait] });
      pointed.set(name, [bait]);
    }
    framings.push({
      victim: domain,
      keys: Array.from({ length: keys }, (_, key) => `attacker${key}`),
      names: attack,
    });
  }
  for (let i = 0; i < 200; i++) {
    const name = `firm${i}.com`;
    place(`mx1.${name}`, `${network(81)}.5`);
    add('innocent', false, name, i % 2 === 0 ? [`mx1.${name}`] : ['aspmx.l.google.com']);
  }
  shuffle(sites, random);

  return {
    sites,
    zones,
    framings,
    victims,
    gather() {
      place('mx.harm.net', `${network(91)}.5`);
      for (const name of pointed.keys()) point(name, 'mx.harm.net');
    },
    frame() {
      for (const [name, exchanges] of pointed) point(name, ...exchanges);
    },
    rotate() {
      for (const operator of rotating) {
        operator.addresses[0] = `${network(5)}.10`;
        for (let number = 0; number < 60; number++)
          place(`mx${number}.${operator.domain}`, operator.addresses[number % 3]!);
        for (const name of operator.names) point(name, `mx${30 + below(30)}.${operator.domain}`);
      }
    },
  };
}
