import { expect, test } from 'vitest';
import { ACT } from '../support/act.ts';
import { ask, expectError } from '../support/answers.ts';
import { sharedService } from '../support/service.ts';
import { spendOne } from '../support/spend.ts';

const time = { now: Date.UTC(2026, 10, 15, 12) };
const shared = sharedService({ clock: () => time.now });
const LOOKUP = '/v1/public/domain/gmail.com';

async function usage(secret: string, query = ''): Promise<unknown> {
  const answer = await ask(shared().port, `/v1/usage${query}`, { key: secret });
  expect(answer.status, answer.body).toBe(200);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  return JSON.parse(answer.body);
}

test('the usage tells what was counted and what is left, and asking is not counted', async () => {
  const { port, key, used } = shared();
  const { secret, key: record } = await key({ quota: 3 });
  const reset_at = '2026-12-01T00:00:00Z';
  expect(await usage(secret)).toEqual({ monthly_limit: 3, month_count: 0, remaining_month: 3, reset_at });
  for (let i = 0; i < 5; i++) await ask(port, LOOKUP, { key: secret });
  for (let i = 0; i < 5; i++) {
    expect(await usage(secret)).toEqual({ monthly_limit: 3, month_count: 3, remaining_month: 0, reset_at });
  }
  expect(await used(record)).toBe(3);
});

test('a rate is for calls that are counted: asking for the usage takes none of it, and is answered beyond it', async () => {
  const { port, key } = shared();
  const { secret } = await key({ rate: 1 });
  for (let i = 0; i < 3; i++) await usage(secret);
  expect((await ask(port, LOOKUP, { key: secret })).status).toBe(200);
  expect((await ask(port, LOOKUP, { key: secret })).status).toBe(429);
  await usage(secret);
});

test('the members stand in the order of the documents', async () => {
  const { secret } = await shared().key({ quota: 3 });
  expect(Object.keys((await usage(secret)) as object)).toEqual([
    'monthly_limit',
    'month_count',
    'remaining_month',
    'reset_at',
  ]);
});

test('of an unlimited key limit and rest are null', async () => {
  const { port, key } = shared();
  const { secret } = await key();
  await ask(port, LOOKUP, { key: secret });
  expect(await usage(secret)).toMatchObject({ monthly_limit: null, month_count: 1, remaining_month: null });
});

test('a key with no quota at all may still ask', async () => {
  const { secret } = await shared().key({ quota: 0 });
  expect(await usage(secret)).toMatchObject({ monthly_limit: 0, month_count: 0, remaining_month: 0 });
});

test('after the quota was lowered the rest is 0 and never negative', async () => {
  const { port, key, store } = shared();
  const { secret, key: record } = await key({ quota: 5 });
  for (let i = 0; i < 4; i++) await ask(port, LOOKUP, { key: secret });
  await store.updateKey({ ...record, quota: 2 }, record, ACT);
  expect(await usage(secret)).toMatchObject({ monthly_limit: 2, month_count: 4, remaining_month: 0 });
});

test('a new month begins with nothing used', async () => {
  const { port, key } = shared();
  const { secret } = await key({ quota: 5 });
  await ask(port, LOOKUP, { key: secret });
  const before = time.now;
  time.now = Date.UTC(2026, 11, 1);
  expect(await usage(secret)).toMatchObject({ month_count: 0, reset_at: '2027-01-01T00:00:00Z' });
  time.now = before;
  expect(await usage(secret)).toMatchObject({ month_count: 1 });
});

test('the same door: 401 and 403 as everywhere, and no quota headers', async () => {
  const { port, key } = shared();
  expectError(await ask(port, '/v1/usage'), 401, 'unauthorized');
  const { secret } = await key({ quota: 5, origins: ['https://app.example.com'] });
  expectError(await ask(port, '/v1/usage', { key: secret }), 403, 'forbidden');
  const answer = await ask(port, '/v1/usage?x=1', {
    key: secret,
    headers: ['Origin: https://app.example.com'],
  });
  expect(answer.status).toBe(200);
  expect([...answer.headers.keys()].filter(name => name.includes('ratelimit'))).toEqual([]);
  const head = await ask(port, '/v1/usage', {
    key: secret,
    method: 'HEAD',
    headers: ['Origin: https://app.example.com'],
  });
  expect([head.status, head.body]).toEqual([200, '']);
});

test('a key with a rate sees what was counted elsewhere, and its new quota, at once', async () => {
  const { port, key: makeKey, store } = shared();
  const { key, secret } = await makeKey({ rate: 100, quota: 50 });
  await ask(port, LOOKUP, { key: secret });
  const day = new Date(time.now).toISOString().slice(0, 10);
  await spendOne(store, { keyId: key.id, day, quota: 50 }, await store.revision());
  expect(await usage(secret)).toMatchObject({ monthly_limit: 50, month_count: 2, remaining_month: 48 });
  await store.updateKey({ ...key, quota: 10 }, key, ACT);
  expect(await usage(secret)).toMatchObject({ monthly_limit: 10, month_count: 2, remaining_month: 8 });
});

test('on request it tells the calls of each day: dense, oldest first, today last, each key its own', async () => {
  const { port, key } = shared();
  const [mine, other] = [await key({ quota: 100 }), await key()];
  const before = time.now;
  const days = [Date.UTC(2026, 9, 17), Date.UTC(2026, 10, 14, 23, 59, 59, 999), Date.UTC(2026, 10, 15)];
  for (const [i, now] of days.entries()) {
    time.now = now;
    for (let calls = 0; calls <= i; calls++) await ask(port, LOOKUP, { key: mine.secret });
    await ask(port, LOOKUP, { key: other.secret });
  }
  time.now = before;
  const shown = (await usage(mine.secret, '?days=30')) as { days: { day: string; count: number }[] };
  expect(Object.keys(shown)).toEqual(['monthly_limit', 'month_count', 'remaining_month', 'reset_at', 'days']);
  expect(shown).toMatchObject({ month_count: 5 });
  expect(shown.days).toHaveLength(30);
  expect([shown.days[0], shown.days[28], shown.days[29]]).toEqual([
    { day: '2026-10-17', count: 1 },
    { day: '2026-11-14', count: 2 },
    { day: '2026-11-15', count: 3 },
  ]);
  expect(shown.days.map(({ day }) => day)).toEqual(shown.days.map(({ day }) => day).sort());
  expect(shown.days.reduce((sum, { count }) => sum + count, 0)).toBe(6);
  expect(await usage(mine.secret, '?days=1')).toMatchObject({ days: [{ day: '2026-11-15', count: 3 }] });
  expect(await usage(other.secret, '?days=2')).toMatchObject({ days: [{ count: 1 }, { count: 1 }] });
});

test.each(['0', '31', '-1', '1.5', '1e1', '', 'all', '00001', '%31%30%30'])(
  'days=%s is 422, after the key and the origin were judged, and uncounted',
  async days => {
    const { port, key, used } = shared();
    const { secret, key: record } = await key({ quota: 5 });
    const target = `/v1/usage?days=${days}`;
    const { detail } = expectError(await ask(port, target, { key: secret }), 422, 'validation_error');
    expect(detail).toBe('days must be a whole number from 1 to 30');
    expectError(await ask(port, target), 401, 'unauthorized');
    expect(await used(record)).toBe(0);
  },
);
