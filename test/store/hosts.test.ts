import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { type Guest, LEARNING } from '../../src/core/guest.ts';
import type { Store } from '../../src/core/ports.ts';
import { createHosts } from '../../src/store/sqlite/hosts.ts';
import { openDatabase } from '../../src/store/sqlite/open.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { ACT } from '../support/act.ts';
import { guestOf } from '../support/guests.ts';
import { read } from '../support/process.ts';
import { temporaryFolder } from '../support/service.ts';
import { storeAt } from '../support/store.ts';

const DAY = '2026-11-15';
const SINCE = '2026-08-17';
const BOUND = LEARNING.mostGuestsInAll;

let path: string;
let store: Store;
beforeEach(async () => {
  path = join(temporaryFolder(), 'store.db');
  store = await storeAt(path);
});

test('a list of hosts is waited for, however long it takes: a service needs it to start', async () => {
  const hasty = await openSqliteStore(path, () => {}, undefined, 1);
  onTestFinished(() => hasty.close());
  const learning = hasty.learn(guests(5_000), [], DAY, SINCE);
  await expect(hasty.listHosts(1, 10)).resolves.not.toEqual([]);
  await learning;
});

function guests(count: number, facts: Partial<Guest> = {}, prefix = 'd'): Guest[] {
  return Array.from({ length: count }, (_, at) => {
    const domain = `${prefix}${at}.com`;
    return guestOf({ host: 'mx.box.net', domain, entry: domain, day: DAY, ...facts });
  });
}
const learn = (rows: readonly Guest[], shared: string[] = [], day = DAY, since = SINCE) =>
  store.learn(rows, shared, day, since);
const counts = async () =>
  (await store.listHosts(1, 100)).map(({ name, flagged, innocent }) => [name, flagged, innocent]);

test('learning and forgetting leave the lock to those who count calls after every part', () => {
  const db = openDatabase(path);
  onTestFinished(() => db.close());
  const locked: boolean[] = [];
  const wait = vi.spyOn(Atomics, 'wait').mockImplementation(() => {
    locked.push(db.isTransaction);
    return 'timed-out';
  });
  onTestFinished(() => wait.mockRestore());
  const hosts = createHosts(db);
  const many = (count: number, name: string) => Array.from({ length: count }, (_, at) => `${name}${at}.com`);
  const part = 500;
  const old = many(3 * part, 'old').map(host =>
    guestOf({ host, domain: host, entry: null, day: '2026-01-01' }),
  );
  const first = hosts.learn(old, many(2 * part, 'shared'), '2026-01-01', '2025-10-01');
  expect(hosts.forgetGuests(first, '2026-01-01')).toBe(false);
  expect(locked.splice(0)).toEqual(Array(3 + 2 + 1).fill(false));
  expect(hosts.forgetGuests(hosts.learn([], [], '2026-01-20', '2026-01-02'), '2026-01-20')).toBe(false);
  // The fourth part of the guests finds no more of them.
  expect(locked).toEqual(Array(4 + 2).fill(false));
  expect(read(path, 'SELECT (SELECT count(*) FROM host) + (SELECT count(*) FROM guest) AS n')[0]?.n).toBe(0);
});

describe('guests', () => {
  test('are forgotten when they were not seen for long, and their host with them', async () => {
    await learn([...guests(600, { day: '2026-10-20' }), ...guests(2, { day: DAY }, 'late')]);
    await learn([], [], DAY, '2026-10-21');
    expect(await counts()).toEqual([['mx.box.net', 2, 0]]);
    await learn([], [], '2026-12-01', '2026-11-16');
    expect(
      read(path, 'SELECT (SELECT count(*) FROM host) AS hosts, (SELECT count(*) FROM guest) AS guests'),
    ).toEqual([{ hosts: 0, guests: 0 }]);
  });

  test('of all hosts are bounded: what one party makes for nothing goes, listed guests and who speaks for hosters stay', async () => {
    await learn(guests(50));
    await learn(guests(100, { host: 'mx.hoster.net', entry: null, day: '2026-11-14' }, 'client'));
    for (const day of ['2026-11-12', '2026-11-13'])
      await learn(guests(1, { host: 'mx.small.net', entry: null, day }, 'firm'), [], day);
    const db = new DatabaseSync(path);
    const flood = db.prepare(`
      WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < ?1)
      INSERT INTO guest (host, domain, entry, day, keys)
      SELECT ?2 || n || '.flood.net', CASE ?3 WHEN '' THEN ?2 || n || '.com' ELSE ?3 END, ?4, '${DAY}', 1 FROM number`);
    flood.run(8_000, 'i', '', null);
    flood.run(BOUND - 8_000, 'l', '', 'listed.com');
    db.close();
    await learn(guests(1, { host: 'mx.last.net', entry: null }, 'last'));
    expect(read(path, 'SELECT count(*) AS n FROM guest')[0]?.n).toBeLessThanOrEqual(BOUND);
    for (const host of ['mx.hoster.net', 'mx.small.net']) await learn(guests(2, { host }, 'listed'));
    expect((await counts()).filter(([, flagged]) => Number(flagged) > 1)).toEqual([
      ['mx.box.net', 50, 0],
      ['mx.hoster.net', 2, 100],
      ['mx.small.net', 2, 1],
    ]);
  });

  test('of one day go first where a host has more than a thousand of them, and who is established stays', async () => {
    const old = { entry: null, days: 3, sinceDay: '2026-10-01' };
    await learn(guests(3, { ...old, host: 'mx.small.net' }, 'firm'));
    await learn(guests(3, { ...old, host: 'mx.young.net', sinceDay: '2026-10-17' }, 'young'));
    const big = { entry: null, days: 1, sinceDay: DAY, host: 'mx.big.net' };
    await learn([...guests(1_200, { ...big, days: 3 }, 'on-three-days'), ...guests(9_000, big)]);
    await learn([...guests(1_200, { ...big, ...old }, 'client')]);
    const db = new DatabaseSync(path);
    db.exec(`
      WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < ${BOUND})
      INSERT INTO guest (host, domain, day, since_day, days)
      SELECT 'mx' || (n / 20) || '.flood.net', n || '.com', '${DAY}', '${DAY}', 1 FROM number`);
    db.close();
    await learn([]);
    expect(read(path, 'SELECT count(*) AS n FROM guest')[0]?.n).toBeLessThanOrEqual(BOUND);
    const left = read(path, "SELECT name, innocent FROM host WHERE name NOT LIKE '%flood%' ORDER BY name");
    expect(left).toEqual([
      { name: 'mx.big.net', innocent: 1_200 + 1_000 },
      { name: 'mx.small.net', innocent: 3 },
    ]);
  });

  test('go in equal shares, listed or not, where every host has listed ones', async () => {
    const db = new DatabaseSync(path);
    const put = db.prepare(`
      WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n <= ?1)
      INSERT INTO guest (host, domain, entry, day)
      SELECT 'mx' || (n % 1000) || '.net', ?2 || n || '.com', ?3, ?4 FROM number`);
    put.run(BOUND / 2, 'i', null, '2026-11-01');
    put.run(BOUND / 2, 'l', 'listed.com', DAY);
    db.close();
    await learn([]);
    const [left] = read(path, 'SELECT count(*) AS n, sum(entry IS NULL) AS unlisted FROM guest');
    expect(Number(left?.n)).toBeLessThanOrEqual(BOUND);
    expect(Number(left?.unlisted) / Number(left?.n)).toBeCloseTo(0.5, 2);
  });
});

