import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { digestOf } from '../../src/core/key.ts';
import type { Store } from '../../src/core/ports.ts';
import { createOperate } from '../../src/operate.ts';
import { ACT } from '../support/act.ts';
import { type MadeKey, openBeside, run, runJson, SECRET } from '../support/process.ts';
import { eventually } from '../support/scale.ts';
import { sharedService, temporaryFolder } from '../support/service.ts';

const shared = sharedService();
const PATH = '/v1/public/domain/gmail.com';
const status = async (secret: string, headers = {}) => (await shared().get(PATH, secret, headers)).status;
const folder = () => ({ folder: shared().folder });
const create = (...limits: string[]) =>
  runJson<MadeKey & Record<string, unknown>>(['keys', 'create', '--name', 'web', ...limits], folder());

test('a created key is printed once with its limits, and works with the next request', async () => {
  const limits = ['--quota', '2', '--origin', 'https://app.example.com', '--origin', 'https://*.example.org'];
  const made = await create(...limits, '--network', '127.0.0.0/8', '--expires', '2099-01-31', '--rate', '50');
  expect(made).toEqual({
    id: expect.stringMatching(/^key_/),
    key: expect.stringMatching(SECRET),
    name: 'web',
    note: null,
    shown_as: `${made.key.slice(0, 8)}…${made.key.slice(-4)}`,
    quota: 2,
    rate: 50,
    origins: ['https://app.example.com', 'https://*.example.org'],
    networks: ['127.0.0.0/8'],
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}Z$/),
    expires_at: '2099-01-31T00:00:00Z',
    revoked_at: null,
  });
  const origin = { origin: 'https://x.example.org' };
  expect(await status(made.key)).toBe(403);
  expect(await status(made.key, origin)).toBe(200);
  expect(await status(made.key, origin)).toBe(200);
  expect(await status(made.key, origin)).toBe(429);

  const listed = await runJson<Record<string, unknown>[]>(['keys', 'list'], folder());
  const { key, ...rest } = made;
  expect(listed).toContainEqual({ ...rest, used: 2, last_used_at: expect.any(String) });
  expect(JSON.stringify(listed)).not.toContain(key);
  expect(JSON.stringify(listed)).not.toContain(digestOf(key));
});

test('for people there are tables, and the secret only when it is made', async () => {
  const { code, stdout, stderr } = await run(
    ['keys', 'create', '--name', 'for people', '--note', ' ask Ann ', '--quota', 'unlimited'],
    folder(),
  );
  expect(code).toBe(0);
  expect(stdout.match(new RegExp(SECRET, 'g'))).toHaveLength(1);
  expect(stdout).toMatch(/^quota +unlimited$/m);
  expect(stdout).toMatch(/^note +ask Ann$/m);
  expect(stderr).toContain('cannot be shown again');
  const list = await run(['keys', 'list'], folder());
  expect(list.code).toBe(0);
  expect(list.stdout).toMatch(/^ID +NAME +KEY +USED +QUOTA/);
  expect(list.stdout).toMatch(
    /for people +drk_\w{4}….{4} +0 +unlimited +none +any +any +never +never +live +ask Ann$/m,
  );
  expect(list.stdout).not.toMatch(SECRET);
});

test('updated limits reach a running server with the next request; what is not named stays', async () => {
  const { key, secret } = await shared().key({ quota: 1, origins: ['https://app.example.com'] });
  const origin = { origin: 'https://app.example.com' };
  expect([await status(secret, origin), await status(secret, origin)]).toEqual([200, 429]);
  const raised = await runJson(['keys', 'update', key.id, '--quota', '2'], folder());
  expect(raised).toMatchObject({ id: key.id, quota: 2, origins: ['https://app.example.com'] });
  expect(raised).not.toHaveProperty('key');
  expect([await status(secret, origin), await status(secret)]).toEqual([200, 403]);
  const noted = await runJson(['keys', 'update', key.id, '--note', 'ask Ann'], folder());
  expect(noted).toMatchObject({ id: key.id, note: 'ask Ann', quota: 2 });
  const long = await run(['keys', 'update', key.id, '--note', 'x'.repeat(201)], folder());
  expect([long.code, long.stderr]).toEqual([2, expect.stringMatching(/note must be one line of 1 to 200/)]);
  const free = [
    '--note',
    '',
    '--origin',
    'any',
    '--quota',
    'unlimited',
    '--rate',
    'none',
    '--expires',
    'never',
  ];
  const freed = await runJson(['keys', 'update', key.id, '--name', 'renamed', ...free], folder());
  expect(freed).toMatchObject({
    name: 'renamed',
    note: null,
    quota: null,
    rate: null,
    expires_at: null,
    origins: [],
  });
  expect(await status(secret)).toBe(200);
  const response = await shared().get('/v1/usage', secret);
  expect(await response.json()).toMatchObject({ monthly_limit: null, month_count: 3 });
  const soon = new Date(Date.now() + 5_000).toISOString();
  await runJson(['keys', 'update', key.id, '--expires', soon], folder());
  await eventually('the key has ended', async () => (await status(secret)) === 401);
  expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(soon));
});

