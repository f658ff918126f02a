import { spawnSync } from 'node:child_process';
import {
  closeSync,
  copyFileSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type OnFormChange, toldOf } from '../../src/store/form.ts';
import { guardFile } from '../../src/store/sqlite/guard.ts';
import { canFollowJournal, JOURNAL_BYTES } from '../../src/store/sqlite/heads.ts';
import { openSqliteStoreHere } from '../../src/store/sqlite/here.ts';
import { enterUse, type Use } from '../../src/store/sqlite/in-use.ts';
import { isMountPoint } from '../../src/store/sqlite/one-name.ts';
import { strangersBeside } from '../../src/store/sqlite/pair.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { ACT } from '../support/act.ts';
import { overrideOf } from '../support/records.ts';
import { pause } from '../support/scale.ts';
import { temporaryFolder } from '../support/service.ts';
import { spendOne } from '../support/spend.ts';
import { DAY, someKey } from './contract.ts';

const REFUSED = /was deleted or replaced while it was in use/;

/** A store with a key, and one call on it that has been counted. */
async function inUse(path: string, told: string[] = [], isServed = false) {
  const tell: OnFormChange = change => void told.push(toldOf(change));
  const die = (error: Error) => {
    throw error;
  };
  const store = await (isServed ? openSqliteStore(path, die, tell) : openSqliteStoreHere(path, tell));
  onTestFinished(() => store.close());
  const key = someKey();
  await store.createKey(key, ACT);
  const revision = await store.revision();
  /** Once the files are looked at again: under load every 0.1 s, into them every 0.5 s. */
  const call = async (afterMs = 110) => {
    await pause(afterMs);
    return spendOne(store, { keyId: key.id, day: DAY, quota: null }, revision);
  };
  await call();
  return { store, key, call };
}

test('behind a symbolic link the file and its journal are watched where they are', async () => {
  const folder = temporaryFolder();
  const [link, real] = [join(folder, 'domain-risk.db'), join(folder, 'disk', 'real.db')];
  mkdirSync(join(folder, 'disk'));
  symlinkSync(real, link);
  const { call } = await inUse(link);
  renameSync(real, `${real}.moved`);
  await expect(call()).rejects.toThrow(REFUSED);
  renameSync(`${real}.moved`, real);
  await call();
  rmSync(`${real}-wal`);
  await expect(call()).rejects.toThrow(REFUSED);
});

test('not one call is answered that went into a file which was exchanged a moment before', async () => {
  const folder = join(temporaryFolder(), 'data');
  mkdirSync(folder);
  const [path, moved] = [join(folder, 'domain-risk.db'), `${folder}.moved`];
  const { store, call } = await inUse(path);
  const backup = `${folder}.backup`;
  await store.backup(backup, () => {});
  const TIME = new Date('2026-11-17');
  const exchanges: [string, () => void, () => void][] = [
    ['moved', () => renameSync(path, moved), () => renameSync(moved, path)],
    [
      'replaced',
      () => {
        renameSync(path, moved);
        copyFileSync(backup, path);
      },
      () => renameSync(moved, path),
    ],
    [
      'replaced by one of the same time, as cp -p and rsync leave it',
      () => {
        renameSync(path, moved);
        copyFileSync(backup, path);
        utimesSync(path, TIME, TIME);
      },
      () => renameSync(moved, path),
    ],
    ['with its folder', () => renameSync(folder, moved), () => renameSync(moved, folder)],
    ['written over', () => copyFileSync(backup, path), () => {}],
  ];
  for (const [how, exchange, back] of exchanges) {
    utimesSync(path, TIME, TIME);
    // All was well a moment ago.
    expect((await call(0)).outcome, how).toBe('granted');
    exchange();
    for (let calls = 0; calls < 3; calls++) await expect(call(0), how).rejects.toThrow(REFUSED);
    back();
  }
});

test('a file with a second name is refused by both, before anything is made beside them, until one of them is gone', async () => {
  const folder = temporaryFolder();
  const [path, other] = [join(folder, 'domain-risk.db'), join(folder, 'other.db')];
  const { store } = await inUse(path);
  linkSync(path, other);
  for (const name of [path, other])
    await expect(inUse(name)).rejects.toMatchObject({
      problem: expect.stringMatching(/has 2 names \(hard links\)/),
      fix: expect.stringContaining('remove the others'),
    });
  await store.close();
  expect(readdirSync(folder).sort()).toEqual(['domain-risk.db', 'other.db']);
  rmSync(other);
  await inUse(path);
});

