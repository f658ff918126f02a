import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { inChunk, inTransaction } from '../../src/store/sqlite/transaction.ts';
import { temporaryFolder } from '../support/service.ts';

const NORMAL = 1;
const FULL = 2;

test('a part of a long work waits for no disk while it holds the lock, and what comes behind it does, whatever became of it', () => {
  const db = new DatabaseSync(join(temporaryFolder(), 'store.db'));
  onTestFinished(() => db.close());
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  const waits = () => db.prepare('PRAGMA synchronous').get()?.synchronous;
  expect([inChunk(db, waits), inTransaction(db, waits)]).toEqual([NORMAL, FULL]);
  const fail = () => {
    throw new TypeError('of ours');
  };
  expect(() => inChunk(db, fail)).toThrow('of ours');
  expect(inTransaction(db, waits)).toBe(FULL);
});