test('a change that meets another one starts anew from it, and gives up in the end', async () => {
  const { key } = await shared().key();
  const { store } = shared();
  const rotated = {
    ...key,
    digest: digestOf('rotated beside'),
    previousDigest: key.digest,
    previousUntil: 9,
  };
  let others = [() => store.updateKey(rotated, key, ACT)];
  const beside: Store = {
    ...store,
    async updateKey(...args) {
      await others.shift()?.();
      return store.updateKey(...args);
    },
  };
  const operate = createOperate({ store: beside, clock: Date.now });
  expect(await operate.updateKey(key.id, { quota: 7 }, ACT)).toEqual({ ...rotated, quota: 7 });
  const find = async () => (await store.listKeys()).find(one => one.id === key.id)!;
  expect(await find()).toEqual({ ...rotated, quota: 7 });

  const again = async () => {
    const now = await find();
    return store.updateKey({ ...now, rate: (now.rate ?? 0) + 1 }, now, ACT);
  };
  others = Array.from({ length: 50 }, () => again);
  expect(await operate.updateKey(key.id, { quota: 8 }, ACT)).toMatchObject({ problem: 'contended' });
  expect((await find()).quota).toBe(7);
});

test('a changed or revoked key is judged anew even while it is over its rate', async () => {
  const { key, secret } = await shared().key({ rate: 1 });
  const other = await openBeside(shared().folder);
  expect([await status(secret), await status(secret)]).toEqual([200, 429]);
  const unlimited = { ...key, rate: null };
  await other.updateKey(unlimited, key, ACT);
  expect([await status(secret), await status(secret)]).toEqual([200, 200]);
  await other.updateKey(key, unlimited, ACT);
  expect([await status(secret), await status(secret)]).toContain(429);
  await other.updateKey({ ...key, revokedAt: Date.now() }, key, ACT);
  expect(await status(secret)).toBe(401);
});

test('a rotation replaces the secret at once, or after the overlap, and keeps the count', async () => {
  const { key, secret } = await shared().key({ quota: 4 });
  expect(await status(secret)).toBe(200);
  const rotated = await runJson<MadeKey>(['keys', 'rotate', key.id], folder());
  expect(rotated).toMatchObject({ id: key.id, name: 'test', quota: 4 });
  expect(rotated.key).not.toBe(secret);
  expect([await status(secret), await status(rotated.key)]).toEqual([401, 200]);

  const again = await runJson<MadeKey>(['keys', 'rotate', key.id, '--overlap', '1h'], folder());
  expect([await status(rotated.key), await status(again.key)]).toEqual([200, 200]);
  expect(await status(again.key)).toBe(429);
  const { store } = shared();
  const kept = (await store.keyByDigest(digestOf(rotated.key))).key!;
  const hour = kept.previousUntil! - Date.now();
  expect([hour > 3_000_000, hour <= 3_600_000]).toEqual([true, true]);
  const third = await run(['keys', 'rotate', key.id, '--overlap', '1h'], folder());
  expect([third.code, third.stdout, third.stderr]).toEqual([
    1,
    '',
    expect.stringMatching(/^domain-risk: the secret before is valid until .*Z, .* \(--end-previous\)\n$/),
  ]);
  await store.updateKey({ ...kept, previousUntil: Date.now() - 1 }, kept, ACT);
  expect([await status(rotated.key), await status(again.key)]).toEqual([401, 429]);
});

test('a revoked key is refused with the next request, and for good', async () => {
  const { key, secret } = await shared().key();
  expect(await status(secret)).toBe(200);
  const revoked = await runJson(['keys', 'revoke', key.id], folder());
  expect(revoked).toMatchObject({ id: key.id, revoked_at: expect.stringMatching(/Z$/) });
  expect(await status(secret)).toBe(401);
  for (const [command, ...limits] of [['update', '--quota', '1'], ['rotate']] as const) {
    const { code, stdout, stderr } = await run(['keys', command, key.id, ...limits], folder());
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/revoked, which cannot be undone: create a new one/);
  }
  expect(await status(secret)).toBe(401);
});