test.each([
  ['the file alone, from the same disk', '/data/domain risk.db', true],
  ['its folder', '/data', false],
  ['another file', '/data/domain', false],
])('a mount of %s', (_, path, isMounted) => {
  const mountinfo = String.raw`22 1 0:21 / / rw - tmpfs none rw
611 22 0:21 /srv/a.db /data/domain\040risk.db rw,relatime - tmpfs none rw`;
  expect(isMountPoint(path, mountinfo)).toBe(isMounted);
});

/** As any command or other server would. */
function elsewhere(path: string, sql: string): void {
  const script = `const db = new (require('node:sqlite').DatabaseSync)(process.argv[1]); db.exec(process.argv[2])`;
  const { status, stderr } = spawnSync(process.execPath, ['-e', script, path, sql], { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
}

function soundAnd<T>(path: string, look: (db: DatabaseSync) => T): T {
  const db = new DatabaseSync(path);
  try {
    expect(db.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
    return look(db);
  } finally {
    db.close();
  }
}

test('a removed index of the journal (-shm): nothing more is written, and what another process writes stays, also after the end', async () => {
  const path = join(temporaryFolder(), 'domain-risk.db');
  const { store, call } = await inUse(path);
  rmSync(`${path}-shm`);
  await pause(110);
  elsewhere(path, "INSERT INTO audit (at, who, via, action, subject) VALUES (1, 'x', 'x', 'x', 'theirs')");
  await expect(call()).rejects.toThrow(REFUSED);
  await expect(store.createKey(someKey(), ACT)).rejects.toThrow(REFUSED);
  await store.close();
  soundAnd(path, db => {
    expect(db.prepare("SELECT count(*) AS n FROM audit WHERE subject = 'theirs'").get()).toEqual({ n: 1 });
    expect(db.prepare('SELECT count(*) AS n FROM key').get()).toEqual({ n: 1 });
    expect(db.prepare('SELECT used FROM usage').get()).toEqual({ used: 1 });
  });
});

test('a file that is cut off, or has a backup copied over it: refused until it is back, and as it is now it stays, also after the end', async () => {
  const folder = temporaryFolder();
  // Also where the store has been a backup itself.
  const [first, path, backup] = ['first.db', 'domain-risk.db', 'backup.db'].map(name => join(folder, name));
  const before = await inUse(first!);
  await before.store.backup(path!, () => {});
  await before.store.close();
  const { store, call } = await inUse(path!);
  await store.backup(backup!, () => {});
  const bytes = readFileSync(path!);
  for (const size of [8_192, 0]) {
    truncateSync(path!, size);
    await expect(call(510)).rejects.toThrow(REFUSED);
    writeFileSync(path!, bytes);
    expect((await call(510)).outcome).toBe('granted');
  }
  copyFileSync(backup!, path!);
  await expect(call(510)).rejects.toThrow(REFUSED);
  await expect(store.createKey(someKey(), ACT)).rejects.toThrow(REFUSED);
  await store.close();
  expect(readFileSync(path!).equals(readFileSync(backup!))).toBe(true);
});

test('an emptied journal: calls are refused, and nothing of it gets into the file', async () => {
  const path = join(temporaryFolder(), 'domain-risk.db');
  const { store, call } = await inUse(path);
  truncateSync(`${path}-wal`);
  // The first may still be counted, into a journal that nobody can read any more.
  await call(510).catch(() => {});
  await expect(call(510)).rejects.toThrow(REFUSED);
  await store.close();
  soundAnd(path, db => expect(db.prepare('SELECT count(*) AS n FROM revision').get()).toEqual({ n: 1 }));
});

test('a power cut that takes the last checkpoint back leaves the file its journal; what has stood for five seconds is on the disk', () => {
  const path = join(temporaryFolder(), 'domain-risk.db');
  const db = new DatabaseSync(path);
  const file = openSync(path, 'r');
  const now = vi.spyOn(performance, 'now').mockReturnValue(1e6);
  db.exec('PRAGMA journal_mode = WAL; CREATE TABLE a (b)');
  const guard = guardFile(path, file, true);
  onTestFinished(() => {
    now.mockRestore();
    guard.close(db);
    closeSync(file);
  });
  const before = readFileSync(path);
  db.exec('CREATE TABLE c (d); PRAGMA wal_checkpoint');
  const after = readFileSync(path);
  const strangersAfterPowerCut = () => {
    guard.check();
    writeFileSync(path, before);
    const strangers = strangersBeside(path);
    writeFileSync(path, after);
    return strangers;
  };
  expect(strangersAfterPowerCut()).toEqual([]);
  now.mockReturnValue(1e6 + 4_999);
  expect(strangersAfterPowerCut()).toEqual([]);
  now.mockReturnValue(1e6 + 5_001);
  expect(strangersAfterPowerCut()).toEqual([`${path}-wal`, `${path}-shm`]);
});

const JOURNAL = { size: 50_000, isJournal: true, salts: 'a' };

test.each([
  ['grows', { size: 60_000 }, true],
  ['begins anew', { size: 4_128, salts: 'b' }, true],
  ['is cut back to its limit while it begins anew', { size: JOURNAL_BYTES }, true, 2 * JOURNAL_BYTES],
  ['is cut off', { size: 8_192 }, false],
  ['has no head any more', { isJournal: false }, false],
])('a journal that %s', (_, change, isOurs, size = JOURNAL.size) => {
  expect(canFollowJournal({ ...JOURNAL, ...change }, { ...JOURNAL, size })).toBe(isOurs);
});

test('a journal that others empty again and again, and tables that they change or VACUUM, are nothing to refuse', async () => {
  const path = join(temporaryFolder(), 'domain-risk.db');
  const { call } = await inUse(path);
  const other = new DatabaseSync(path);
  onTestFinished(() => other.close());
  for (const sql of [
    'CREATE TABLE later (a)',
    'DROP TABLE later',
    'VACUUM',
    'INSERT INTO audit (at, who, via, action, subject) VALUES (1, 2, 3, 4, 5)',
  ]) {
    other.exec(`${sql}; PRAGMA wal_checkpoint(TRUNCATE)`);
    await call(510);
  }
});

const EXCHANGES: Record<string, (backup: string, path: string) => void> = {
  'put in its place': renameSync,
  'copied over it': copyFileSync,
};
test.each(Object.keys(EXCHANGES))(
  'a backup that was %s under a server is what the next start goes on with, and nothing of the store before gets into it',
  async way => {
    const folder = temporaryFolder();
    const [path, backup, kept] = ['domain-risk.db', 'backup.db', 'kept.db'].map(name =>
      join(folder, name),
    ) as [string, string, string];
    const first = await inUse(path);
    await first.store.backup(backup, () => {});
    for (let i = 0; i < 60; i++) await first.store.setOverride(overrideOf(`d${i}.example`), ACT);
    copyFileSync(path, kept);
    EXCHANGES[way]!(backup, path);
    await expect(first.call(510)).rejects.toThrow(REFUSED);
    await first.store.close();
    // A start that was killed on the way had given it its name already.
    linkSync(`${path}-wal`, `${path}-wal.aside-${statSync(`${path}-wal`).ino}`);

    const told: string[] = [];
    const second = await inUse(path, told, true);
    expect(told).toEqual([
      expect.stringMatching(
        /is another file than before: the journal of that one was set aside as .*-wal\.aside-\d+ and /,
      ),
    ]);
    expect([...(await second.store.listOverrides()).overrides]).toEqual([]);
    const ids = (await second.store.listKeys()).map(({ id }) => id);
    expect(new Set(ids)).toEqual(new Set([first.key.id, second.key.id]));
    await second.store.close();
    soundAnd(path, () => {});

    // And back, as it says.
    renameSync(kept, path);
    const aside = readdirSync(folder).filter(name => name.includes('.aside-'));
    expect(aside).toHaveLength(2);
    for (const name of aside) renameSync(join(folder, name), join(folder, name.replace(/\.aside-\d+$/, '')));
    soundAnd(path, db => expect(db.prepare('SELECT count(*) AS n FROM override').get()).toEqual({ n: 60 }));
  },
);

test('commands leave the journal of a server alone whose file was exchanged: put back, it goes on with all that it has counted', async () => {
  const folder = temporaryFolder();
  const [path, backup, kept] = ['domain-risk.db', 'backup.db', 'kept.db'].map(name => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const live = await inUse(path, [], true);
  await live.store.backup(backup, () => {});
  const late = someKey();
  await live.store.createKey(late, ACT);
  for (const exchange of [() => copyFileSync(backup, path), () => {}]) {
    renameSync(path, kept);
    exchange();
    await expect(live.call()).rejects.toThrow(REFUSED);
    for (const isServed of [false, true])
      await expect(inUse(path, [], isServed)).rejects.toMatchObject({
        problem: expect.stringContaining('another process still has open'),
        fix: expect.stringMatching(/^put that file back; or stop all servers and start the service again/),
      });
    renameSync(kept, path);
    await live.call();
  }
  expect((await live.store.listKeys()).map(({ id }) => id)).toContain(late.id);
  // Nor is it a command's to say which of the two is right, once nobody has it open.
  renameSync(path, kept);
  await live.store.close();
  copyFileSync(backup, path);
  await expect(inUse(path)).rejects.toMatchObject({ fix: expect.stringContaining('start the service') });
  renameSync(kept, path);
  expect((await (await inUse(path)).store.listKeys()).map(({ id }) => id)).toContain(late.id);
});

test.each([
  ['was there', () => {}],
  ['was missing', rmSync],
])(
  'a lock on a file that %s and that the last one out removes is none: who came meanwhile is seen',
  (_, prepare) => {
    const path = join(temporaryFolder(), 'domain-risk.db');
    const [one, last] = [enterUse(path), enterUse(path)];
    onTestFinished(one.end);
    prepare(`${path}.in-use`);
    let comer: Use | undefined;
    let isAlone = false;
    const work = () => {
      isAlone = true;
    };
    /** Asked when the file is open, before it is locked. */
    const isNeeded = () => {
      if (comer) return true;
      last.end();
      comer = enterUse(path);
      return true;
    };
    expect([one.alone(work, isNeeded, 0), isAlone]).toEqual([false, false]);
    comer!.end();
    expect([one.alone(work, isNeeded, 0), isAlone]).toEqual([true, true]);
  },
);

test('what fails while one is alone on a store is told at once, and the next one is not kept out', () => {
  const path = join(temporaryFolder(), 'domain-risk.db');
  const use = enterUse(path);
  const begun = performance.now();
  const work = () => {
    throw new Error('cannot be set aside');
  };
  expect(() => use.alone(work, () => true, 0)).toThrow('cannot be set aside');
  // A millisecond; it waited half a minute for its own lock, and then told of that (2026-11-18).
  expect(performance.now() - begun).toBeLessThan(10_000);
  expect(
    use.alone(
      () => {},
      () => true,
      0,
    ),
  ).toBe(true);
  use.end();
});

test('servers that start together on an exchanged file all go on with it, and the last one to end leaves one file', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'domain-risk.db');
  const first = await inUse(path);
  rmSync(path);
  await first.store.close();
  const told: string[] = [];
  const all = await Promise.all([1, 2, 3].map(() => inUse(path, told, true)));
  expect(told).toEqual([expect.stringContaining('set aside')]);
  for (const { store } of all) {
    expect(readdirSync(folder)).toContain('domain-risk.db.in-use');
    await store.close();
  }
  expect(readdirSync(folder).filter(name => !name.includes('.aside-'))).toEqual(['domain-risk.db']);
});

test('a file that was moved away under a server and is back at the next start has its journal still; the journal of a deleted one is set aside', async () => {
  const folder = temporaryFolder();
  // Behind a link, which the file's end leaves pointing at nothing.
  const [path, real] = [join(folder, 'domain-risk.db'), join(folder, 'real.db')];
  symlinkSync(real, path);
  const first = await inUse(path);
  renameSync(real, `${real}.moved`);
  await expect(first.call(510)).rejects.toThrow(REFUSED);
  await first.store.close();
  renameSync(`${real}.moved`, real);
  const told: string[] = [];
  const second = await inUse(path, told);
  expect(told).toEqual([]);
  expect(await second.store.listKeys()).toHaveLength(2);
  rmSync(real);
  await second.store.close();
  const third = await inUse(path, told, true);
  expect(told).toEqual([expect.stringContaining('set aside')]);
  expect(await third.store.listKeys()).toEqual([third.key]);
});
