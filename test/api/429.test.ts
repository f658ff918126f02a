import { expect, test } from 'vitest';
import { ACT } from '../support/act.ts';
import { type Answer, ask, expectError } from '../support/answers.ts';
import { sharedService, startTestService, untilServed } from '../support/service.ts';

const time = { now: 0 };
const shared = sharedService({ clock: () => time.now });
const PATH = '/v1/public/domain/gmail.com';

/** In the middle of a month of 30 days, and of a second. */
const NOVEMBER = Date.UTC(2026, 10, 15, 12, 0, 0, 250);
const DECEMBER = Date.UTC(2026, 11, 1);

function quotaOf({ headers }: Answer) {
  return Object.fromEntries(
    [...headers].filter(([name]) => name.includes('ratelimit') || name === 'retry-after'),
  );
}

test('the headers tell quota, rest and reset exactly, until the last call and beyond', async () => {
  const { port, key, used } = shared();
  time.now = NOVEMBER;
  const made = await key({ quota: 3 });
  const left = String((DECEMBER - NOVEMBER + 250) / 1000);
  for (const remaining of [2, 1, 0]) {
    const answer = await ask(port, PATH, { key: made.secret });
    expect(answer.status).toBe(200);
    expect(quotaOf(answer)).toEqual({
      'ratelimit-policy': '"monthly";q=3;w=2592000',
      ratelimit: `"monthly";r=${remaining};t=${left}`,
      'x-ratelimit-limit': '3',
      'x-ratelimit-remaining': String(remaining),
      'x-ratelimit-reset': String(DECEMBER / 1000),
    });
  }
  for (let i = 0; i < 3; i++) {
    const answer = await ask(port, PATH, { key: made.secret });
    const { reset_at, detail } = expectError(answer, 429, 'quota_exceeded');
    expect(reset_at).toBe('2026-12-01T00:00:00Z');
    expect(detail).toContain('3');
    expect(quotaOf(answer)).toEqual({
      'ratelimit-policy': '"monthly";q=3;w=2592000',
      ratelimit: `"monthly";r=0;t=${left}`,
      'x-ratelimit-limit': '3',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': String(DECEMBER / 1000),
      'retry-after': left,
    });
  }
  expect(await used(made.key)).toBe(3);
});

test.each([0, 1, 20])(
  'of a quota of %i exactly that many calls pass, however many come at once',
  async quota => {
    const { key, get, used } = shared();
    time.now = NOVEMBER;
    const made = await key({ quota });
    const calls = Array.from({ length: 4 * quota + 4 }, () => untilServed(() => get(PATH, made.secret)));
    const answers = await Promise.all(calls);
    const passed = answers.filter(({ status }) => status === 200);
    expect(passed).toHaveLength(quota);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(3 * quota + 4);
    const rests = passed.map(({ headers }) => Number(headers.get('x-ratelimit-remaining')));
    expect(rests.sort((a, b) => a - b)).toEqual(Array.from({ length: quota }, (_, at) => at));
    expect(await used(made.key)).toBe(quota);
    await Promise.all(answers.map(answer => answer.body?.cancel()));
  },
);

test('HEAD and every counted answer take from the quota, both endpoints from the same', async () => {
  const { port, key, used } = shared();
  time.now = NOVEMBER;
  const made = await key({ quota: 6 });
  const ask429 = () => ask(port, PATH, { key: made.secret });
  for (const [target, method, status] of [
    [PATH, 'HEAD', 200],
    ['/v1/public/top-domains', 'HEAD', 200],
    ['/v1/public/top-domains', 'GET', 200],
    ['/v1/public/domain/bad_name', 'GET', 422],
    ['/v1/public/top-domains?limit=0', 'HEAD', 422],
    [PATH, 'GET', 200],
  ] as const) {
    const before = await used(made.key);
    const answer = await ask(port, target, { key: made.secret, method });
    expect(answer.status).toBe(status);
    expect(answer.headers.get('x-ratelimit-remaining')).toBe(String(5 - before));
    expect(await used(made.key)).toBe(before + 1);
  }
  expectError(await ask429(), 429, 'quota_exceeded');
  const head = await ask(port, PATH, { key: made.secret, method: 'HEAD' });
  expect([head.status, head.body]).toEqual([429, '']);
  expectError(await ask(port, '/v1/public/top-domains', { key: made.secret }), 429, 'quota_exceeded');
});

