import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, expect, test, vi } from 'vitest';
import { type Store, StoreUnavailable } from '../../src/core/ports.ts';
import { ACT } from '../support/act.ts';
import { type Answer, ask, expectError } from '../support/answers.ts';
import { failNextSpend } from '../support/failing.ts';
import { sharedService } from '../support/service.ts';

const shared = sharedService({ hasThreads: true });
const PATH = '/v1/public/domain/gmail.com';

afterEach(() => {
  vi.restoreAllMocks();
});

/** Another process on the same file. */
function neighbour(): DatabaseSync {
  return new DatabaseSync(join(shared().folder, 'domain-risk.db'), { timeout: 5_000 });
}

function expectOpaque(answer: Answer): void {
  expect(expectError(answer, 500, 'internal_error').detail).toBeNull();
}

test.each(['BEGIN IMMEDIATE', 'BEGIN EXCLUSIVE'])(
  'while a neighbour holds the file (%s) a call is 500 and uncounted, and afterwards 200',
  async begin => {
    const { port, key, used } = shared();
    const made = await key({ quota: 100 });
    expect((await ask(port, PATH, { key: made.secret })).status).toBe(200);
    const db = neighbour();
    db.exec(begin);
    try {
      const before = performance.now();
      let answered = false;
      const calls = Array.from({ length: 10 }, async () => {
        const answer = await ask(port, PATH, { key: made.secret });
        answered = true;
        return answer;
      });
      expect((await ask(port, '/livez')).status).toBe(200);
      expect(answered).toBe(false);
      for (const answer of await Promise.all(calls)) expectOpaque(answer);
      expect(performance.now() - before).toBeLessThan(4_000);
    } finally {
      db.exec('ROLLBACK');
      db.close();
    }
    const after = await ask(port, PATH, { key: made.secret });
    expect(after.status).toBe(200);
    expect(after.headers.get('x-ratelimit-remaining')).toBe('98');
    expect(await used(made.key)).toBe(2);
  },
);

test('while nothing can be counted the service is alive and not ready, and the log says why', async () => {
  const { port, logged } = shared();
  const from = logged.length;
  const db = neighbour();
  db.exec('BEGIN IMMEDIATE');
  try {
    await vi.waitFor(async () => expect((await ask(port, '/readyz')).status).toBe(503), 5_000);
    const ready = await ask(port, '/readyz');
    expectError(ready, 503, 'not_ready');
    expect(ready.headers.has('retry-after')).toBe(true);
    expect((await ask(port, '/livez')).status).toBe(200);
  } finally {
    db.exec('ROLLBACK');
    db.close();
  }
  await vi.waitFor(async () => expect((await ask(port, '/readyz')).status).toBe(200), 5_000);
  const told = logged.slice(from).map(line => JSON.parse(line));
  expect(told.filter(({ msg }) => /\bready\b/.test(msg))).toMatchObject([
    { level: 40, msg: 'not ready: the store does not answer', err: { message: 'database is locked' } },
    { level: 30, msg: 'ready again' },
  ]);
});

test('a short lock is waited for', async () => {
  const { port, key, used } = shared();
  const made = await key();
  const db = neighbour();
  db.exec('BEGIN IMMEDIATE');
  const call = ask(port, PATH, { key: made.secret });
  setTimeout(() => db.exec('ROLLBACK'), 50);
  expect((await call).status).toBe(200);
  db.close();
  expect(await used(made.key)).toBe(1);
});

test('a table that is gone is 500 and uncounted on every endpoint, and its return needs no restart', async () => {
  const { port, key, used } = shared();
  const made = await key({ quota: 10 });
  expect((await ask(port, PATH, { key: made.secret })).status).toBe(200);
  const db = neighbour();
  db.exec('ALTER TABLE usage RENAME TO lost');
  for (const target of [PATH, '/v1/public/top-domains', '/v1/usage', '/v1/public/domain/bad_name']) {
    expectOpaque(await ask(port, target, { key: made.secret }));
  }
  expect((await ask(port, '/livez')).status).toBe(200);
  db.exec('ALTER TABLE lost RENAME TO usage');
  db.close();
  expect((await ask(port, PATH, { key: made.secret })).status).toBe(200);
  expect(await used(made.key)).toBe(2);
});

