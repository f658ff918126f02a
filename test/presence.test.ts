import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { withPresence } from '../src/presence.ts';
import { openSqliteStore } from '../src/store/sqlite/store.ts';
import { eventually } from './support/scale.ts';
import { temporaryFolder } from './support/service.ts';

test('servers of two versions on one store are told of each other once, and one that ends leaves no sign', async () => {
  const path = join(temporaryFolder(), 'store.db');
  const open = async () => {
    const die = (error: Error) => {
      throw error;
    };
    // As long as others on the machine take the processors away.
    const store = await openSqliteStore(path, die, () => {}, 60_000);
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
  const [byNext, byOld] = ['1.1.0 sees 1.0.0 on host of 1.0.0', '1.0.0 sees 1.1.0 on host of 1.1.0'];
  const tellings = (line: string) => told.filter(one => one === line).length;
  await eventually('both have told', () => tellings(byNext) === 2);
  // On a busy machine the old one, which looks every 5 s, and one of whom nothing was seen for 20 s.
  const are = (...wanted: string[]) =>
    eventually(wanted.join(), async () => String(await versions()) === String(wanted));
  await are('1.0.0', '1.1.0', '1.1.0');
  await old.close();
  expect(await versions()).not.toContain('1.0.0');
  await are('1.1.0', '1.1.0');
  // Once each.
  expect([tellings(byNext), tellings(byOld) <= 2]).toEqual([2, true]);
  expect(told.filter(line => line !== byNext && line !== byOld)).toEqual([]);
  await Promise.all([next.close(), same.close()]);
  expect(await versions()).toEqual([]);
});