test('what is not counted takes nothing: 401, 403, 404, 405, OPTIONS, usage, pages', async () => {
  const { port, key, used } = shared();
  time.now = NOVEMBER;
  const made = await key({ quota: 1, origins: ['https://app.example.com'] });
  const headers = ['Origin: https://app.example.com'];
  for (const [target, method, sent] of [
    [PATH, 'GET', [...headers, 'Authorization: Basic x']],
    [PATH, 'GET', []],
    ['/v1/public/nothing', 'GET', headers],
    [PATH, 'DELETE', headers],
    [PATH, 'OPTIONS', headers],
    ['/v1/usage', 'GET', headers],
    ['/livez', 'GET', headers],
    ['/docs', 'GET', headers],
  ] as const) {
    await ask(port, target, { key: made.secret, method, headers: sent });
  }
  expect(await used(made.key)).toBe(0);
  expect((await ask(port, PATH, { key: made.secret, headers })).status).toBe(200);
});

test('an unlimited key has no quota headers, and its calls are counted', async () => {
  const { port, key, used } = shared();
  time.now = NOVEMBER;
  const made = await key({ quota: null });
  for (const target of [PATH, '/v1/public/top-domains', '/v1/public/domain/bad_name']) {
    expect(quotaOf(await ask(port, target, { key: made.secret }))).toEqual({});
  }
  expect(await used(made.key)).toBe(3);
});

test('a new month begins at its first instant in UTC, with a count of its own', async () => {
  const { port, key, store } = shared();
  time.now = NOVEMBER;
  const { secret, key: record } = await key({ quota: 1 });
  expect((await ask(port, PATH, { key: secret })).status).toBe(200);
  time.now = DECEMBER - 1;
  const last = await ask(port, PATH, { key: secret });
  expectError(last, 429, 'quota_exceeded');
  expect(last.headers.get('retry-after')).toBe('1');
  time.now = DECEMBER;
  const first = await ask(port, PATH, { key: secret });
  expect(quotaOf(first)).toMatchObject({
    'ratelimit-policy': '"monthly";q=1;w=2678400',
    ratelimit: '"monthly";r=0;t=2678400',
    'x-ratelimit-reset': String(Date.UTC(2027, 0, 1) / 1000),
  });
  const next = expectError(await ask(port, PATH, { key: secret }), 429, 'quota_exceeded');
  expect(next.reset_at).toBe('2027-01-01T00:00:00Z');
  expect(await store.used(record.id, '2026-11')).toBe(1);
  expect(await store.used(record.id, '2026-12')).toBe(1);
});

test.each([
  [Date.UTC(2028, 1, 29, 23), 29, '2028-03-01T00:00:00Z'],
  [Date.UTC(2027, 1, 28, 23), 28, '2027-03-01T00:00:00Z'],
  [Date.UTC(2027, 11, 31, 23), 31, '2028-01-01T00:00:00Z'],
])('the window is the length of this very month', async (now, days, resetAt) => {
  const { port, key } = shared();
  time.now = now;
  const { secret } = await key({ quota: 0 });
  const answer = await ask(port, PATH, { key: secret });
  expect(expectError(answer, 429, 'quota_exceeded').reset_at).toBe(resetAt);
  expect(answer.headers.get('ratelimit-policy')).toBe(`"monthly";q=0;w=${days * 86_400}`);
  expect(answer.headers.get('retry-after')).toBe('3600');
});

