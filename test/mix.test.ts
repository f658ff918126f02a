/** The verdicts of each key: counted beside answers, written behind them, and shown to operators. */

import { expect, onTestFinished, test } from 'vitest';
import { type DayVerdicts, type KeyVerdicts, NO_VERDICTS, VERDICTS_AT_ONCE } from '../src/core/mix.ts';
import type { Answer } from '../src/lookup.ts';
import { createMix, MOST_KEYS } from '../src/mix.ts';
import { sharedService } from './support/service.ts';

const NOW = Date.UTC(2026, 10, 15, 9, 30);
const TOKEN = 'token-of-the-tests-0123456789abcdef';
const service = sharedService({ env: { ADMIN_TOKEN: TOKEN } });

const answer = (reason: keyof typeof NO_VERDICTS, degraded = false) =>
  ({ verdict: { reason }, degraded }) as Answer;

/** A store that takes so many batches and then fails. */
function world(takes = Number.POSITIVE_INFINITY) {
  const written: DayVerdicts[] = [];
  const state = { takes, sinceDay: '' };
  const store = {
    async addVerdicts(verdicts: readonly DayVerdicts[], sinceDay: string) {
      expect(verdicts.length).toBeLessThanOrEqual(VERDICTS_AT_ONCE);
      if (state.takes-- <= 0) throw new Error('away');
      state.sinceDay = sinceDay;
      written.push(...verdicts);
    },
    verdictsSince: async (): Promise<KeyVerdicts[]> => written,
  };
  const mix = createMix({ store, clock: () => NOW, onError: () => {} });
  onTestFinished(() => mix.close());
  const sum = () => written.reduce((all, { safe }) => all + safe, 0);
  return { mix, written, state, sum };
}

test('verdicts are summed by key and written as one row of the day', async () => {
  const { mix, written, state } = world();
  mix.note(answer('safe'), 'key_1');
  mix.note(answer('safe', true), 'key_1');
  mix.note(answer('role_account'), 'key_2');
  const seen = await mix.read([]);
  expect(seen.get('key_1')).toMatchObject({ safe: 2, degraded: 1, disposable: 0 });
  expect(written).toEqual([
    { ...NO_VERDICTS, keyId: 'key_1', day: '2026-11-15', safe: 2, degraded: 1 },
    { ...NO_VERDICTS, keyId: 'key_2', day: '2026-11-15', role_account: 1 },
  ]);
  expect(state.sinceDay).toBe('2026-10-17');
});

test('what the store did not take is written with the next, once', async () => {
  const { mix, state, sum } = world(1);
  for (let at = 0; at <= VERDICTS_AT_ONCE; at++) mix.note(answer('safe'), `key_${at}`);
  await expect(mix.read([])).rejects.toThrow('away');
  expect(sum()).toBe(VERDICTS_AT_ONCE);
  state.takes = 2;
  mix.note(answer('safe'), `key_${VERDICTS_AT_ONCE}`);
  await mix.read([]);
  expect(sum()).toBe(VERDICTS_AT_ONCE + 2);
});

test('of more keys than there is room for, those that are counted already go on', async () => {
  const { mix, sum } = world();
  for (let at = 0; at <= MOST_KEYS; at++) mix.note(answer('safe'), `key_${at}`);
  mix.note(answer('safe'), 'key_0');
  await mix.read([]);
  expect(sum()).toBe(MOST_KEYS + 1);
});

test('operators see what each key was told, of single calls, lists and addresses', async () => {
  const { key, secret } = await service().key();
  const other = await service().key();
  for (const name of ['gmail.com', 'mailinator.com', 'nothing.invalid', 'a_b'])
    await service().get(`/v1/public/domain/${name}`, secret);
  await service().get('/v1/check/ann@yopmail.com', secret);
  await fetch(`${service().base}/v1/public/domains`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ domains: ['gmx.de', 'mailinator.com', 'co.uk'] }),
  });
  const answered = await service().get('/admin/keys', TOKEN);
  const { keys } = (await answered.json()) as { keys: { id: string; verdicts: object }[] };
  const mixOf = (id: string) => keys.find(one => one.id === id)?.verdicts;
  expect(mixOf(key.id)).toEqual({ ...NO_VERDICTS, safe: 2, disposable: 3, undeliverable: 1 });
  expect(mixOf(other.key.id)).toEqual(NO_VERDICTS);
});
