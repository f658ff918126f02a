/**
 * What learning finds among real disposable domains: hides a share of them, learns from the rest, and counts the hidden
 * ones that are found. `node bench/pairs.ts pairs.csv` or MX_PAIRS=pairs.csv, gzipped or not. MX_KNOWN=rows.csv, a table
 * of providers as in data/, says which hosts count as recognised beside ours, so that figures of before and after rows
 * were added to ours can be compared: what ours then knows as disposable or parked is found as well.
 */

import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { inTurns } from '../src/assemble.ts';
import { printTable } from '../src/commands/print.ts';
import { loadCatalog } from '../src/compose.ts';
import type { Catalog } from '../src/core/catalog.ts';
import { type Domain, lineage, parseDomain, registrableDomain } from '../src/core/domain.ts';
import { isByTwoFamilies, STAYING_DAYS } from '../src/core/guest.ts';
import type { Infra } from '../src/core/infra.ts';
import type { Mail } from '../src/core/mail.ts';
import type { Providers } from '../src/core/provider.ts';
import type { Steps } from '../src/core/steps.ts';
import type { ProviderClass } from '../src/core/tables.ts';
import { zoneOf } from '../src/core/zone.ts';
import { readTables } from '../src/feeds/tables.ts';
import { createLearn } from '../src/learn.ts';
import { openSqliteStore } from '../src/store/sqlite/store.ts';
import { catalogOf } from '../test/support/catalog.ts';
import { randomFrom } from '../test/support/scale.ts';

/** The shape of the file, for whoever wants to measure with names of their own. */
const SHAPE = `A CSV with the columns domain,mx,ip: one line for each exchange of a disposable domain and one address of it.
To make one, ask DNS for the MX of every name of some lists (dig +short MX name) and for the address of each exchange.`;

const SHARES = [0.44, 0.6, 0.74];
/** One draw differs from the next by some percent: a few hosts have most of the names. */
const SEEDS = Array.from({ length: 10 }, (_, at) => at + 1);
/** A listed guest must have been seen on four days over a month: by customers at its ends, by sweeps in between too. */
const SWEPT_EVERY_MS = (31 * 86_400_000) / (STAYING_DAYS - 1);
/** As many as a learner takes before it writes. */
const CHUNK = 500;
/** Told apart by their marks. */
const SWEEP = { isFirst: false };
const CUSTOMERS = ['customer1', 'customer2', 'customer3', 'customer4'];

interface Pairs {
  readonly mails: ReadonlyMap<Domain, Mail>;
  readonly addresses: ReadonlyMap<string, readonly string[]>;
}

