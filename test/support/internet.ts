/** A simulated internet on loopback DNS: disposable domains on hosts of their own and on shared ones, and innocent ones. */

import { openVerdicts } from '../../src/compose.ts';
import type { Catalog } from '../../src/core/catalog.ts';
import type { Domain } from '../../src/core/domain.ts';
import { STAYING_DAYS } from '../../src/core/guest.ts';
import type { Store } from '../../src/core/ports.ts';
import type { Verdict } from '../../src/core/verdict.ts';
import { createResolver } from '../../src/dns/resolver.ts';
import type { Answer } from '../../src/lookup.ts';
import { sweep } from '../../src/sweep.ts';
import { catalogOf } from './catalog.ts';
import { a, type DnsServer, mx, type Zone } from './dns.ts';
import { randomFrom, sized } from './scale.ts';

/** The sizes that issue and README speak of. */
export const FULL = { hosts: 40, onOwn: 2_000, onShared: 500, innocent: 5_000 } as const;
export type Size = { readonly [Part in keyof typeof FULL]: number };

/** `own`: disposable, on hosts that serve nobody else. `shared`: disposable, on hosts of others. */
export type Kind = 'own' | 'shared' | 'innocent';
export interface Site {
  readonly name: Domain;
  readonly kind: Kind;
  readonly listed: boolean;
  /** Named by one family of feeds only. */
  readonly oneFamily?: boolean;
  /** One of the panel. */
  readonly popular?: boolean;
  /** Only an update brings it. */
  readonly late?: boolean;
  /** In order of preference. */
  readonly exchanges: readonly string[];
}

export interface Internet {
  readonly sites: readonly Site[];
  /** Host name to address, for all hosts that were not renamed. */
  readonly zones: Map<string, Zone>;
  /** Gives every disposable host another name; the addresses and guests stay. */
  rename(): void;
}

const PLATFORMS = ['aspmx.l.google.com', 'alt1.aspmx.l.google.com'];
const HOSTERS = ['mx00.ionos.com', 'mx1.mail.ovh.net', 'mx1.hostinger.com', 'mx1.privateemail.com'];
const SHARED = ['route1.mx.cloudflare.net', 'eforward1.registrar-servers.com', 'mx1.forwardemail.net'];
const ENDINGS = ['com', 'net', 'xyz', 'co.uk', 'info', 'site'];
/** Small hosters that no table knows; each has a listed guest or a few. */
const SMALL_HOSTERS = 25;

export function simulateInternet(size: Size, seed: number): Internet {
  const random = randomFrom(seed);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)]!;
  const own = Array.from({ length: size.hosts }, (_, at) => ({ at, address: `5.61.${at}.10` }));
  const hostName = (at: number, era: number) => `mx.era${era}-host${at}.${ENDINGS[at % 3]}`;
  const sites: Site[] = [];
  const add = (kind: Kind, listed: boolean, name: string, exchanges: string[], oneFamily = false) =>
    void sites.push({ name: name as Domain, kind, listed, oneFamily, exchanges });

  for (let i = 0; i < size.onOwn; i++) {
    const hosts = random() < 0.2 ? [pick(own), pick(own)] : [pick(own)];
    const exchanges = [...new Set(hosts.map(({ at }) => hostName(at, 0)))];
    add('own', i % 3 > 0, `drop${i}.${pick(ENDINGS)}`, exchanges, i % 4 === 0);
  }
  for (let i = 0; i < size.onShared; i++)
    add('shared', i % 3 > 0, `hide${i}.${pick(ENDINGS)}`, [pick(SHARED)]);
  for (let i = 0; i < size.innocent; i++) {
    const name = `firm${i}.${pick(ENDINGS)}`;
    const small = `mx.small-hoster${i % SMALL_HOSTERS}.com`;
    const ways = [
      PLATFORMS,
      [`${name.replaceAll('.', '-')}.mail.protection.outlook.com`],
      [pick(HOSTERS)],
      [pick(SHARED)],
      [small],
      [`mx1.${name}`, `mx2.${name}`],
    ];
    add('innocent', false, name, pick(ways));
  }
  // What lists find at a small hoster: an abused customer here and there.
  for (let i = 0; i < 3 * SMALL_HOSTERS; i++)
    add('shared', true, `abuse${i}.com`, [`mx.small-hoster${i % SMALL_HOSTERS}.com`]);

  shuffle(sites, random);

  const zones = new Map<string, Zone>();
  const point = (name: string, exchanges: readonly string[]) =>
    zones.set(name, { records: exchanges.map((host, at) => mx(name, 10 * (at + 1), host)) });
  const place = (host: string, address: string) => zones.set(host, { records: [a(host, address)] });
  for (const { name, exchanges } of sites) point(name, exchanges);
  for (const { at, address } of own) place(hostName(at, 0), address);
  const others = new Set(sites.flatMap(site => (site.kind === 'own' ? [] : site.exchanges)));
  for (const [at, host] of [...others].entries()) place(host, `23.${at >> 8}.${at & 255}.5`);

  return {
    sites,
    zones,
    rename() {
      const renamed = new Map(own.map(({ at }) => [hostName(at, 0), hostName(at, 1)]));
      for (const { at, address } of own) {
        zones.delete(hostName(at, 0));
        place(hostName(at, 1), address);
      }
      for (const { name, kind, exchanges } of sites)
        if (kind === 'own')
          point(
            name,
            exchanges.map(host => renamed.get(host) ?? host),
          );
    },
  };
}