test('a second key of the same name is not made; scripts may ask for one only where it is missing', async () => {
  const create = ['keys', 'create', '--name', 'unique'];
  const first = await runJson<MadeKey>(create, folder());
  const second = await run([...create, '--json'], folder());
  expect([second.code, second.stdout]).toEqual([1, '']);
  expect(second.stderr).toMatch(/^domain-risk: there is a key named "unique" already: .*--if-missing\n$/);
  const again = (name: string, ...limits: string[]) =>
    run(['keys', 'create', '--name', name, '--if-missing', ...limits, '--json'], folder());
  const [same, other7] = [await again('unique'), await again('Unique', '--quota', '7')];
  expect([same.code, other7.code, same.stderr]).toEqual([0, 0, 'there already: nothing was made\n']);
  expect(other7.stderr).toContain(
    `differs from what was asked for, which "domain-risk keys update ${first.id}" can change: quota unlimited → 7\n`,
  );
  for (const { stdout } of [same, other7]) {
    expect(JSON.parse(stdout)).toMatchObject({ id: first.id, quota: null, name: 'unique' });
    expect(JSON.parse(stdout)).not.toHaveProperty('key');
  }
  const operate = createOperate({ store: shared().store, clock: Date.now });
  const other = await shared().key({ name: 'another' });
  for (const name of ['unique', 'UNIQUE', '\uff55nique'])
    for (const act of [operate.updateKey(other.key.id, { name }, ACT), operate.createKey({ name }, ACT)])
      expect(await act).toMatchObject({ problem: 'taken', detail: expect.stringContaining('"unique"') });
  expect(await operate.updateKey(other.key.id, { name: 'Another' }, ACT)).toMatchObject({ name: 'Another' });
  expect(await operate.findKey('ANOTHER')).toMatchObject({ id: other.key.id });
  // A revoked one gives its name free, and doubles from before may keep theirs.
  await operate.revokeKey(first.id, ACT);
  expect(await operate.updateKey(other.key.id, { name: 'unique' }, ACT)).toMatchObject({ name: 'unique' });
  const [one] = [await shared().key({ name: 'double' }), await shared().key({ name: 'double' })];
  expect(await operate.updateKey(one.key.id, { name: 'double', quota: 3 }, ACT)).toMatchObject({ quota: 3 });
});

test('a list has the last use of each key, and revoked ones only where asked for', async () => {
  const { key, secret } = await shared().key({ name: 'used', rate: 9 });
  const revoked = await shared().key({ name: 'gone', revokedAt: 5 });
  const began = Math.floor(Date.now() / 1_000) * 1_000;
  expect(await status(secret)).toBe(200);
  const rows = await runJson<Record<string, unknown>[]>(['keys', 'list'], folder());
  const of = (id: string) => rows.find(row => row.id === id);
  expect(of(revoked.key.id)).toBeUndefined();
  const at = Date.parse(String(of(key.id)?.last_used_at));
  expect(at).toBeGreaterThanOrEqual(began);
  expect(at).toBeLessThanOrEqual(Date.now());
  const { stdout } = await run(['keys', 'list', '--all'], folder());
  expect(stdout).toMatch(
    /^ID +NAME +KEY +USED +QUOTA +RATE +ORIGINS +NETWORKS +EXPIRES +LAST USED +STATE +NOTE$/m,
  );
  expect(stdout).toMatch(new RegExp(`^${revoked.key.id} .* never +never +revoked$`, 'm'));
  expect(stdout).toMatch(new RegExp(`^${key.id} +used .* 9 .* never +20\\S+Z +live$`, 'm'));
});

test('a key may be named by its name while only one has it', async () => {
  await shared().key({ name: 'twin' });
  expect(await runJson(['keys', 'update', 'twin', '--quota', '5'], folder())).toMatchObject({ quota: 5 });
  await shared().key({ name: 'twin' });
  const several = await run(['keys', 'revoke', 'twin'], folder());
  expect([several.code, several.stdout]).toEqual([1, '']);
  expect(several.stderr).toMatch(/several keys have this name: use the id/);
  const none = await run(['keys', 'revoke', 'nobody'], folder());
  expect([none.code, none.stdout]).toEqual([1, '']);
  expect(none.stderr).toMatch(/no such key.*keys list/);
});

test('a mistake of ours shows its stack; a store that another program holds one line', async () => {
  const own = { folder: temporaryFolder() };
  await runJson(['keys', 'create', '--name', 'web'], own);
  const db = new DatabaseSync(join(own.folder, 'domain-risk.db'));
  onTestFinished(() => db.close());
  db.exec("UPDATE key SET origins = 'no JSON'");
  const broken = await run(['keys', 'list'], own);
  expect(broken).toMatchObject({ code: 1, stdout: '' });
  expect(broken.stderr).toMatch(/^domain-risk: SyntaxError: .*\n(.*\n)*domain-risk: +at .*readKeys/m);
  db.exec("UPDATE key SET origins = '[]'; BEGIN IMMEDIATE");
  const held = await run(['keys', 'update', 'web', '--quota', '5'], own);
  expect([held.code, held.stderr]).toEqual([1, expect.stringMatching(/^domain-risk: database is locked\n$/)]);
});