/** Without names that our tables know as something else: lists have such mistakes. */
function readPairs(path: string, catalog: Catalog): Pairs {
  const bytes = readFileSync(path);
  const text = (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString();
  const hosts = new Map<Domain, Set<string>>();
  const addresses = new Map<string, Set<string>>();
  for (const line of text.split('\n').slice(1)) {
    const [name = '', host = '', address = ''] = line.trim().split(',');
    const parsed = parseDomain(name);
    if (!parsed.ok || host === '') continue;
    if (catalog.isFree(registrableDomain(parsed.domain))) continue;
    if (lineage(parsed.domain).some(each => catalog.isProtected(each))) continue;
    hosts.set(parsed.domain, (hosts.get(parsed.domain) ?? new Set()).add(host));
    if (address !== '') addresses.set(host, (addresses.get(host) ?? new Set()).add(address));
  }
  const mailOf = (names: Iterable<string>): Mail => ({
    state: 'mx',
    exchanges: [...names].map((host, at) => ({ host, preference: 10 * (at + 1) })),
    stale: false,
  });
  return {
    mails: new Map([...hosts].map(([name, names]) => [name, mailOf(names)])),
    addresses: new Map([...addresses].map(([host, some]) => [host, [...some]])),
  };
}

/**
 * What a service knows that has swept, and was asked by four customers for a month: with fewer nobody independent speaks
 * for what is found. Hidden names were asked for too, and are unlisted guests.
 */
async function learnedFrom(
  { mails, addresses }: Pairs,
  listed: ReadonlySet<string>,
  catalog: Catalog,
): Promise<Infra> {
  const folder = mkdtempSync(join(tmpdir(), 'domain-risk-'));
  const store = await openSqliteStore(join(folder, 'store.db'), error => {
    throw error;
  });
  const generation = catalog.generation;
  await store.markSweep({ generation, last: '1 ', endedAt: null, firstEndedAt: 1, dead: null });
  let now = Date.UTC(2026, 10, 1);
  const learn = await createLearn({
    store,
    resolver: { last: () => undefined },
    addresses: {
      beside: () => [],
      isSilent: () => false,
      known: host => addresses.get(host),
      fresh: host => addresses.get(host),
      isDue: () => false,
      *holding(): Steps<undefined> {},
      age: () => undefined,
      recall() {},
      want: (host, _by, take) => take(addresses.get(host) ?? []),
      settle: async () => {},
    },
    catalog: () => catalog,
    clock: () => now,
    isClockBelieved: () => true,
    inTurns,
    onError: error => {
      throw error;
    },
  });
  const askForAll = async (customers: readonly string[]) => {
    let noted = 0;
    for (const [name, mail] of mails) {
      const { hits, families } = catalog.listed(lineage(name));
      const listing = listed.has(name)
        ? { entry: hits[0]?.entry ?? name, corroborated: isByTwoFamilies(families), since: 0 }
        : null;
      for (const by of [...(listing ? [SWEEP] : []), ...customers])
        learn.note(name, zoneOf(name, catalog), listing, mail, by);
      if (++noted % CHUNK === 0) await learn.flush();
    }
    await learn.flush();
  };
  await askForAll(CUSTOMERS);
  for (let sweeps = 2; sweeps < STAYING_DAYS; sweeps++) {
    now += SWEPT_EVERY_MS;
    await askForAll([]);
  }
  now += SWEPT_EVERY_MS;
  await askForAll(CUSTOMERS);
  await learn.reload();
  const infra = learn.infra();
  await learn.close();
  await store.close();
  rmSync(folder, { recursive: true, force: true });
  return infra;
}

interface Counted {
  readonly wanted: number;
  /** By a row of our own table, where another one says what was recognised. */
  readonly byTable: number;
  readonly found: number;
  readonly own: number;
  readonly ownFound: number;
}

/** `families`: whether a name is named by two families of feeds; all are, where it is not given. */
async function measure(
  pairs: Pairs,
  hide: number,
  seed: number,
  families?: (name: string) => boolean,
): Promise<Counted> {
  const random = randomFrom(seed);
  const names = [...pairs.mails.keys()];
  const listed = new Set<string>(names.filter(() => random() >= hide));
  const telemetry = [...listed].filter(name => families?.(name) ?? true);
  const catalog = await catalogOf([...listed], { telemetry }, () => readTables());
  const infra = await learnedFrom(pairs, listed, catalog);
  const counted = { wanted: 0, byTable: 0, found: 0, own: 0, ownFound: 0 };
  const recognised = recognisedBy(process.env.MX_KNOWN) ?? catalog.providers;
  const isBad = (host: string) => BAD.has(catalog.providers.match(host)?.class ?? 'hosting');
  for (const [name, mail] of pairs.mails) {
    const isUnrecognised = mail.exchanges.every(
      ({ host }) => !recognised.match(host) && (isBad(host) || !catalog.providers.match(host)),
    );
    if (!isUnrecognised || catalog.listed(lineage(name)).hits.length > 0) continue;
    const registrable = registrableDomain(name);
    const isOwn = mail.exchanges.every(({ host }) => registrableDomain(host) === registrable);
    const byTable = mail.exchanges.every(({ host }) => isBad(host));
    const learned = infra.find(name, registrable, mail.exchanges, catalog);
    const isFound = byTable || (learned !== undefined && !learned.isBehind && !learned.isFew);
    counted.wanted++;
    if (byTable) counted.byTable++;
    if (isFound) counted.found++;
    if (isOwn) counted.own++;
    if (isOwn && isFound) counted.ownFound++;
  }
  return counted;
}

const BAD: ReadonlySet<ProviderClass> = new Set<ProviderClass>(['disposable', 'parked']);

function recognisedBy(path: string | undefined): Pick<Providers, 'match'> | undefined {
  if (path === undefined) return undefined;
  const rows = readFileSync(path, 'utf8').split('\n').slice(1);
  const suffixes = new Set(rows.map(row => row.split(',')[0]!.trim()).filter(suffix => suffix !== ''));
  const match = (host: string) =>
    host.split('.').some((_, at, labels) => suffixes.has(labels.slice(at).join('.')));
  return { match: host => (match(host) ? { suffix: host, label: host, class: 'hosting' } : undefined) };
}

const percent = (part: number, whole: number) => `${((100 * part) / whole).toFixed(1)} %`;

/** Gives whether the aims are reached, the mean of some draws. */
export async function measurePairs(path: string): Promise<boolean> {
  if (!existsSync(path)) {
    process.stdout.write(`\nNo file ${path}: learning is not measured on real pairs.\n${SHAPE}\n`);
    return true;
  }
  const installed = await loadCatalog({ feedsOff: [] }, () => {});
  const pairs = readPairs(path, installed);
  const byInstalled = (name: string) => isByTwoFamilies(installed.listed(lineage(name)).families);
  process.stdout.write(
    `\nLearning on ${pairs.mails.size} real disposable domains: hidden ones on unrecognised or own hosts, found by the others (mean of ${SEEDS.length} draws)\n\n`,
  );
  const rows: unknown[][] = [];
  const shares = new Map<number, number>();
  for (const [how, families] of [
    ['all others named by two families', undefined],
    ['by the families installed', byInstalled],
  ] as const)
    for (const hide of SHARES) {
      const sum = { wanted: 0, byTable: 0, found: 0, own: 0, ownFound: 0 };
      for (const seed of SEEDS) {
        const one = await measure(pairs, hide, seed, families);
        for (const part of Object.keys(sum) as (keyof Counted)[]) sum[part] += one[part];
      }
      const mean = (count: number) => Math.round(count / SEEDS.length);
      if (!families) shares.set(hide, sum.found / sum.wanted);
      rows.push([
        ...[`${100 * hide} %`, how, mean(sum.wanted), mean(sum.byTable), mean(sum.found)],
        ...[percent(sum.found, sum.wanted), mean(sum.own), percent(sum.ownFound, sum.own)],
      ]);
    }
  printTable(
    ['HIDDEN', 'LISTED', 'WANTED', 'BY TABLE', 'FOUND', 'SHARE', 'ON OWN HOSTS', 'OF THESE FOUND'],
    rows,
  );
  return shares.get(0.6)! >= 0.38 && shares.get(0.74)! >= 0.32;
}

if (import.meta.main) {
  const path = process.argv[2] ?? process.env.MX_PAIRS;
  if (!path) process.stdout.write(`Usage: node bench/pairs.ts <file>\n${SHAPE}\n`);
  process.exitCode = path && (await measurePairs(path)) ? 0 : 1;
}
