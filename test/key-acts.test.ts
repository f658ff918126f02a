/** What an operator does about one key, among however many. */

import { expect, test } from 'vitest';
import { KEYS_AT_ONCE } from '../src/core/key-store.ts';
import type { Store } from '../src/core/ports.ts';
import { createOperate, newKey } from '../src/operate.ts';
import { ACT } from './support/act.ts';
import { sharedService } from './support/service.ts';

const service = sharedService();
const ANN = { who: 'ann', via: 'test' };

test('every act on a key reads that key and those with its name, never all there are', async () => {
  const { store } = service();
  const listKeys = () => Promise.reject(new Error('all keys were read'));
  const operate = createOperate({ store: { ...store, listKeys }, clock: Date.now });
  const made = await operate.createKey({ name: 'Web' }, ANN);
  if ('problem' in made) throw new Error(made.detail);
  const { id } = made.key;
  const taken = { problem: 'taken', detail: expect.stringContaining('there is a key named "Web" already') };
  expect(await operate.createKey({ name: 'web' }, ANN)).toEqual(taken);
  const other = await operate.createKey({ name: 'App' }, ANN);
  if ('problem' in other) throw new Error(other.detail);
  expect(await operate.updateKey(other.key.id, { name: 'WEB' }, ANN)).toEqual(taken);
  expect(await operate.updateKey(id, { name: 'WEB', quota: 5 }, ANN)).toMatchObject({
    name: 'WEB',
    quota: 5,
  });
  expect(await operate.findKey('web')).toMatchObject({ id });
  expect(await operate.findKey(id)).toMatchObject({ id });
  expect(await operate.rotateKey(id, { overlap: 0 }, ANN)).toMatchObject({ key: { id } });
  expect(await operate.revokeKey(id, ANN)).toMatchObject({ id });
  expect(await operate.findKey('web')).toMatchObject({ problem: 'not_found' });
  for (const act of [operate.revokeKey('key_none', ANN), operate.rotateKey('key_none', { overlap: 0 }, ANN)])
    expect(await act).toMatchObject({ problem: 'not_found' });
});

test('a list of many keys is read some at a time, the oldest first, from whichever key on', async () => {
  const { store } = service();
  const asked: number[] = [];
  const few: Pick<Store, 'readKeys' | 'listKeys'> = {
    listKeys: () => Promise.reject(new Error('all keys were read')),
    readKeys: query => {
      asked.push(query.most);
      return store.readKeys(query);
    },
  };
  const operate = createOperate({ store: { ...store, ...few }, clock: Date.now });
  const present = (await store.listKeys()).length;
  const many = Array.from({ length: 2 * KEYS_AT_ONCE + 5 }, (_, at) => newKey({ name: `n${at}` }, at).key);
  await Promise.all(many.map(key => store.createKey(key, ACT)));
  const ids = async (...from: Parameters<typeof operate.listKeys>) => {
    const found: string[] = [];
    for await (const page of operate.listKeys(...from)) found.push(...page.map(({ key }) => key.id));
    return found;
  };
  const sorted = many.map(({ id }) => id);
  const all = await ids();
  expect(all.slice(0, many.length)).toEqual(sorted);
  expect(all).toHaveLength(many.length + present);
  expect(await ids(KEYS_AT_ONCE + 3, many[4])).toEqual(sorted.slice(5, KEYS_AT_ONCE + 8));
  expect(await ids(KEYS_AT_ONCE)).toEqual(sorted.slice(0, KEYS_AT_ONCE));
  expect(Math.max(...asked)).toBe(KEYS_AT_ONCE);
});
