import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { canariesOf } from '../src/core/folding.ts';
import { parseTables } from '../src/core/tables.ts';
import { freshFeeds } from '../src/feeds/fresh.ts';
import { PACKING } from '../src/feeds/pack.ts';
import { SOURCES } from '../src/feeds/sources.ts';
import { readTables } from '../src/feeds/tables.ts';
import { updateFeeds } from '../src/update.ts';
import { catalogOf } from './support/catalog.ts';
import { mx } from './support/dns.ts';
import { eventually, sized } from './support/scale.ts';
import { sharedService, temporaryFolder } from './support/service.ts';

/**
 * The whole way: file → gate → store → server → caller. In the full form at ten times the size of what was tried in
 * November 2026.
 */
const many = (count: number, prefix: string) =>
  Array.from({ length: count }, (_, at) => `${prefix}${at}.com`);
const USED = ['deutsche-bank.de', 'stadt-koeln.de', ...many(sized(18, 98), 'used-company-')];
const ON_PLATFORM = many(sized(20, 100), 'company-on-platform-');
const ON_OWN = many(sized(20, 100), 'company-on-own-hosts-');
const SPAM = many(1_000, 'throwaway-');

const time = { now: Date.now() };
const DAY_MS = 86_400_000;
const shared = sharedService({
  hasThreads: true,
  catalog: await catalogOf(['other.com']),
  followMs: 50,
  clock: () => time.now,
  ticks: () => performance.now(),
});

beforeAll(async () => {
  const { zones } = shared().dns;
  for (const name of ON_PLATFORM)
    zones.set(name, {
      records: [mx(name, 1, 'aspmx.l.google.com'), mx(name, 5, 'alt1.aspmx.l.google.com')],
    });
  for (const name of [...ON_OWN, 'stadt-koeln.de'])
    zones.set(name, { records: [mx(name, 1, `mx1.${name}`), mx(name, 2, `mx2.${name}`)] });
  for (const name of USED.filter(one => !zones.has(one)))
    zones.set(name, { records: [mx(name, 1, 'mx.company-mail.net')] });
  for (const name of SPAM) zones.set(name, { records: [mx(name, 1, 'mx.throwaway-hosts.net')] });
});

/** As `feeds update --from` does it; every list must pass the gate. */
async function update(lists: Readonly<Record<string, readonly string[]>>): Promise<void> {
  const folder = temporaryFolder();
  const from = new Map<string, string>();
  for (const [id, names] of Object.entries(lists)) {
    from.set(id, join(folder, id));
    writeFileSync(join(folder, id), names.join('\n'));
  }
  const done = await updateFeeds(
    {
      store: shared().store,
      sources: freshFeeds(from).filter(({ feed }) => from.has(feed.id)),
      installed: [],
      tables: SOURCES.tables,
      catalog: () => catalogOf(SPAM, { telemetry: SPAM }),
      packing: PACKING,
      clock: () => time.now,
      actor: { who: 'op', via: 'test' },
    },
    { force: false, dryRun: false, progress: () => {} },
  );
  expect(done.map(({ outcome, problems }) => [outcome, problems])).toEqual(
    Object.keys(lists).map(() => ['accepted', []]),
  );
}

let secret = '';
async function scores(names: readonly string[]): Promise<Map<string, number>> {
  if (secret === '') secret = (await shared().key()).secret;
  const found = new Map<string, number>();
  const look = async (name: string) => {
    const response = await shared().get(`/v1/public/domain/${name}`, secret);
    expect(response.headers.get('x-risk-degraded'), name).toBeNull();
    found.set(name, ((await response.json()) as { risk_score: number }).risk_score);
  };
  for (let at = 0; at < names.length; at += 8) await Promise.all(names.slice(at, at + 8).map(look));
  return found;
}
const distinct = async (names: readonly string[]) => [...new Set((await scores(names)).values())].sort();
const follows = (name: string, isListed: boolean) =>
  eventually(
    `${name} is ${isListed ? 'listed' : 'clean'}`,
    async () => (await distinct([name]))[0]! >= 45 === isListed,
    100_000,
  );

it('a poisoned list that passes the gate blocks nobody, and one clean update takes all of it back', async () => {
  const canaries = [...canariesOf(parseTables(await readTables()))];
  await update({
    'majestic-million': [...canaries, ...USED, ...many(60_000, 'popular-')],
    castle: SPAM,
    'domains-mx': [...SPAM, ...many(12_000, 'more-')],
  });
  await eventually(
    'all three lists are followed',
    async () => (await distinct(SPAM.slice(0, 20))).join() === '100',
    100_000,
  );
  expect(Math.max(...(await distinct([...USED, ...ON_PLATFORM, ...ON_OWN])))).toBeLessThan(30);

  time.now += DAY_MS;
  await update({
    castle: [...SPAM.slice(0, 900), ...USED, ...ON_PLATFORM],
    'domains-mx': [...SPAM, ...many(12_000, 'more-'), ...ON_OWN],
  });
  await follows('deutsche-bank.de', true);
  await follows('company-on-own-hosts-0.com', true);
  expect(await distinct(USED)).toEqual([45]);
  expect(await distinct(ON_PLATFORM)).toEqual([60]);
  expect(await distinct(ON_OWN)).toEqual([60]);

  time.now += DAY_MS;
  await update({ castle: SPAM, 'domains-mx': [...SPAM, ...many(12_000, 'more-')] });
  await follows('deutsche-bank.de', false);
  await follows('company-on-own-hosts-0.com', false);
  expect(Math.max(...(await distinct([...USED, ...ON_PLATFORM, ...ON_OWN])))).toBeLessThan(30);
  expect(await distinct(SPAM.slice(0, 20))).toEqual([100]);
}, 300_000);
