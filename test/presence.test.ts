import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { withPresence } from '../src/presence.ts';
import { openSqliteStore } from '../src/store/sqlite/store.ts';
import { eventually } from './support/scale.ts';
import { temporaryFolder } from './support/service.ts';

test('servers of two versions on one store are told of each other once, and one that ends leaves no sign', async () => {
  const path = join(temporaryFolder(), 'store.db');
  const open = async () => {
    const store = await openSqliteStore(path, error => {
      throw error;
    });
    onTestFinished(() => store.close());
    return store;
  };
  const told: string[] = [];
  const present = async (version: string) =>
    withPresence(await open(), {
      ...{ version, host: `host of ${version}`, clock: () => 5 },
      onOther: other => told.push(`${version} sees ${other.version} on ${other.host}`),
    });
  const watching = await open();
  const versions = async () => (await watching.listServers()).map(({ version }) => version).sort();
  const old = await present('1.0.0');
  await eventually('its sign is there', async () => (await versions()).length === 1);
  const next = await present('1.1.0');
  const same = await present('1.1.0');
  await eventually('both have told', () => told.length === 2);
  expect(told).toEqual(['1.1.0 sees 1.0.0 on host of 1.0.0', '1.1.0 sees 1.0.0 on host of 1.0.0']);
  expect(await versions()).toEqual(['1.0.0', '1.1.0', '1.1.0']);
  await old.close();
  expect(await versions()).toEqual(['1.1.0', '1.1.0']);
  await Promise.all([next.close(), same.close()]);
  expect(await versions()).toEqual([]);
});