test('what our own code stumbles over is not taken for a store that does not answer: the log has the stack', async () => {
  const { port, key, logged } = shared();
  const made = await key();
  const db = neighbour();
  const set = db.prepare('UPDATE key SET origins = ? WHERE id = ?');
  set.run('no JSON', made.key.id);
  await vi.waitFor(async () => {
    const answer = await ask(port, PATH, { key: made.secret });
    expectOpaque(answer);
    const line = logged.find(text => text.includes(answer.headers.get('x-request-id')!));
    expect(JSON.parse(line ?? '{}')).toMatchObject({
      msg: 'a request failed',
      err: { type: 'SyntaxError', stack: expect.stringMatching(/^ +at .*\/\.program\//m) },
    });
  }, 10_000);
  set.run('[]', made.key.id);
  db.close();
  expect((await ask(port, PATH, { key: made.secret })).status).toBe(200);
});

function failOnce(store: Store, name: 'keyByDigest' | 'spend' | 'ranking' | 'used', error: Error) {
  if (name !== 'spend') return vi.spyOn(store, name).mockRejectedValueOnce(error);
  return failNextSpend(store, error);
}

/** Everything that may be in an error and must not be in its answer. */
const INSIDE = 'SELECT digest FROM key -- /var/lib/secret.db at Spender (/srv/src/store/spender.ts:12:3)';

test.each([
  ['reading the key', 'keyByDigest', PATH, 0],
  ['counting', 'spend', PATH, 0],
  ['the ranking', 'ranking', '/v1/public/top-domains?reason=role_account', 1],
  ['the usage', 'used', '/v1/usage', 0],
] as const)(
  'when %s fails the answer tells nothing of it, and the log all',
  async (_what, name, target, counted) => {
    const { port, key, used, store, logged } = shared();
    const made = await key({ quota: 10 });
    const fresh = `${target}${target.includes('?') ? '&' : '?'}x=${name}`;
    for (const [at, error] of [new StoreUnavailable(INSIDE), new TypeError(INSIDE)].entries()) {
      const spy = failOnce(store, name, error);
      const answer = await ask(port, fresh, { key: made.secret });
      spy.mockRestore();
      expectOpaque(answer);
      expect(answer.body + [...answer.headers].join()).not.toMatch(
        /digest|secret|spender|TypeError|StoreUn/i,
      );
      const line = logged.find(text => text.includes(answer.headers.get('x-request-id')!));
      expect(line).toContain('SELECT digest');
      expect(answer.headers.get('x-ratelimit-remaining')).toBe(counted ? String(9 - at) : undefined);
      expect(await used(made.key)).toBe(counted * (at + 1));
    }
    expect((await ask(port, target, { key: made.secret })).status).toBe(200);
  },
);

test('overrides that cannot be read are 500 rather than an answer without them', async () => {
  const { port, key, store } = shared();
  const { secret } = await key();
  const override = { note: null, author: null, createdAt: Date.now(), expiresAt: null, below: false };
  const broken = vi.spyOn(store, 'changedOverrides').mockRejectedValueOnce(new StoreUnavailable('later'));
  await store.setOverride({ domain: 'gmail.com', action: 'deny', ...override }, ACT);
  expectOpaque(await ask(port, PATH, { key: secret }));
  broken.mockRestore();
  expect(JSON.parse((await ask(port, PATH, { key: secret })).body).reason).toBe('disposable');
  await store.removeOverride('gmail.com', ACT);
  expect(JSON.parse((await ask(port, PATH, { key: secret })).body).reason).toBe('safe');
});