export function shuffle(items: unknown[], random: () => number): void {
  for (let last = items.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [items[last], items[other]] = [items[other], items[last]];
  }
}

export interface Observed {
  /** Unlisted disposable domains on hosts of their own, and how many of them were flagged. */
  readonly wanted: number;
  readonly found: number;
  /** The same on shared hosts. */
  readonly hidden: number;
  readonly hiddenFound: number;
  readonly innocent: number;
  readonly innocentFlagged: readonly string[];
  /** Unlisted names that were judged without a fresh answer of DNS. */
  readonly unasked: number;
}

const DAY_MS = 86_400_000;
/** So many days pass, with as many looks as make a listed guest one that stays, with the one before. */
export async function within(days: number, time: { now: number }, look: () => Promise<unknown>) {
  for (let looks = 1; looks < STAYING_DAYS; looks++) {
    time.now += (days * DAY_MS) / (STAYING_DAYS - 1);
    await look();
  }
}

/** Room for all names of a short form: laying out as much as a server has takes 0.02 s of each test. */
const CAPS = sized({ cacheEntries: 5_000 }, {});

/**
 * A service without its port, in that internet: real resolver, real store, real lookup, and a clock to move. By `off` it is
 * wrong.
 */
export async function visit(
  dns: DnsServer,
  store: Store,
  sites: readonly Site[],
  time: { now: number; off?: number },
) {
  const ticks = () => time.now;
  const clock = () => time.now + (time.off ?? 0);
  /** As the lists are on that day; `late` has since when they name what an update has brought. */
  const listsOf = (late: ReadonlyMap<string, number>): Promise<Catalog> => {
    const isListed = (site: Site) => site.listed && (!site.late || late.has(site.name));
    const named = (wanted: (site: Site) => boolean | undefined) =>
      sites.filter(wanted).map(({ name }) => name as string);
    return catalogOf(named(isListed), {
      telemetry: named(site => isListed(site) && !site.oneFamily),
      popular: named(({ popular }) => popular),
      updated: { at: time.now, since: late },
    });
  };
  let late = new Map<string, number>();
  let catalog = await listsOf(late);
  const resolver = createResolver({ servers: [dns.address], ticks, caps: CAPS });
  const onError = (error: unknown) => {
    throw error;
  };
  const { lookup, learn, rank } = await openVerdicts({
    store,
    resolver,
    catalog: () => catalog,
    clock,
    ticks,
    onError,
  });

  let calls = 0;
  /** Each call by another key, since one key may have only few questions under way. */
  const look = async (name: string, key = `key_${calls++}`): Promise<Answer> =>
    lookup.lookup(name as Domain, key);

  return {
    judge: async (name: string, key?: string): Promise<Verdict> => (await look(name, key)).verdict,
    /** What `?explain=true` shows beside it. */
    graph: async (name: string) => (await look(name)).graph(),
    learn,
    /** Writes and reads back what was learned, as a server does in the course of a minute. */
    async digest() {
      await learn.settle();
      await learn.flush();
      await learn.reload();
    },
    /** Fresh lists. What comes late is in them from the first update on that is told so. */
    async update(withLate = late.size > 0) {
      if (withLate && late.size === 0)
        late = new Map(sites.filter(site => site.late).map(({ name }) => [name, time.now]));
      catalog = await listsOf(late);
    },
    sweep: (limit?: number) =>
      sweep(
        { store, resolver, catalog, learn, clock },
        { limit, rate: 1_000_000, settledMs: 0, stop: new AbortController().signal, progress: () => {} },
      ),
    /** Looks every site up once, in the order given, a few at a time. */
    async observe(these: readonly Site[] = sites): Promise<Observed> {
      const answers = new Map<Site, Answer>();
      let next = 0;
      const work = async () => {
        while (next < these.length) {
          const site = these[next++]!;
          answers.set(site, await look(site.name));
        }
      };
      await Promise.all(Array.from({ length: 12 }, work));
      const flagged = (wanted: (site: Site) => boolean) =>
        these.filter(site => wanted(site) && answers.get(site)!.verdict.reason === 'disposable');
      const unlisted = (kind: Kind) => (site: Site) => site.kind === kind && !site.listed;
      const count = (wanted: (site: Site) => boolean) => these.filter(wanted).length;
      return {
        wanted: count(unlisted('own')),
        found: flagged(unlisted('own')).length,
        hidden: count(unlisted('shared')),
        hiddenFound: flagged(unlisted('shared')).length,
        innocent: count(unlisted('innocent')),
        innocentFlagged: flagged(unlisted('innocent')).map(({ name }) => name),
        unasked: count(site => {
          const { mail } = answers.get(site)!.evidence;
          return !site.listed && (mail.state !== 'mx' || mail.stale);
        }),
      };
    },
    async close() {
      await learn.close();
      await rank.close();
      await resolver.close();
    },
  };
}
