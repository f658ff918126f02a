import { execFileSync, spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { FIRST_START, MOST_ACTS } from '../../src/core/audit.ts';
import { MOST_DECISIONS } from '../../src/core/decision.ts';
import { digestOf } from '../../src/core/key.ts';
import type { Override } from '../../src/core/override.ts';
import { type Store, StoreUnavailable } from '../../src/core/ports.ts';
import { MOST_FLAGS } from '../../src/core/ranking.ts';
import { rotated } from '../../src/core/rotation.ts';
import { publicKeyOf } from '../../src/core/signing-key.ts';
import { TABLES } from '../../src/store/columns.ts';
import { StoreRefused } from '../../src/store/refused.ts';
import { SQLITE } from '../../src/store/sqlite/codes.ts';
import { explain, openFirst } from '../../src/store/sqlite/open.ts';
import { APPLICATION_ID, MIGRATIONS } from '../../src/store/sqlite/schema.ts';
import { copyWhole } from '../../src/store/sqlite/whole-copy.ts';
import { ACT } from '../support/act.ts';
import { emptiedFile, emptiedServers } from '../support/emptied.ts';
import { guestOf } from '../support/guests.ts';
import { olderStore } from '../support/older.ts';
import { read } from '../support/process.ts';
import { overrideOf } from '../support/records.ts';
import { eventually, hold, pause, turn } from '../support/scale.ts';
import { temporaryFolder } from '../support/service.ts';
import { spendOne } from '../support/spend.ts';
import { servedStore, storeAt } from '../support/store.ts';
import { isStarved } from '../support/vitals.ts';
import { DAY, flagOf, MONTH, someKey, storeContract } from './contract.ts';

async function newStore() {
  const path = join(temporaryFolder(), 'data', 'domain-risk.db');
  return { path, store: await storeAt(path) };
}

/** For tests that neither close nor break it. */
const emptied = emptiedFile();

const written = { key: someKey(), bytes: Buffer.alloc(0) };

/** A store with one key and some calls, closed: made once, and copied for each. */
async function writtenFile() {
  const path = join(temporaryFolder(), 'data', 'domain-risk.db');
  const { key } = written;
  if (written.bytes.length === 0) {
    const store = await storeAt(path);
    await store.createKey(key, ACT);
    const revision = await store.revision();
    for (let i = 0; i < 3; i++) await spendOne(store, { keyId: key.id, day: DAY, quota: null }, revision);
    await store.close();
    // A clean end has emptied the journal into it, as a test says.
    written.bytes = readFileSync(path);
  } else {
    mkdirSync(join(path, '..'), { mode: 0o700 });
    writeFileSync(path, written.bytes, { mode: 0o600 });
  }
  return { path, key };
}

/** Notes the bytes of every file beside the database; what it gives tells which of them have changed since. */
function watchBytes(path: string): () => string[] {
  const folder = join(path, '..');
  const before = readdirSync(folder).map(name => [name, readFileSync(join(folder, name))] as const);
  return () =>
    before.flatMap(([name, bytes]) => {
      const at = join(folder, name);
      return existsSync(at) && readFileSync(at).equals(bytes) ? [] : [name];
    });
}

storeContract(async () => {
  const path = join(temporaryFolder(), 'domain-risk.db');
  return () => storeAt(path);
}, emptiedServers());

const newSigningKey = () =>
  generateKeyPairSync('ed25519').privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64');

describe('the file', () => {
  test('is for its own user only: 0600 in a directory of 0700, the journal too', async () => {
    const { path, store } = await newStore();
    const key = someKey();
    await store.createKey(key, ACT);
    const mode = (name: string) => (statSync(name).mode & 0o777).toString(8);
    expect(mode(join(path, '..'))).toBe('700');
    const files = readdirSync(join(path, '..'));
    expect(files).toContain('domain-risk.db-wal');
    for (const file of files) expect(mode(join(path, '..', file))).toBe('600');
  });

  test.skipIf(process.getuid?.() !== 0)(
    'made or changed by root belongs to the user whose folder it is in, with all beside it',
    async () => {
      const home = join(temporaryFolder(), 'home');
      mkdirSync(home);
      chownSync(home, 65_534, 65_534);
      const path = join(home, 'data', 'domain-risk.db');
      const owners = () =>
        readdirSync(home, { recursive: true, encoding: 'utf8' }).map(name => [
          name,
          statSync(join(home, name)).uid,
        ]);
      const store = await storeAt(path);
      await store.createKey(someKey(), ACT);
      await store.backup(join(home, 'copy.db'), () => {});
      const elsewhere = join(temporaryFolder(), 'copy.db');
      await store.backup(elsewhere, () => {});
      expect(statSync(elsewhere).uid).toBe(0);
      const beside = ['', '-shm', '-wal', '.pair'].map(end => `data/domain-risk.db${end}`);
      expect(owners().map(([name]) => name)).toEqual(expect.arrayContaining(['copy.db', 'data', ...beside]));
      expect(owners().filter(([, uid]) => uid !== 65_534)).toEqual([]);
      await store.close();
      // The copy before the tables change too.
      const db = new DatabaseSync(path);
      db.exec('ALTER TABLE key DROP COLUMN former');
      db.close();
      await (await storeAt(path)).close();
      expect(owners().filter(([name]) => String(name).includes('.before-'))).toEqual([
        [expect.anything(), 65_534],
      ]);
    },
  );

  test('is one file again after a clean end, the journal emptied into it', async () => {
    const { path, store } = await newStore();
    await store.createKey(someKey(), ACT);
    await store.ready();
    await store.listHosts(1, 1);
    await store.close();
    expect(readdirSync(join(path, '..'))).toEqual(['domain-risk.db']);
  });

  test('of a newer version is refused, named, and left as it is', async () => {
    for (const mode of ['WAL', 'DELETE']) {
      const { path } = await writtenFile();
      const db = new DatabaseSync(path);
      db.exec(`PRAGMA journal_mode = ${mode}; PRAGMA user_version = ${MIGRATIONS.length + 1}`);
      db.close();
      const changed = watchBytes(path);
      await expect(storeAt(path)).rejects.toThrow(
        /newer version.*update domain-risk, or stop all servers.*\.before-/,
      );
      expect(changed()).toEqual([]);
    }
  });

  test('of another program is refused and left as it is', async () => {
    const path = join(temporaryFolder(), 'other.db');
    const db = new DatabaseSync(path);
    db.exec('CREATE TABLE theirs (a); INSERT INTO theirs VALUES (1)');
    db.close();
    const changed = watchBytes(path);
    await expect(storeAt(path)).rejects.toThrow(StoreRefused);
    await expect(storeAt(path)).rejects.toThrow(/another program.*DATA_DIR/);
    expect(changed()).toEqual([]);
  });

  test('an interrupted first start leaves an empty file, which the next start takes', async () => {
    const path = join(temporaryFolder(), 'domain-risk.db');
    writeFileSync(path, '', { mode: 0o644 });
    const store = await storeAt(path);
    expect(await store.createFirstKey(someKey(), ACT)).toBe(true);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  const damages: Record<string, (bytes: Buffer) => Buffer> = {
    'something else entirely': () => Buffer.from('this is no database, it only has its name\n'.repeat(300)),
    'cut off in the middle': bytes => bytes.subarray(0, bytes.length - 4096 - 1000),
    'overwritten in the middle': bytes => {
      const damaged = Buffer.from(bytes);
      for (let page = 1; page < damaged.length / 4096; page++)
        damaged.fill(0xa5, page * 4096, page * 4096 + 512);
      return damaged;
    },
    'overwritten at the head': bytes => Buffer.concat([Buffer.alloc(100, 0x5a), bytes.subarray(100)]),
  };
  test.each(Object.keys(damages))('%s is refused, and nothing is overwritten', async name => {
    const { path } = await writtenFile();
    writeFileSync(path, damages[name]!(readFileSync(path)));
    const changed = watchBytes(path);
    await expect(storeAt(path)).rejects.toThrow(/corrupt.*restore a backup/);
    expect(changed()).toEqual([]);
  });

  test('a damaged file whose journal was left by a crash is refused with both left as they are', async () => {
    const { path } = await writtenFile();
    const writer = new DatabaseSync(path);
    writer.exec('PRAGMA wal_autocheckpoint = 0; UPDATE revision SET value = 99');
    const crashed = join(temporaryFolder(), 'domain-risk.db');
    for (const end of ['', '-wal']) copyFileSync(path + end, crashed + end);
    writer.close();
    writeFileSync(crashed, damages['overwritten in the middle']!(readFileSync(crashed)));
    const changed = watchBytes(crashed);
    await expect(storeAt(crashed)).rejects.toThrow(/corrupt/);
    expect(changed()).toEqual([]);
  });

  test('a store that migrations bring up to date keeps what it held', async () => {
    const { path, key } = await writtenFile();
    const store = await storeAt(path);
    expect(await store.listKeys()).toEqual([key]);
    expect(read(path, 'PRAGMA user_version')[0]).toEqual({ user_version: MIGRATIONS.length });
    expect(read(path, 'PRAGMA application_id')[0]).toEqual({ application_id: APPLICATION_ID });
  });

  test('what came later is added to the keys of before, and the version before goes on beside it', async () => {
    const { path, key } = await writtenFile();
    const before = new DatabaseSync(path);
    onTestFinished(() => before.close());
    before.exec('ALTER TABLE key DROP COLUMN note');
    const store = await storeAt(path);
    expect(await store.listKeys()).toEqual([key]);
    const noted = { ...key, note: 'ask Ann' };
    expect(await store.updateKey(noted, key, ACT)).toBe(true);
    // What the version without notes opens, and does with the columns that it knows.
    expect(read(path, 'PRAGMA user_version')[0]).toEqual({ user_version: MIGRATIONS.length });
    const known =
      'id, name, digest, prefix, last4, previous_digest, previous_until, quota, rate, origins, networks, created_at, expires_at, revoked_at';
    before.exec(`
      UPDATE key SET (${known}) = (SELECT ${known.replace('quota', '7')} FROM key);
      INSERT INTO key (${known}) VALUES ('key_2', 'two', 'd2', 'p', 'l', NULL, NULL, NULL, NULL, '[]', '[]', 9, NULL, NULL)`);
    expect(await store.listKeys()).toEqual([
      expect.objectContaining({ id: 'key_2', note: null }),
      { ...noted, quota: 7 },
    ]);
  });

  test('a directory in its place is refused with the setting to change', async () => {
    const path = join(temporaryFolder(), 'domain-risk.db');
    mkdirSync(path);
    await expect(storeAt(path)).rejects.toThrow(/DATA_DIR/);
  });

  const blocked: Record<string, (path: string) => void> = {
    'a pipe in its place': path => {
      rmSync(path);
      execFileSync('mkfifo', [path]);
    },
    'a directory in the place of the index of its journal': path => mkdirSync(`${path}-shm`),
    'a directory in the place of its journal': path => mkdirSync(`${path}-wal`),
  };
  test.each(Object.keys(blocked))('%s is refused with the setting to change', async what => {
    const { path } = await writtenFile();
    blocked[what]!(path);
    const refused = await storeAt(path).catch(error => error);
    expect(refused).toBeInstanceOf(StoreRefused);
    expect([refused.problem, refused.fix]).toEqual([
      expect.stringContaining(path),
      expect.stringContaining('DATA_DIR'),
    ]);
  });

  test.each([
    [SQLITE.full, /no space left/, /^free some/],
    [SQLITE.ioerr, /cannot read/, /^check the disk/],
    [SQLITE.readonly, /cannot write/, /write access/],
  ])('what SQLite says of the disk (%i) is told with a fix', (errcode, problem, fix) => {
    const said = Object.assign(new Error('said'), { code: 'ERR_SQLITE_ERROR', errcode });
    expect(explain(said, join(temporaryFolder(), 'domain-risk.db'))).toMatchObject({
      problem: expect.stringMatching(problem),
      fix: expect.stringMatching(fix),
    });
  });

  test('a data directory that cannot be made is refused with the setting to change', async () => {
    const file = join(temporaryFolder(), 'file');
    writeFileSync(file, '');
    await expect(storeAt(join(file, 'var', 'domain-risk.db'))).rejects.toThrow(/DATA_DIR/);
  });
});

describe('a lock that another process holds', () => {
  function lock(path: string) {
    const other = new DatabaseSync(path);
    other.exec('BEGIN IMMEDIATE');
    onTestFinished(() => other.close());
    return other;
  }

  test('refuses the count within a second, never holds the event loop, and passes by itself', async () => {
    const path = join(temporaryFolder(), 'domain-risk.db');
    const store = await servedStore(path);
    const key = someKey();
    await store.createKey(key, ACT);
    const revision = await store.revision();
    const spend = () => spendOne(store, { keyId: key.id, day: DAY, quota: null }, revision);
    await spend();
    const other = lock(path);
    const refuse = async () => {
      const delay = monitorEventLoopDelay({ resolution: 5 });
      delay.enable();
      const started = performance.now();
      const calls = Array.from({ length: 20 }, spend);
      // One that comes while the first commit is still waiting has to wait for that one too.
      await new Promise(resolve => setTimeout(resolve, 50));
      const late = performance.now();
      let lateWaited = 0;
      const lateCall = spend().catch((error: unknown) => {
        lateWaited = performance.now() - late;
        return error;
      });
      const outcomes = await Promise.allSettled(calls);
      const waited = performance.now() - started;
      expect(await lateCall).toBeInstanceOf(StoreUnavailable);
      await expect(store.ready()).rejects.toThrow(StoreUnavailable);
      delay.disable();
      for (const one of outcomes) expect(one).toMatchObject({ reason: expect.any(StoreUnavailable) });
      // The lock is still held: 0.4 and 0.8 s were measured (November 2026).
      expect(waited).toBeLessThan(4_000);
      expect(lateWaited).toBeLessThan(8_000);
      return delay.max / 1e6;
    };
    let heldMs = await refuse();
    // Others on the machine may have the processors for longer.
    for (let tries = 1; heldMs > 300 && tries < 5; tries++) heldMs = Math.min(heldMs, await refuse());
    // Another process's lock of 2 s once held it for 1,972 ms; 30 ms was measured with the thread (November 2026).
    expect(heldMs).toBeLessThan(300);
    other.exec('ROLLBACK');
    expect(await spend()).toEqual({ outcome: 'granted', used: 2 });
    await eventually(
      'ready again',
      () =>
        store.ready().then(
          () => true,
          () => false,
        ),
      10_000,
    );
    expect(await store.used(key.id, MONTH)).toBe(2);
  });

  test('does not keep a server with keys from starting, nor a reader from reading', async () => {
    const { path, key } = await writtenFile();
    lock(path);
    const store = await storeAt(path);
    expect(await store.listKeys()).toEqual([key]);
    expect(await store.createFirstKey(someKey(), ACT)).toBe(false);
  });

  test('that excludes readers too is refused at the start with a line that says so', async () => {
    const { path } = await writtenFile();
    const other = new DatabaseSync(path);
    onTestFinished(() => other.close());
    other.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; UPDATE revision SET value = value');
    expect(() => openFirst(path, () => undefined, 50)).toThrow(/another program holds a lock/);
  });

  test.each(['IMMEDIATE', 'EXCLUSIVE'])(
    'because it makes the file, or takes a copy that was put there, is waited for: %s',
    async kind => {
      const { path, key } = await writtenFile();
      const other = new DatabaseSync(path);
      onTestFinished(() => other.close());
      other.exec(`PRAGMA journal_mode = DELETE; BEGIN ${kind}`);
      const opening = servedStore(path);
      // Longer than others wait for a lock.
      await pause(800);
      other.exec('ROLLBACK');
      expect(await (await opening).listKeys()).toEqual([key]);
    },
  );
});

describe('a held event loop', () => {
  async function ready() {
    const { path, store } = await emptied();
    const key = someKey();
    await store.createKey(key, ACT);
    await store.ready();
    const revision = await store.revision();
    const spend = () => spendOne(store, { keyId: key.id, day: DAY, quota: null }, revision);
    return { path, store, key, spend };
  }

  test('refuses no call that the store has counted meanwhile', async () => {
    const { store, key, spend } = await ready();
    const calls = Array.from({ length: 2_000 }, spend);
    const used = store.used(key.id, MONTH);
    // Behind the immediate that posts the batch to its thread.
    await turn();
    hold(1_500);
    const outcomes = await Promise.all(calls);
    expect(outcomes.at(-1)).toEqual({ outcome: 'granted', used: 2_000 });
    expect(await used).toBeLessThanOrEqual(2_000);
  });

  test('takes no time from calls that it kept from being posted, nor from those behind a commit', async () => {
    const areCounted = async () => {
      const { path, spend } = await ready();
      const other = new DatabaseSync(path);
      onTestFinished(() => other.close());
      const first = spend();
      await turn();
      const second = spend();
      hold(1_500);
      // Longer than a call gets at the least when its time is over: 50 ms.
      other.exec('BEGIN IMMEDIATE');
      await pause(200);
      other.exec('ROLLBACK');
      const both = await Promise.allSettled([first, second]);
      return both.every(one => one.status === 'fulfilled' && one.value.outcome === 'granted');
    };
    // On a machine with much else to do the lock is held for longer than a call waits.
    expect((await areCounted()) || (await areCounted()) || (await areCounted())).toBe(true);
  });
});

test('a journal that a standing reader made grow is cut back when the reader is gone', async () => {
  const { path, store } = await newStore();
  const key = someKey();
  await store.createKey(key, ACT);
  const revision = await store.revision();
  const reader = new DatabaseSync(path, { readOnly: true });
  onTestFinished(() => {
    if (reader.isOpen) reader.close();
  });
  reader.exec('BEGIN; SELECT value FROM revision');
  await store.acceptSnapshot(
    { feed: 'castle', version: '1', digest: 'd', names: 1, acceptedAt: 1, body: 'x'.repeat(9 * 2 ** 20) },
    null,
    ACT,
  );
  const journal = () => statSync(`${path}-wal`).size;
  expect(journal()).toBeGreaterThan(8 * 2 ** 20);
  reader.close();
  const spend = { keyId: key.id, day: DAY, quota: null };
  for (let i = 0; i < 3; i++) await spendOne(store, spend, revision);
  expect(journal()).toBeLessThan(8 * 2 ** 20);
});

/** What `columns` says of each n below `count`, by a statement: the store's own way takes twenty times as long. */
function insertFlags(path: string, count: number, columns: string, day = '2026-11-15'): void {
  const db = new DatabaseSync(path, { timeout: 5_000 });
  db.exec(`
    WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count - 1})
    INSERT INTO flag (day, domain, key_id, listed, reason, score)
    SELECT '${day}', ${columns}, 90 FROM numbers`);
  db.close();
}

describe('flags', () => {
  const BOUND = MOST_FLAGS;
  const rows = (path: string) => Number(read(path, 'SELECT count(*) AS n FROM flag')[0]?.n);
  async function flood(store: Store, from: number, to: number) {
    for (let at = from; at < to; at += 5_000) {
      const flags = Array.from({ length: 5_000 }, (_, i) => flagOf({ domain: `x${at + i}.example` }));
      await store.flag(flags, '2026-10-17');
    }
  }

  test('stay within their bound however many names are asked, the least counted go, and calls are counted meanwhile', async () => {
    const path = join(temporaryFolder(), 'domain-risk.db');
    const store = await servedStore(path);
    const key = someKey();
    await store.createKey(key, ACT);
    const revision = await store.revision();
    const kept = [
      flagOf({ domain: 'listed.example', listed: true, reason: 'disposable' }),
      flagOf({ domain: 'two-keys.example', keyId: 'key_1' }),
      flagOf({ domain: 'two-keys.example', keyId: 'key_2' }),
    ];
    await store.flag(kept, '2026-10-17');
    // So many were there before.
    insertFlags(path, 95_000, "'x' || n || '.example', 'key_1', 0, 'undeliverable'");
    let flooding = true;
    const flooded = flood(store, 95_000, 105_000).finally(() => {
      flooding = false;
    });
    let calls = 0;
    let late = 0;
    while (flooding) {
      // Rejects when it was not counted within the store's own deadline, which only others on the machine may cause.
      await spendOne(store, { keyId: key.id, day: DAY, quota: null }, revision).then(
        () => calls++,
        error => {
          if (!isStarved(process.pid)) throw error;
          late++;
        },
      );
      await pause(1);
    }
    await flooded;
    expect(calls).toBeGreaterThan(late);
    // Without a deadline: on a machine with five times too much to do the ranking of so many took more than a second.
    const here = await storeAt(path);
    const used = await here.used(key.id, MONTH);
    expect([used >= calls, used <= calls + late]).toEqual([true, true]);
    expect(rows(path)).toBeLessThanOrEqual(BOUND);
    const top = [...(await here.ranking('2026-10-17', 10, undefined))];
    expect(top.map(row => row.domain)).toEqual(['two-keys.example', 'listed.example']);
    // The file is bounded with its rows: 125,000 names took 12 MB (November 2026).
    expect(statSync(path).size).toBeLessThan(120e6);
  });

  test('of names that many keys flag stay within the bound, and the most counted names stay', async () => {
    const path = join(temporaryFolder(), 'domain-risk.db');
    const store = await servedStore(path);
    const names = 100;
    const keys = 1_050;
    insertFlags(
      path,
      keys * names,
      `'d' || (n % ${names}) || '.example', 'key_' || (n / ${names}), 1, 'disposable'`,
    );
    const db = new DatabaseSync(path);
    db.exec("DELETE FROM flag WHERE domain = 'd7.example' AND key_id > 'key_2'");
    db.close();
    expect(rows(path)).toBeGreaterThan(BOUND);
    await store.flag([], '2026-10-17');
    expect(rows(path)).toBeLessThanOrEqual(BOUND);
    const top = [...(await store.ranking('2026-10-17', 1_000, undefined))];
    expect(top.length).toBeGreaterThan(90);
    expect(top[0]!.times).toBe(keys);
    expect(top.map(row => row.domain)).not.toContain('d7.example');
  });

  test('of past days are gathered before any name goes: what many keys meet is counted however many they are', async () => {
    const path = join(temporaryFolder(), 'domain-risk.db');
    const store = await storeAt(path);
    const put = (count: number, names: number, listed: 0 | 1, day: string) =>
      insertFlags(
        path,
        count,
        `'d' || (n % ${names}) || '.example', 'key_' || (n / ${names}), ${listed}, 'disposable'`,
        day,
      );
    // 2,500 keys and a day before 1,500; by one key, names of which each would be the least counted.
    put(50_000, 20, 0, '2026-11-10');
    put(30_000, 20, 1, '2026-11-09');
    put(20_500, 20_500, 1, '2026-11-15');
    await store.flag([], '2026-10-17');
    expect(rows(path)).toBeLessThanOrEqual(BOUND);
    const ranked = async () => [...(await store.ranking('2026-10-17', 20, undefined))];
    expect((await ranked()).map(({ times }) => times)).toEqual(Array(20).fill(4_001));
    expect(read(path, 'SELECT count(DISTINCT domain) AS n FROM flag')).toEqual([{ n: 20_500 }]);
    // Also what is gathered again, and of a name that a list named on one of the days only.
    insertFlags(path, 5_500, `'x' || n || '.example', 'key_2', 0, 'undeliverable'`);
    await store.flag([], '2026-10-17');
    expect(await ranked()).toMatchObject(Array(20).fill({ times: 4_001, listed: true }));
  });

  test('that were gathered are not counted twice by a restore of what was there before, nor the other way round', async () => {
    const path = join(temporaryFolder(), 'domain-risk.db');
    const store = await servedStore(path);
    const days = ['2026-11-08', '2026-11-09'] as const;
    await store.flag(
      days.flatMap(day =>
        ['a', 'b', 'c'].map(keyId => flagOf({ domain: 'm.example', day, keyId, listed: true })),
      ),
      '2026-10-17',
    );
    const gather = (file: string, day: string) => {
      const db = new DatabaseSync(file);
      db.exec(`DELETE FROM flag WHERE day = '${day}' AND key_id <> 'c'`);
      db.exec(`UPDATE flag SET times = 3${file === path ? '' : ", key_id = 'd'"} WHERE day = '${day}'`);
      db.close();
    };
    const copy = join(temporaryFolder(), 'copy.db');
    await store.backup(copy, () => {});
    gather(path, days[0]);
    gather(copy, days[1]);
    await store.restore(copy, ACT);
    expect([...(await store.ranking('2026-10-17', 10, undefined))]).toMatchObject([{ times: 6 }]);
  });
});

test('keys are read while flags and hosts are written by the thousand, and the count goes on too', async () => {
  const store = await servedStore(join(temporaryFolder(), 'domain-risk.db'));
  const key = someKey();
  await store.createKey(key, ACT);
  const revision = await store.revision();
  const day = '2026-11-15';
  await store.sweepMark();
  const domains = Array.from({ length: 8_000 }, (_, i) => `x${i}.example`);
  const flags = domains.map(domain => flagOf({ domain }));
  const guests = domains.map((domain, i) =>
    guestOf({ host: `mx${i % 800}.example`, domain, entry: domain, day }),
  );
  let ended = 0;
  const bulk = [
    store.flag(flags, '2026-10-17'),
    store.learn(guests, [], day, '2026-08-17'),
    store.ranking('2026-10-17', 10, undefined).catch(() => {}),
  ];
  for (const one of bulk) one.finally(() => ended++);
  // In one queue with them these would be answered when all of it is done.
  expect(await store.keyByDigest(key.digest)).toEqual({ key, revision });
  expect([await store.revision(), await store.used(key.id, MONTH)]).toEqual([revision, 0]);
  expect(ended).toBe(0);
  const calls = { counted: 0, late: 0 };
  while (ended < bulk.length) {
    // Late where a busy machine did not let it be counted within the store's own deadline.
    await spendOne(store, { keyId: key.id, day: DAY, quota: null }, revision).then(
      () => calls.counted++,
      error => {
        expect(error).toBeInstanceOf(StoreUnavailable);
        calls.late++;
      },
    );
  }
  await Promise.all(bulk);
  expect(calls.counted).toBeGreaterThan(calls.late);
  const used = await store.used(key.id, MONTH);
  expect(used).toBeGreaterThanOrEqual(calls.counted);
  expect(used).toBeLessThanOrEqual(calls.counted + calls.late);
});

test.each([
  ['by servers', servedStore],
  ['by commands', storeAt],
])(
  'opened as it is %s and closed in the middle of its first work, it leaves nobody waiting, and takes no more',
  async (_, open) => {
    const store = await open(join(temporaryFolder(), 'domain-risk.db'));
    const spend = () => spendOne(store, { keyId: 'key_1', day: DAY, quota: null }, 0);
    const flags = Array.from({ length: 5_000 }, (_, at) => flagOf({ domain: `d${at}.example` }));
    const work = [spend(), store.ready(), store.listHosts(1, 10), store.flag(flags, DAY)];
    const [, ...outcomes] = await Promise.allSettled([store.close(), ...work]);
    for (const one of outcomes)
      if (one.status === 'rejected') expect(one.reason).toBeInstanceOf(StoreUnavailable);
    const closed = performance.now();
    for (const late of [
      spend,
      () => store.listHosts(1, 10),
      () => store.listKeys(),
      () => store.lease('update'),
    ])
      await expect(late()).rejects.toThrow(StoreUnavailable);
    // At once, not when their time has passed: a list of hosts has a minute, and a lease any time.
    expect(performance.now() - closed).toBeLessThan(10_000);
  },
);

test('what goes by age goes by and by: who asks meanwhile waits for a part of it', async () => {
  const { path, store } = await emptied();
  const mark = { generation: 'g', floor: 0, last: 50_000 };
  await store.swapChangesMark(mark, undefined);
  const db = new DatabaseSync(path);
  const numbers =
    'WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 25000)';
  for (const rows of [
    "listing_change (id, domain, change, at, feeds) SELECT n, n || '.com', 'flagged', 1, '[]'",
    "flag (domain, day, key_id, listed, reason, score) SELECT n || '.com', '2026-09-01', 'k', 0, 'disposable', 85",
    "guest (host, domain, entry, day, keys) SELECT 'mx.box.net', n || '.com', NULL, '2026-09-01', 1",
  ])
    db.exec(`${numbers} INSERT INTO ${rows} FROM number`);
  // The clock did not jump.
  await store.flag([flagOf({ day: '2026-11-14' })], '');
  await store.learn(
    [guestOf({ host: 'mx.box.net', domain: 'late.com', entry: null, day: '2026-11-14' })],
    [],
    DAY,
    '',
  );
  for (const [table, forget] of [
    ['listing_change', () => store.swapChangesMark({ ...mark, floor: 40_000 }, mark)],
    ['flag', () => store.flag([], '2026-10-17')],
    ['guest', () => store.learn([], [], DAY, '2026-10-17')],
  ] as const) {
    const left = () => Number(db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.n);
    const forgotten = forget();
    await store.changesMark();
    await store.changesMark();
    expect([table, left() > 10_000]).toEqual([table, true]);
    await forgotten;
    expect([table, left() <= 1]).toEqual([table, true]);
  }
  db.close();
});

describe('a backup', () => {
  test('taken while another process writes is consistent, whole, for its own user only', async () => {
    const { path, store } = await newStore();
    insertFlags(path, 60_000, "'x' || n || '.example', 'key_1', 0, 'undeliverable'");
    const other = await servedStore(path);
    let writing = true;
    let written = 0;
    const writer = (async () => {
      while (writing) {
        await other.createKey(someKey(), ACT);
        written++;
      }
    })();
    const target = join(temporaryFolder(), 'copy.db');
    const shown: number[] = [];
    await store.backup(target, (done, total) => shown.push(done / total));
    writing = false;
    await writer;
    expect(written).toBeGreaterThan(0);
    expect(statSync(target).mode & 0o777).toBe(0o600);
    const count = (table: string) => read(target, `SELECT count(*) AS n FROM ${table}`)[0]?.n;
    expect(read(target, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
    expect(count('flag')).toBe(60_000);
    // Each key came with one step of the revision, in one transaction: a copy that mixes states shows here.
    expect(read(target, 'SELECT value - 1 AS n FROM revision')[0]?.n).toBe(count('key'));
    // A copy that starts anew with every write of a neighbour would never end under load.
    expect(shown).toEqual(shown.toSorted((a, b) => a - b));
    expect(shown.length).toBeGreaterThan(0);
    expect(shown.every(part => part >= 0 && part <= 1)).toBe(true);
  });

  test('never overwrites a file', async () => {
    const { store } = await emptied();
    const target = join(temporaryFolder(), 'precious');
    writeFileSync(target, 'precious');
    await expect(store.backup(target, () => {})).rejects.toThrow(/exists already/);
    expect(readFileSync(target, 'utf8')).toBe('precious');
  });

  test.each([
    ['a file', (target: string) => writeFileSync(target, 'precious')],
    ['a directory', (target: string) => mkdirSync(target)],
  ])('whose name %s has got meanwhile is refused, and leaves what is there', async (what, take) => {
    const { store } = await emptied();
    const target = join(temporaryFolder(), 'copy.db');
    const failed: unknown = store.backup(target, () => {}).catch(error => error);
    const folder = join(target, '..');
    await eventually('it is being written', () => readdirSync(folder).length > 0);
    take(target);
    expect(await failed).toBeInstanceOf(StoreRefused);
    expect(await failed).toMatchObject({ message: `${target} exists already: name a new file` });
    expect(readdirSync(folder)).toEqual(['copy.db']);
    expect(statSync(target).isDirectory() || readFileSync(target, 'utf8')).toBe(
      what === 'a directory' || 'precious',
    );
  });

  test('made beside another one of the same name is the only one that is told to be written', async () => {
    const { store } = await emptied();
    const target = join(temporaryFolder(), 'copy.db');
    const both = await Promise.allSettled([store.backup(target, () => {}), store.backup(target, () => {})]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(readdirSync(join(target, '..'))).toEqual(['copy.db']);
  });

  test('into a directory that is not there fails and leaves the store working', async () => {
    const { store } = await emptied();
    const target = join(temporaryFolder(), 'no', 'copy.db');
    await expect(store.backup(target, () => {})).rejects.toThrow(StoreRefused);
    await store.createKey(someKey(), ACT);
    expect(await store.listKeys()).toHaveLength(1);
  });

  test('has its name only when it is whole, and a broken one leaves nothing', async () => {
    const { path, store } = await newStore();
    const flags = Array.from({ length: 20_000 }, (_, i) => flagOf({ domain: `x${i}.example` }));
    await store.flag(flags, '2026-10-17');
    const folder = temporaryFolder();
    const target = join(folder, 'copy.db');
    const seen = new Set<boolean>();
    await store.backup(target, () => seen.add(existsSync(target)));
    expect([...seen]).toEqual([false]);
    expect(readdirSync(folder)).toEqual(['copy.db']);

    renameSync(path, `${path}.away`);
    await expect(store.backup(join(folder, 'other.db'), () => {})).rejects.toThrow(StoreUnavailable);
    expect(readdirSync(folder)).toEqual(['copy.db']);
    renameSync(`${path}.away`, path);
  });

  test('of a store whose file is exchanged meanwhile is none: what lies there now is not what was asked for', async () => {
    const { path, store } = await newStore();
    const target = join(temporaryFolder(), 'copy.db');
    const made = store.backup(target, () => {});
    // Before the copy begins: it is one of the other file, and whole.
    renameSync(path, `${path}.away`);
    copyFileSync(`${path}.away`, path);
    await expect(made).rejects.toThrow(/was deleted or replaced while it was in use/);
    expect(readdirSync(join(target, '..'))).toEqual([]);
  });

  test('does not write where another one still writes, and takes away what one that was killed has left', async () => {
    const { store } = await emptied();
    const folder = temporaryFolder();
    const of = (pid: number) => `copy.db.partial-${pid}-0123abcd`;
    for (const pid of [process.ppid, 4_194_304]) writeFileSync(join(folder, of(pid)), 'of another');
    await store.backup(join(folder, 'copy.db'), () => {});
    expect(readdirSync(folder).sort()).toEqual(['copy.db', of(process.ppid)]);
  });
});

describe('a restore', () => {
  async function backedUp(make: () => Promise<{ path: string; store: Store }> = emptied) {
    const { path, store } = await make();
    const key = someKey({ note: 'ask Ann', quota: 10 });
    await store.createKey(key, ACT);
    const spend = async (day: string) =>
      spendOne(store, { keyId: key.id, day, quota: null }, await store.revision());
    await spend('2026-10-31');
    await spend(DAY);
    const target = join(temporaryFolder(), 'copy.db');
    await store.backup(target, () => {});
    return { path, store, key, spend, target };
  }

  test('rewinds no counter: each month keeps the larger count', async () => {
    const { store, key, spend, target } = await backedUp();
    for (let i = 0; i < 5; i++) await spend(DAY);
    await store.restore(target, ACT);
    expect(await store.used(key.id, MONTH)).toBe(6);
    expect(await store.used(key.id, '2026-10')).toBe(1);
    const elsewhere = await newStore();
    await elsewhere.store.restore(target, ACT);
    expect(await elsewhere.store.used(key.id, MONTH)).toBe(1);
    expect(await elsewhere.store.listKeys()).toEqual([key]);
  });

  test('into a new store that began with the same secret, as FIRST_KEY_FILE has it: it is one key, with limits and counts', async () => {
    const { key, target } = await backedUp();
    const { store } = await newStore();
    const first = someKey({ name: 'first', digest: key.digest });
    await store.createFirstKey(first, ACT);
    await spendOne(store, { keyId: first.id, day: DAY, quota: null }, await store.revision());
    const planned = await store.compareBackup(target);
    expect(await store.restore(target, { ...ACT, at: ACT.at + 1 })).toEqual(planned);
    expect(planned.changes).toMatchObject([{ action: 'key.update', subject: first.id }]);
    const { name, note, quota } = key;
    expect(await store.listKeys()).toEqual([{ ...first, name, note, quota }]);
    expect(await store.used(first.id, '2026-10')).toBe(1);
    expect(await store.used(first.id, MONTH)).toBe(1);
    expect((await store.usageDays('2026-10-01', first.id)).map(({ used }) => used)).toEqual([1, 1]);
    expect((await store.compareBackup(target)).changes).toEqual([]);
  });

  test('into a new store that began with a secret that was rotated away: the one of the backup is valid, and that is told', async () => {
    const { store: before, key, spend } = await backedUp();
    const live = { ...key, ...rotated(key, someKey({ last4: 'live' }), null) };
    await before.updateKey(live, key, ACT);
    await spend(DAY);
    const target = join(temporaryFolder(), 'rotated.db');
    await before.backup(target, () => {});
    const { store } = await newStore();
    const first = someKey({ name: 'first', digest: key.digest });
    await store.createFirstKey(first, { ...ACT, via: FIRST_START });
    const planned = await store.compareBackup(target);
    expect(await store.restore(target, { ...ACT, at: ACT.at + 1 })).toEqual(planned);
    expect(planned).toMatchObject({
      changes: [
        { action: 'key.rotate', subject: first.id, detail: expect.stringContaining('…live (rotated') },
      ],
      warnings: [],
    });
    expect((await store.keyByDigest(key.digest)).key).toBeUndefined();
    expect((await store.keyByDigest(live.digest)).key).toMatchObject({ id: first.id, quota: 10 });
    expect(await store.used(first.id, MONTH)).toBe(2);
    expect((await store.audit(9)).map(({ action }) => action)).toContain('key.rotate');
  });

  test('beside a first key of which the backup cannot tell says so, and in the audit', async () => {
    const { target } = await backedUp();
    const { store } = await newStore();
    const first = someKey({ name: 'first' });
    await store.createFirstKey(first, { ...ACT, action: 'key.create', subject: first.id, via: FIRST_START });
    const doubt = { action: 'store.restore', subject: first.id };
    expect((await store.compareBackup(target)).warnings).toMatchObject([doubt]);
    await store.restore(target, { ...ACT, at: ACT.at + 1 });
    expect(await store.audit(9)).toContainEqual(expect.objectContaining(doubt));
  });

  test('of the file of a server that was killed takes along what is only in the journal beside it', async () => {
    const { path, store, key } = await backedUp(newStore);
    const last = someKey();
    await store.createKey(last, ACT);
    const saved = join(temporaryFolder(), 'saved.db');
    for (const end of ['', '-wal']) copyFileSync(path + end, saved + end);
    for (const end of ['', '-wal']) chmodSync(saved + end, 0o400);
    const changed = watchBytes(saved);
    const elsewhere = await newStore();
    expect((await elsewhere.store.compareBackup(saved)).changes).toHaveLength(2);
    await elsewhere.store.restore(saved, ACT);
    expect((await elsewhere.store.listKeys()).map(({ id }) => id).sort()).toEqual([key.id, last.id].sort());
    expect([changed(), readdirSync(join(saved, '..'))]).toEqual([[], ['saved.db', 'saved.db-wal']]);
    for (const end of ['', '-wal']) rmSync(saved + end);
    writeFileSync(`${saved}-wal`, Buffer.alloc(100));
    writeFileSync(saved, '');
    await expect(elsewhere.store.restore(saved, ACT)).rejects.toThrow(
      'saved.db is empty: name a file made by',
    );
  });

  test('of a file beside which the journal of another one lies is that of the file', async () => {
    const { path, store, key, target } = await backedUp(newStore);
    await store.createKey(someKey(), ACT);
    renameSync(target, path);
    const elsewhere = await newStore();
    await elsewhere.store.restore(path, ACT);
    expect(await elsewhere.store.listKeys()).toEqual([key]);
  });

  test('of a file that a server is writing to is refused with what to do', async () => {
    const source = join(temporaryFolder(), 'served.db');
    for (const end of ['', '-wal']) writeFileSync(source + end, 'x');
    const put = async (from: string, to: string) => {
      copyFileSync(from, to);
      appendFileSync(`${source}-wal`, 'y');
    };
    const copied = copyWhole(source, `${source}.copy`, put);
    await expect(copied).rejects.toThrow('make a backup of it with "domain-risk backup"');
    await copyWhole(source, `${source}.copy`);
    expect(readFileSync(`${source}.copy-wal`)).toEqual(readFileSync(`${source}-wal`));
  });

  test('of what a newer version has added is refused, changes nothing, and says how to have it all the same', async () => {
    const { path, store, key, target } = await backedUp(newStore);
    const newer = new DatabaseSync(target);
    newer.exec('ALTER TABLE key ADD COLUMN later TEXT');
    newer.close();
    const revision = await store.revision();
    const refused = await store.restore(target, ACT).catch(error => error);
    expect(refused).toBeInstanceOf(StoreRefused);
    expect(refused.problem).toBe(`${target} holds what this version does not know (key.later)`);
    expect(refused.fix).toContain(
      `stop all servers, remove ${path}-wal and ${path}-shm and put it in the place of ${path}`,
    );
    expect(await store.revision()).toBe(revision);
    // As it says.
    await store.close();
    for (const end of ['-wal', '-shm']) rmSync(path + end, { force: true });
    copyFileSync(target, path);
    const again = await storeAt(path);
    expect(await again.listKeys()).toEqual([key]);
  });

  const overrideFor = (domain: string, facts: Partial<Override> = {}) =>
    overrideOf(domain, { createdAt: 1, ...facts });

  test('gives back limits and overrides that the backup knows, and takes nothing away that came later', async () => {
    const { store, key } = await backedUp();
    const [changed, removed] = [
      overrideFor('changed.example'),
      overrideFor('removed.example', { below: true }),
    ];
    for (const one of [changed, removed]) await store.setOverride(one, ACT);
    await store.flag([flagOf({ domain: 'old.example' })], '2026-10-01');
    const target = join(temporaryFolder(), 'with-overrides.db');
    await store.backup(target, () => {});
    const later = someKey();
    await store.createKey(later, ACT);
    await spendOne(store, { keyId: later.id, day: DAY, quota: null }, await store.revision());
    await store.updateKey({ ...key, quota: 99 }, key, ACT);
    await store.setOverride({ ...changed, action: 'allow' }, ACT);
    await store.removeOverride(removed.domain, ACT);
    const fresh = overrideFor('fresh.example');
    await store.setOverride(fresh, ACT);
    await store.flag([flagOf({ domain: 'new.example', listed: true })], '2026-10-01');
    const before = await store.revision();
    const acts = await store.audit(99);

    const planned = await store.compareBackup(target);
    expect(await store.revision()).toBe(before);
    expect(await store.audit(99)).toEqual(acts);
    expect(await store.restore(target, { ...ACT, at: ACT.at + 1 })).toEqual(planned);
    expect(planned).toEqual({
      changes: [
        { action: 'key.update', subject: key.id, detail: 'quota 99 → 10' },
        { action: 'override.set', subject: 'changed.example', detail: 'allow → deny' },
        { action: 'override.set', subject: 'removed.example', detail: 'deny, with subdomains' },
      ],
      rows: {},
      warnings: [],
    });
    expect((await store.audit(4)).reverse()).toMatchObject([
      ...planned.changes,
      { detail: '1 × key.update, 2 × override.set' },
    ]);
    expect(await store.revision()).toBeGreaterThan(before);
    expect((await store.keyByDigest(key.digest)).key).toEqual(key);
    expect((await store.keyByDigest(later.digest)).key).toEqual(later);
    expect(await store.used(later.id, MONTH)).toBe(1);
    expect([...(await store.listOverrides()).overrides]).toEqual([changed, fresh, removed]);
    expect([...(await store.ranking('2026-10-01', 9, undefined))].map(({ domain }) => domain)).toEqual([
      'new.example',
    ]);
    // Once more there is nothing left to do.
    expect(await store.compareBackup(target)).toEqual({ changes: [], rows: {}, warnings: [] });
  });

  test('takes no day, no act and no newer list away, and adds what only the backup knows', async () => {
    const { store, key, spend, target } = await backedUp();
    await spend(DAY);
    const list = { feed: 'castle', version: '2', digest: 'b', names: 1, acceptedAt: 9, body: 'new' };
    await store.acceptSnapshot(list, null, { ...ACT, action: 'feed.update', subject: 'castle', at: 1 });
    const restored = { ...ACT, action: 'store.restore', subject: 'copy.db', at: 2 ** 42 } as const;
    await store.restore(target, restored);
    expect((await store.usageDays('2026-10-01', key.id)).map(({ used }) => used)).toEqual([1, 2]);
    expect(await store.snapshot('castle')).toEqual(list);
    expect((await store.audit(9)).map(({ action }) => action)).toEqual([
      'store.restore',
      'key.update',
      'feed.update',
    ]);
    const elsewhere = await newStore();
    const older = { ...list, digest: 'a', acceptedAt: 8, body: 'old' };
    await elsewhere.store.acceptSnapshot(older, null, { ...ACT, subject: 'castle' });
    const [ours, theirs] = [newSigningKey(), newSigningKey()];
    await elsewhere.store.signingKey(ours);
    await store.signingKey(theirs);
    const own = { kind: 'free', format: 'lines', verified: false, addedAt: 3 } as const;
    await store.addFeed({ ...own, name: 'ours', place: '/old' }, 9, ACT);
    await elsewhere.store.addFeed({ ...own, name: 'ours', place: '/new' }, 9, ACT);
    const newer = join(temporaryFolder(), 'newer.db');
    await store.backup(newer, () => {});
    const { changes } = await elsewhere.store.compareBackup(newer);
    const [told] = changes.filter(({ subject }) => subject === 'filter key');
    for (const secret of [ours, theirs]) expect(told?.detail).toContain(publicKeyOf(secret));
    await elsewhere.store.restore(newer, { ...restored, at: 2 ** 42 + 1 });
    expect(await elsewhere.store.audit(20)).toContainEqual(expect.objectContaining(told));
    expect((await elsewhere.store.compareBackup(newer)).changes).toEqual([]);
    expect(await elsewhere.store.snapshot('castle')).toEqual(list);
    expect(await elsewhere.store.signingKey('later')).toBe(theirs);
    const empty = await newStore();
    await empty.store.restore(newer, { ...restored, at: 2 ** 42 + 2 });
    expect(await empty.store.signingKey('later')).toBe(theirs);
    expect((await empty.store.addedFeeds()).map(({ place }) => place)).toEqual(['/old']);
    expect((await elsewhere.store.addedFeeds()).map(({ place }) => place)).toEqual(['/new']);
    expect((await elsewhere.store.audit(20)).length).toBeGreaterThanOrEqual(7);
    expect((await elsewhere.store.usageDays('2026-10-01', key.id)).map(({ used }) => used)).toEqual([1, 2]);
  });

  test('gives a list of your own nothing of one that was called so and removed, whatever kind that was', async () => {
    const { store } = await newStore();
    const own = { name: 'o', place: '/a', kind: 'protected', format: 'lines', verified: false } as const;
    const added = { ...own, addedAt: 3 };
    const version = (acceptedAt: number) => ({
      ...{ feed: 'o', version: `${acceptedAt}`, digest: `${acceptedAt}`, names: 1, body: 'x', acceptedAt },
    });
    const check = {
      ...{ feed: 'o', triedAt: 1, checkedAt: 1, added: 0, removed: 0, problem: null, trouble: null },
      ...{ waiting: null, approved: null, rejected: ['a.com'], tag: null, fallback: null },
    };
    await store.addFeed(added, 9, ACT);
    await store.acceptSnapshot(version(4), null, ACT);
    await store.acceptSnapshot(version(5), '4', ACT);
    await store.noteCheck(check, undefined);
    const target = join(temporaryFolder(), 'copy.db');
    await store.backup(target, () => {});
    const of = async (one: Store) => [
      ...(await one.snapshots()).map(({ digest }) => digest),
      ...(await one.pastSnapshots()).map(({ digest }) => digest),
      ...(await one.feedChecks()).map(({ rejected }) => rejected),
    ];
    const theSame = (await newStore()).store;
    await theSame.addFeed(added, 9, ACT);
    expect((await theSame.compareBackup(target)).warnings).toEqual([]);
    await theSame.restore(target, ACT);
    expect(await of(theSame)).toEqual(['5', '4', ['a.com']]);

    const others = [
      { ...own, kind: 'disposable', verified: true, place: '/b', addedAt: 6 },
      { ...own, addedAt: 6 },
    ] as const;
    await store.removeFeed('o', ACT);
    for (const other of others) {
      await store.addFeed(other, 9, ACT);
      const { rejected: _, ...rest } = check;
      await store.noteCheck({ ...rest, rejected: null }, undefined);
      const planned = await store.compareBackup(target);
      expect(planned.changes).toEqual([]);
      const detail = expect.stringMatching(/^the list o was added after .*\(protected, lines from \/a\)$/);
      expect(planned.warnings).toEqual([{ action: 'store.restore', subject: 'o', detail }]);
      expect(await store.restore(target, ACT)).toEqual(planned);
      expect([await of(store), await store.addedFeeds()]).toEqual([[null], [other]]);
      await store.removeFeed('o', ACT);
    }
  });

  test('into a store that began anew brings lists with their versions back, of which the next update goes on', async () => {
    const { store } = await newStore();
    const version = (acceptedAt: number) => ({
      ...{
        feed: 'castle',
        version: `${acceptedAt}`,
        digest: `${acceptedAt}`,
        names: 1,
        body: 'x',
        acceptedAt,
      },
    });
    await store.acceptSnapshot(version(4), null, ACT);
    await store.acceptSnapshot(version(5), '4', ACT);
    // An operator went back.
    await store.swapSnapshot('castle', version(4), '5', {
      ...ACT,
      action: 'feed.rollback',
      subject: 'castle',
    });
    const target = join(temporaryFolder(), 'copy.db');
    await store.backup(target, () => {});
    const of = async (one: Store) => [
      (await one.snapshots()).map(({ digest }) => digest),
      (await one.pastSnapshots()).map(({ digest }) => digest),
    ];
    const anew = (await newStore()).store;
    await anew.acceptSnapshot(version(8), null, ACT);
    const planned = await anew.compareBackup(target);
    expect(planned.changes).toMatchObject([
      { action: 'feed.update', subject: 'castle', detail: 'version 4' },
    ]);
    expect(await of(anew)).toEqual([['8'], []]);
    expect(await anew.restore(target, ACT)).toEqual(planned);
    expect(await of(anew)).toEqual([['4'], ['5']]);
    expect((await anew.compareBackup(target)).changes).toEqual([]);

    // One that was gone back from here, or that had the versions of the backup, does not grow old again.
    const back = (await newStore()).store;
    await back.acceptSnapshot(version(8), null, { ...ACT, action: 'feed.rollback', subject: 'castle' });
    await back.restore(target, ACT);
    expect(await of(back)).toEqual([['8'], []]);
    const older = (await newStore()).store;
    await older.acceptSnapshot(version(4), null, ACT);
    await older.acceptSnapshot(version(8), '4', ACT);
    await older.restore(target, ACT);
    expect(await of(older)).toEqual([['8'], ['4']]);
  });

  test('into a new store brings every row of every table but decisions, leases and signs of life', async () => {
    const { store, path } = await newStore();
    const backup = join(temporaryFolder(), 'full.db');
    await store.backup(backup, () => {});
    const tables = TABLES.filter(({ name }) => !['decision', 'lease'].includes(name));
    const special: Record<string, string> = {
      action: 'deny',
      tag: '',
      waiting: '',
      revoked_at: '',
      forgotten_at: '',
      innocent: '0',
    };
    const valueFor = ({ name, type }: Record<string, unknown>) => {
      const value = special[String(name)] ?? (type === 'INTEGER' ? '1' : ' []');
      return value === '' ? null : value.trim();
    };
    const full = new DatabaseSync(backup, { enableForeignKeyConstraints: false });
    for (const { name } of tables) {
      const columns = full.prepare('SELECT name, type FROM pragma_table_info(?)').all(name);
      const places = columns.map(() => '?').join(', ');
      full.prepare(`INSERT OR REPLACE INTO ${name} VALUES (${places})`).run(...columns.map(valueFor));
    }
    full.close();
    const planned = await store.compareBackup(backup);
    expect(await store.restore(backup, ACT)).toEqual(planned);
    for (const { name, names } of tables) {
      // The audit numbers anew.
      const rows = `SELECT ${name === 'audit' ? names.replace('id, ', '') : names} FROM ${name}`;
      expect([name, read(path, rows)]).toEqual([name, expect.arrayContaining(read(backup, rows))]);
    }
    expect((await store.compareBackup(backup)).changes).toEqual([]);
  });

  test('opens no door that was closed since: a revoked key stays revoked', async () => {
    const { store, key, target } = await backedUp();
    await store.updateKey({ ...key, revokedAt: 5 }, key, ACT);
    await store.restore(target, ACT);
    expect((await store.keyByDigest(key.digest)).key).toEqual({ ...key, revokedAt: 5 });
  });

  test('gives a key its limits back and leaves it the secret that it has now', async () => {
    const { store, key, target } = await backedUp();
    const secret = { digest: digestOf('new'), prefix: 'drk_new1', last4: 'new4' };
    const overlap = { previousDigest: digestOf('before'), previousUntil: 9 };
    const limits = {
      name: 'later',
      note: 'later',
      quota: 99,
      rate: 9,
      origins: ['https://a.example.com'],
      expiresAt: 9,
    };
    await store.updateKey({ ...key, ...secret, ...overlap, ...limits, networks: ['192.0.2.0/24'] }, key, ACT);
    await store.restore(target, ACT);
    expect((await store.keyByDigest(key.digest)).key).toBeUndefined();
    expect(await store.listKeys()).toEqual([{ ...key, ...secret, ...overlap }]);
  });

  test('of what an older version made takes nothing back that it could not know', async () => {
    const { store, key, target } = await backedUp();
    const guest = guestOf({ host: 'mx.a.net', domain: 'a.com', entry: 'a.com', day: DAY });
    const mark = { generation: 'g', last: '1 x.com', endedAt: 7, firstEndedAt: 5, dead: 'AQ==' };
    await store.learn([guest], [], DAY, '2026-10-01');
    await store.markSweep(mark);
    const older = join(temporaryFolder(), 'older.db');
    await store.backup(older, () => {});
    const db = new DatabaseSync(older);
    db.exec(
      TABLES.flatMap(({ name, columns }) =>
        columns
          .filter(({ isLater }) => isLater)
          .map(column => `ALTER TABLE ${name} DROP COLUMN ${column.name};`),
      ).join('\n'),
    );
    db.exec("INSERT INTO guest (host, domain, day) VALUES ('mx.a.net', 'b.com', '2026-11-01')");
    db.close();
    const hosts = await store.listHosts(1, 10);
    await store.updateKey({ ...key, note: 'ask Bob', quota: 99 }, key, ACT);
    await store.markSweep({ ...mark, last: '1 y.com', firstEndedAt: 6 });
    await store.restore(older, ACT);
    expect(await store.listKeys()).toEqual([{ ...key, note: 'ask Bob' }]);
    expect(await store.sweepMark()).toEqual({ ...mark, last: '1 y.com', firstEndedAt: 6 });
    const [host] = await store.listHosts(1, 10);
    expect(host).toMatchObject({ flagged: 1, innocent: 1 });
    expect(host!.groups).toEqual(expect.arrayContaining([...hosts[0]!.groups]));

    // From before hosts were learned.
    await store.restore(olderStore(1), ACT);
    expect(await store.listHosts(1, 10)).toEqual([host]);
    expect(await store.sweepMark()).toMatchObject({ generation: 'g' });
    // It knows that there were none, and what was learned since stays.
    await store.restore(target, ACT);
    expect(await store.listHosts(1, 10)).toEqual([host]);
  });

  test('takes away what one that was killed has left, and nothing of one that still runs', async () => {
    const { path, store, key, target } = await backedUp();
    const ended = spawnSync(process.execPath, ['--version']).pid;
    const left = [process.pid, ended].flatMap(pid =>
      ['', '-wal', '-shm', '-journal'].map(end => `${path}.restoring-${pid}${end}`),
    );
    const others = [`${path}.restoring-${process.ppid}`, `${path}.restoring-notes`];
    for (const file of [...left, ...others]) writeFileSync(file, 'left behind');
    await store.restore(target, ACT);
    expect(await store.listKeys()).toEqual([key]);
    const restoring = readdirSync(join(path, '..')).filter(name => name.includes('.restoring-'));
    expect(restoring.map(name => join(path, '..', name)).sort()).toEqual(others.sort());
  });

  test('reaches another server on the same file with its next call', async () => {
    const { path, store, key, target } = await backedUp();
    const other = await storeAt(path);
    const revision = await other.revision();
    await store.restore(target, ACT);
    const spend = { keyId: key.id, day: DAY, quota: null };
    expect(await spendOne(other, spend, revision)).toEqual({ outcome: 'changed' });
  });

  /** Each time between the two parts of a restore, when it has compared and does not hold the lock yet. */
  function between(work: () => void) {
    const { exec } = DatabaseSync.prototype;
    const spy = vi.spyOn(DatabaseSync.prototype, 'exec').mockImplementation(function (
      this: DatabaseSync,
      sql,
    ) {
      const isRestoring = this.prepare("SELECT 1 FROM pragma_database_list WHERE name = 'backup'").get();
      if (sql === 'BEGIN IMMEDIATE' && isRestoring) work();
      return exec.call(this, sql);
    });
    onTestFinished(() => spy.mockRestore());
  }

  test('takes no revocation back that happens while it compares', async () => {
    const { path, store, key, target } = await backedUp(newStore);
    const other = await storeAt(path);
    const limited = { ...key, quota: 99 };
    await store.updateKey(limited, key, ACT);
    let times = 0;
    between(() => {
      if (times++ === 0) void other.updateKey({ ...limited, revokedAt: 5 }, limited, ACT);
    });
    await store.restore(target, ACT);
    expect(await store.listKeys()).toEqual([{ ...key, revokedAt: 5 }]);
    expect(times).toBe(2);
  });

  test('takes no call back that is counted while it compares, and no list that is added or rolled back', async () => {
    const { store, key, spend } = await backedUp();
    await spend('2026-09-30');
    const own = { name: 'o', place: '/a', kind: 'protected', format: 'lines', verified: false } as const;
    await store.addFeed({ ...own, addedAt: 3 }, 9, ACT);
    const version = (feed: string, acceptedAt: number) => ({
      ...{ feed, version: `${acceptedAt}`, digest: `${acceptedAt}`, names: 1, body: 'x', acceptedAt },
    });
    for (const feed of ['o', 'castle']) await store.acceptSnapshot(version(feed, 4), null, ACT);
    const fuller = join(temporaryFolder(), 'fuller.db');
    await store.backup(fuller, () => {});

    const anew = await newStore();
    const beside = await storeAt(anew.path);
    await anew.store.createKey(key, ACT);
    await anew.store.acceptSnapshot(version('castle', 8), null, ACT);
    let times = 0;
    const meanwhile = [
      () => beside.addFeed({ ...own, addedAt: 9 }, 9, ACT),
      () =>
        beside.acceptSnapshot(version('castle', 9), '8', {
          ...ACT,
          action: 'feed.rollback',
          subject: 'castle',
        }),
      () => {
        const db = new DatabaseSync(anew.path);
        db.prepare('INSERT INTO usage (key_id, month, used) VALUES (?, ?, 3)').run(key.id, MONTH);
        db.close();
      },
    ];
    between(() => void meanwhile[times++]?.());
    await anew.store.restore(fuller, ACT);
    expect(times).toBe(3);
    expect(await anew.store.used(key.id, MONTH)).toBe(3);
    expect(await anew.store.used(key.id, '2026-09')).toBe(1);
    expect((await anew.store.snapshots()).map(({ feed, version: is }) => [feed, is])).toEqual([
      ['castle', '9'],
    ]);
  });

  test('comes to its end also where keys change as often as it compares them', async () => {
    const { path, store, key, target } = await backedUp(newStore);
    const other = await storeAt(path);
    let last = key;
    between(() => {
      const next = { ...last, quota: (last.quota ?? 0) + 1 };
      void other.updateKey(next, last, ACT);
      last = next;
    });
    const { changes } = await store.restore(target, ACT);
    expect(changes).toMatchObject([{ action: 'key.update', detail: `quota ${last.quota} → 10` }]);
    expect(await store.listKeys()).toEqual([key]);
  });

  test('of much that is here already refuses no call of those who count meanwhile', async () => {
    const { path, store, key } = await backedUp(newStore);
    const db = new DatabaseSync(path);
    db.exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
      INSERT INTO key (id, name, digest, prefix, last4, origins, networks, created_at)
        SELECT 'k' || i, 'k' || i, 'd' || i, 'p', 'l', '[]', '[]', 1 FROM n;
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20)
      INSERT INTO usage_day (key_id, day, used) SELECT id, date('2026-10-01', '+' || i || ' days'), 5 FROM key, n
        WHERE id <> '${key.id}'`);
    db.close();
    const target = join(temporaryFolder(), 'much.db');
    await store.backup(target, () => {});
    const served = await servedStore(path);
    const revision = await served.revision();
    const counts: string[] = [];
    let isRestored = false;
    const restoring = served.restore(target, ACT).finally(() => {
      isRestored = true;
    });
    while (!isRestored)
      counts.push((await spendOne(store, { keyId: key.id, day: DAY, quota: null }, revision)).outcome);
    expect((await restoring).changes).toEqual([]);
    expect(counts.length).toBeGreaterThan(10);
  });

  test('leaves the backup as it is', async () => {
    const { store, target } = await backedUp();
    const changed = watchBytes(target);
    await store.restore(target, ACT);
    expect(changed()).toEqual([]);
    expect(readdirSync(join(target, '..'))).toEqual(['copy.db']);
  });

  const noBackups: Record<string, (path: string, good: Buffer) => void> = {
    'an empty file': path => writeFileSync(path, ''),
    text: path => writeFileSync(path, 'no database\n'.repeat(1_000)),
    'a file that is not there': () => {},
    'a damaged backup': (path, good) => writeFileSync(path, good.subarray(0, good.length - 5_000)),
    "another program's database": path => {
      const db = new DatabaseSync(path);
      db.exec('CREATE TABLE theirs (a)');
      db.close();
    },
    'a backup of a newer version': (path, good) => {
      writeFileSync(path, good);
      const db = new DatabaseSync(path);
      db.exec(`PRAGMA user_version = ${MIGRATIONS.length + 1}`);
      db.close();
    },
    'a backup with a count that nobody can read': (path, good) => {
      writeFileSync(path, good);
      const db = new DatabaseSync(path);
      db.exec(`PRAGMA journal_mode = DELETE;
        INSERT INTO usage (key_id, month, used) SELECT id, '2026-11', ${Number.MAX_SAFE_INTEGER} FROM key WHERE true
        ON CONFLICT DO UPDATE SET used = excluded.used`);
      db.close();
    },
    'a backup with what a newer version has added': (path, good) => {
      writeFileSync(path, good);
      const db = new DatabaseSync(path);
      db.exec('PRAGMA journal_mode = DELETE; ALTER TABLE key ADD COLUMN later TEXT');
      db.close();
    },
  };
  test.each(Object.keys(noBackups))('of %s is refused: every key stays as it was', async name => {
    const { store, key, target } = await backedUp();
    const path = join(temporaryFolder(), 'bad.db');
    noBackups[name]!(path, readFileSync(target));
    const before = existsSync(path) ? readFileSync(path) : undefined;
    await expect(store.restore(path, ACT)).rejects.toThrow(StoreRefused);
    expect(await store.listKeys()).toEqual([key]);
    expect(existsSync(path) ? before?.equals(readFileSync(path)) : before).toBe(before && true);
  });

  test('works from a backup that may only be read', async () => {
    const { store, key, target } = await backedUp();
    chmodSync(target, 0o400);
    await store.restore(target, ACT);
    expect(await store.listKeys()).toEqual([key]);
  });
});

describe('a full audit', () => {
  async function withFullAudit() {
    const { path, store } = await emptied();
    const db = new DatabaseSync(path);
    db.exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${MOST_ACTS})
      INSERT INTO audit (at, who, via, action, subject) SELECT ${ACT.at} + i, 'a', 'b', 'key.update', i FROM n`);
    db.close();
    return { path, store };
  }

  test('drops what was written first, also where the clock was set back since', async () => {
    const { path, store } = await withFullAudit();
    await store.recordAct({ ...ACT, at: 5, subject: 'late' });
    const subjects = read(path, 'SELECT subject FROM audit ORDER BY id').map(({ subject }) => subject);
    expect([subjects.length, subjects[0], subjects.at(-1)]).toEqual([MOST_ACTS, '2', 'late']);
  });

  test('does not keep calls from being counted while a thousand overrides are replaced', async () => {
    const { store } = await withFullAudit();
    const key = someKey();
    await store.createKey(key, ACT);
    const revision = await store.revision();
    const spend = () => spendOne(store, { keyId: key.id, day: DAY, quota: null }, revision);
    await spend();
    const names = Array.from({ length: 1_000 }, (_, at) => `n${at}.com`);
    const isCountedBeside = async () => {
      const importing = store.setOverrides(
        names.map(domain => overrideOf(domain)),
        (await store.readOverrides(undefined)).mark,
        ACT,
        names.map(subject => ({ ...ACT, action: 'override.set', subject })),
      );
      const [spent] = await Promise.allSettled([spend(), importing]);
      expect(await importing).toBe(true);
      return spent.status === 'fulfilled';
    };
    // A machine with much else to do may take longer for one of them than a call waits.
    expect((await isCountedBeside()) || (await isCountedBeside()) || (await isCountedBeside())).toBe(true);
  });
});

test('decisions stay within their bound, and the oldest go', async () => {
  const { path, store } = await emptied();
  const decision = { keyId: 'k', domain: 'a.com', score: 90, reason: 'disposable', snapshot: 'x' } as const;
  const write = (at: number) => store.writeDecisions([{ ...decision, at, degraded: false }], 10, 10);
  await write(1);
  const db = new DatabaseSync(path);
  // As if so many had come since.
  db.exec(`UPDATE decision SET id = 2; INSERT INTO decision SELECT ${MOST_DECISIONS} + 1, 2, key_id, domain, score,
    reason, snapshot, degraded FROM decision`);
  db.close();
  await write(3);
  expect((await store.decisions({ since: 0, most: 9 })).map(({ at }) => at)).toEqual([3, 2]);
});

test('which overrides an earlier version has changed is told while they are few, and forgotten with the next change', async () => {
  const { path, store } = await emptied();
  const { mark } = await store.readOverrides(undefined);
  const db = new DatabaseSync(path);
  onTestFinished(() => db.close());
  const set = (from: number, to: number) =>
    db.exec(`
      WITH RECURSIVE number (n) AS (SELECT ${from} UNION ALL SELECT n + 1 FROM number WHERE n < ${to})
      INSERT INTO override (domain, action, below, created_at) SELECT n || '.com', 'deny', 1, 1 FROM number`);
  const kept = () => Number(db.prepare('SELECT count(*) AS n FROM override_change').get()?.n);
  set(1, 999);
  expect((await store.changedOverrides(mark))?.overrides).toHaveLength(999);
  set(1_001, 1_002);
  expect([await store.changedOverrides(mark), kept()]).toEqual([undefined, 1_001]);
  await store.setOverride(overrideOf('a.com'), ACT);
  expect(kept()).toBe(1_000);
  const { mark: then } = await store.readOverrides(undefined);
  // By hand.
  db.exec("UPDATE override SET domain = 'b.com' WHERE domain = 'a.com'");
  const changed = await store.changedOverrides(then);
  expect([changed?.overrides.map(({ domain }) => domain), changed?.gone]).toEqual([['b.com'], ['a.com']]);
});

test('what every page of changes asks for does not wait behind what takes long', async () => {
  const { path, store } = await emptied();
  const db = new DatabaseSync(path);
  db.exec(`
    WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 50000)
    INSERT INTO flag (domain, day, key_id, listed, reason, score)
    SELECT n || '.com', '2026-11-15', 'k', 1, 'disposable', 85 FROM number`);
  db.close();
  const isFirst = async () => {
    const order: string[] = [];
    await Promise.all([
      store.ranking('2026-11-01', 5_000, undefined).then(() => order.push('ranking')),
      store.changesMark().then(() => order.push('mark')),
    ]);
    return order[0] === 'mark';
  };
  // A machine with much else to do may give the other thread its time first.
  expect((await isFirst()) || (await isFirst()) || (await isFirst())).toBe(true);
});