test('a quota that changes in the middle of a month keeps the count', async () => {
  const { port, key, store, used } = shared();
  time.now = NOVEMBER;
  const { secret, key: record } = await key({ quota: 5 });
  for (let i = 0; i < 3; i++) await ask(port, PATH, { key: secret });
  await store.updateKey({ ...record, quota: 2 }, record, ACT);
  const lowered = await ask(port, PATH, { key: secret });
  expectError(lowered, 429, 'quota_exceeded');
  expect(lowered.headers.get('ratelimit')).toMatch(/^"monthly";r=0;/);
  await store.updateKey({ ...record, quota: 4 }, { ...record, quota: 2 }, ACT);
  expect((await ask(port, PATH, { key: secret })).headers.get('x-ratelimit-remaining')).toBe('0');
  expectError(await ask(port, PATH, { key: secret }), 429, 'quota_exceeded');
  await store.updateKey({ ...record, quota: null }, { ...record, quota: 4 }, ACT);
  expect((await ask(port, PATH, { key: secret })).status).toBe(200);
  expect(await used(record)).toBe(5);
});

test('calls beyond the rate limit are 429, uncounted, and say when to come back', async () => {
  const { port, key, used } = shared();
  time.now = NOVEMBER;
  const made = await key({ rate: 2, quota: 100 });
  const send = () => ask(port, PATH, { key: made.secret });
  expect([(await send()).status, (await send()).status]).toEqual([200, 200]);
  for (let i = 0; i < 20; i++) {
    const answer = await send();
    const body = expectError(answer, 429, 'rate_limited');
    expect(body.detail).toContain('2');
    expect(answer.headers.get('retry-after')).toBe('1');
    expect(answer.headers.get('ratelimit')).toMatch(/^"monthly";r=98;t=\d+$/);
    expect(answer.headers.get('x-ratelimit-remaining')).toBe('98');
  }
  expect(await used(made.key)).toBe(2);
  time.now += 500;
  expect([(await send()).status, (await send()).status]).toEqual([200, 429]);
  time.now += 60_000;
  expect([(await send()).status, (await send()).status, (await send()).status]).toEqual([200, 200, 429]);
  expect(await used(made.key)).toBe(5);
});

test('a clock that is set neither fills the bucket of the rate limit nor stops it from filling', async () => {
  const time = { now: NOVEMBER, ticks: 0 };
  const { port, key } = await startTestService({ clock: () => time.now, ticks: () => time.ticks });
  const made = await key({ rate: 2 });
  const send = async () => (await ask(port, PATH, { key: made.secret })).status;
  expect([await send(), await send(), await send()]).toEqual([200, 200, 429]);
  time.now += 60_000;
  expect(await send()).toBe(429);
  time.now -= 3_600_000;
  time.ticks += 500;
  expect([await send(), await send()]).toEqual([200, 429]);
});

test('a rate of one call leaves no more than one per second, whatever the answer', async () => {
  const { port, key, used } = shared();
  time.now = NOVEMBER;
  const made = await key({ rate: 1 });
  const statuses: number[] = [];
  for (let i = 0; i < 40; i++) {
    const target = i % 2 === 0 ? '/v1/public/domain/bad_name' : PATH;
    statuses.push((await ask(port, target, { key: made.secret })).status);
    time.now += 100;
  }
  expect(statuses.filter(status => status !== 429).length).toBeLessThanOrEqual(5);
  expect(await used(made.key)).toBe(statuses.filter(status => status !== 429).length);
});

test('the rate limit stands before the quota, and asking for the usage is free of both', async () => {
  const { port, key } = shared();
  time.now = NOVEMBER;
  const { secret } = await key({ rate: 1, quota: 0 });
  expectError(await ask(port, PATH, { key: secret }), 429, 'quota_exceeded');
  expectError(await ask(port, PATH, { key: secret }), 429, 'rate_limited');
  expect((await ask(port, '/v1/usage', { key: secret })).status).toBe(200);
});