test('where there are as many shared hosts as may be, those that are seen as such again stay, and no other comes', async () => {
  const db = openDatabase(path);
  db.exec(`
    WITH RECURSIVE each_one (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM each_one WHERE n < ${LEARNING.mostShared})
    INSERT INTO host (name, shared_day) SELECT 'h' || n, '${SINCE}' FROM each_one`);
  db.close();
  await learn([], ['late.net', 'h2', `h${LEARNING.mostShared}`]);
  expect(read(path, 'SELECT name FROM host WHERE shared_day = ? ORDER BY name', DAY)).toEqual([
    { name: 'h150000' },
    { name: 'h2' },
  ]);
});

test('a shared host stays one until it was not seen as such for long, whatever guests it has', async () => {
  await learn(guests(20), ['mx.box.net', '5.61.1.1']);
  const shared = () => read(path, 'SELECT name FROM host WHERE shared_day IS NOT NULL ORDER BY name');
  await learn(guests(20, { day: '2027-02-01' }), ['5.61.1.1'], '2027-02-01', '2026-11-16');
  // A clock may have jumped: a second day has to say the same.
  expect(shared()).toEqual([{ name: '5.61.1.1' }, { name: 'mx.box.net' }]);
  await learn([], [], '2027-02-02', '2026-11-17');
  expect(shared()).toEqual([{ name: '5.61.1.1' }]);
  expect(await store.listHosts(1, 10)).toMatchObject([{ name: 'mx.box.net', flagged: 20, shared: false }]);
  await learn([], [], '2027-02-20', '2027-02-02');
  expect(read(path, 'SELECT name FROM host')).toEqual([]);
});

test('a backup carries all of it, and a restore brings back what is missing and leaves what was learned since', async () => {
  await learn([...guests(12), ...guests(3, { entry: null }, 'i')], ['5.61.1.1']);
  await learn(guests(4, { host: 'mx.gone.net' }));
  await store.forgetHost('mx.gone.net', 5, ACT);
  await learn(guests(4, { host: 'mx.later.net' }));
  const mark = {
    generation: 'abc',
    last: '1 x.com',
    endedAt: null,
    firstEndedAt: 3,
    dead: 'AQIDBA==',
  };
  await store.markSweep(mark);
  const place = { host: 'mx.box.net', below: 'box.net', addresses: '5.61.1.1', day: DAY };
  await store.keepWhereabouts([place], SINCE);
  const tables = (file: string) =>
    ['host', 'guest', 'whereabouts'].map(table => read(file, `SELECT * FROM ${table}`));
  const before = tables(path);
  const copy = join(temporaryFolder(), 'copy.db');
  await store.backup(copy, () => {});

  const elsewhere = join(temporaryFolder(), 'other.db');
  const other = await openSqliteStore(elsewhere, () => {});
  await other.restore(copy, ACT);
  expect(tables(elsewhere)).toEqual(before);
  expect(await other.sweepMark()).toEqual(mark);
  await other.close();

  await learn(guests(40, {}, 'later'), ['mx.box.net']);
  await store.forgetHost('mx.later.net', 6, ACT);
  await store.keepWhereabouts([{ ...place, addresses: '5.61.1.2' }], SINCE);
  await store.markSweep({ ...mark, last: '1 y.com', endedAt: 7 });
  const after = tables(path);
  expect(await store.restore(copy, ACT)).toEqual({ changes: [], warnings: [], rows: {} });
  // What an operator took out since stays out, with its guests.
  expect(tables(path)).toEqual(after);
  expect(await store.sweepMark()).toMatchObject({ last: '1 y.com' });
});
