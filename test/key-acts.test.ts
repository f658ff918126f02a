/** What an operator does about one key, among however many. */

import { expect, test } from 'vitest';
import { createOperate } from '../src/operate.ts';
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
