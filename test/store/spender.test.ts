import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { additions, MIGRATIONS } from '../../src/store/sqlite/schema.ts';
import { createSpender } from '../../src/store/sqlite/spender.ts';

/** In memory: what is tested is what the database says of itself, not what the disk does. */
function world(synchronous: string, disk = { ticks: 0, hasRoom: true }) {
  const db = new DatabaseSync(':memory:');
  onTestFinished(() => db.close());
  for (const step of MIGRATIONS) db.exec(step);
  for (const step of additions(db)) db.exec(step);
  db.exec(
    `INSERT INTO key (id, name, digest, prefix, last4, origins, networks, created_at)
    VALUES ('k1', 'Shop', 'd', 'p', 'l', '[]', '[]', 0)`,
  );
  db.exec(`PRAGMA synchronous = ${synchronous}`);
  const revision = Number(db.prepare('SELECT value FROM revision').get()?.value);
  return {
    db,
    revision,
    disk,
    spender: createSpender(
      db,
      () => disk.ticks,
      () => disk.hasRoom,
    ),
  };
}

const call = (revision: number) => [{ keyId: 'k1', day: '2026-11-15', quota: null, revision, calls: 2 }];

test.each(['OFF', 'NORMAL'])(
  'a store that would lose calls (synchronous = %s) confirms none of them',
  level => {
    const { revision, spender } = world(level);
    const NOT_DURABLE = 'the store is not durable: PRAGMA synchronous is not FULL';
    expect(() => spender.spend(call(revision))).toThrow(NOT_DURABLE);
    expect(() => spender.prove()).toThrow(NOT_DURABLE);
  },
);

test('a store that keeps what it confirms counts calls, and leaves everything as it was when it is tried', () => {
  const { db, revision, spender } = world('FULL');
  spender.prove();
  expect(spender.spend(call(revision))).toEqual([{ granted: 2, used: 2 }]);
  expect(spender.spend(call(revision + 1))).toEqual(['changed']);
  expect(db.prepare('SELECT value FROM revision').get()?.value).toBe(revision);
});

test('a disk that takes no more calls: the store is not ready, though less would still fit, until there is room again', () => {
  const { db, revision, spender, disk } = world('FULL');
  spender.spend(call(revision));
  db.exec(`PRAGMA max_page_count = ${db.prepare('PRAGMA page_count').get()?.page_count}`);
  const many = Array.from({ length: 500 }, (_, month) => ({
    ...call(revision)[0]!,
    day: `${1_000 + month}-01-01`,
  }));
  const FULL = /database or disk is full/;
  expect(() => spender.spend(many)).toThrow(FULL);
  expect(spender.spend(call(revision))).toEqual([{ granted: 2, used: 4 }]);
  expect(() => spender.prove()).toThrow(FULL);
  disk.ticks = 2_000;
  disk.hasRoom = false;
  expect(() => spender.prove()).toThrow(FULL);
  disk.hasRoom = true;
  spender.prove();
  disk.hasRoom = false;
  spender.prove();
  expect(spender.spend(call(revision))).toEqual([{ granted: 2, used: 6 }]);
});
