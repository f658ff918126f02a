import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { ACT } from '../support/act.ts';
import { pause } from '../support/scale.ts';
import { temporaryFolder } from '../support/service.ts';
import { spendOne } from '../support/spend.ts';
import { DAY, someKey } from './contract.ts';

const REFUSED = /was deleted or replaced while it was in use/;

/** A store with a key, and one call on it that has been counted. */
async function inUse(path: string) {
  const store = await openSqliteStore(path, error => {
    throw error;
  });
  onTestFinished(() => store.close());
  const key = someKey();
  await store.createKey(key, ACT);
  const revision = await store.revision();
  /** Once the files are looked at again: under load every 0.1 s. */
  const call = async () => {
    await pause(110);
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
