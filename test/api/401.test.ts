import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { newKey } from '../../src/operate.ts';
import { ACT } from '../support/act.ts';
import { type Answer, ask, expectError } from '../support/answers.ts';
import { sharedService, watchAsked } from '../support/service.ts';

const shared = sharedService({ env: { ACCESS_LOG: 'all' } });
const PATH = '/v1/public/domain/gmail.com';
const REALM = 'Bearer realm="domain-risk"';
const INVALID = `${REALM}, error="invalid_token"`;

const unknownSecret = () => newKey({ name: 'never stored' }, Date.now()).secret;

function withoutId({ body }: Answer): string {
  return body.replace(/"request_id":"[^"]*"/, '"request_id":""');
}

test.each(['Bearer', 'bearer', 'BEARER', 'bEaReR'])('the scheme may be spelled %s', async scheme => {
  const { secret } = await shared().key();
  const answer = await ask(shared().port, PATH, { headers: [`Authorization: ${scheme} ${secret}`] });
  expect(answer.status).toBe(200);
});

/** What is sent, by the secret of a live key; and whether a bearer token is among it. */
const REFUSED: readonly (readonly [string, (secret: string) => string[], boolean])[] = [
  ['no header', () => [], false],
  ['an empty header', () => ['Authorization:'], false],
  ['the scheme alone', () => ['Authorization: Bearer'], false],
  ['the scheme and a space', () => ['Authorization: Bearer '], false],
  ['the key alone', secret => [`Authorization: ${secret}`], false],
  ['another scheme', secret => [`Authorization: Token ${secret}`], false],
  ['a longer scheme', secret => [`Authorization: Bearers ${secret}`], false],
  ['Basic with the key', secret => [`Authorization: Basic ${btoa(`${secret}:`)}`], false],
  ['Digest', secret => [`Authorization: Digest username="${secret}"`], false],
  ['another header', secret => [`X-Api-Key: ${secret}`, `Cookie: key=${secret}`], false],
  ['Proxy-Authorization', secret => [`Proxy-Authorization: Bearer ${secret}`], false],
  ['two spaces', secret => [`Authorization: Bearer  ${secret}`], true],
  ['a tab', secret => [`Authorization: Bearer\t${secret}`], true],
  ['a colon', secret => [`Authorization: Bearer: ${secret}`], false],
  ['something behind the key', secret => [`Authorization: Bearer ${secret} x`], true],
  ['a comma behind the key', secret => [`Authorization: Bearer ${secret},`], true],
  ['two keys in one header', secret => [`Authorization: Bearer ${secret}, Bearer ${secret}`], true],
  ['quotes', secret => [`Authorization: Bearer "${secret}"`], true],
  ['padding behind the key', secret => [`Authorization: Bearer ${secret}=`], true],
  ['one character less', secret => [`Authorization: Bearer ${secret.slice(0, -1)}`], true],
  ['one character more', secret => [`Authorization: Bearer ${secret}0`], true],
  ['another case', secret => [`Authorization: Bearer ${secret.toUpperCase()}`], true],
  ['without the mark', secret => [`Authorization: Bearer ${secret.slice(4)}`], true],
  ['an email address', () => ['Authorization: Bearer someone@example.com'], true],
  ['a statement', () => [`Authorization: Bearer ' OR 1=1 --`], true],
  ['a property of objects', () => ['Authorization: Bearer __proto__'], true],
  ['a very long key', () => [`Authorization: Bearer ${'A'.repeat(6000)}`], true],
  ['an unknown key with a right checksum', () => [`Authorization: Bearer ${unknownSecret()}`], true],
  ['the same header twice', s => [`Authorization: Bearer ${s}`, `Authorization: Bearer ${s}`], true],
  [
    'a wrong and a right one',
    s => [`Authorization: Bearer ${unknownSecret()}`, `authorization: Bearer ${s}`],
    true,
  ],
  [
    'a right and a wrong one',
    s => [`Authorization: Bearer ${s}`, `authorization: Basic ${btoa('a:b')}`],
    true,
  ],
  ['a right and an empty one', s => [`Authorization: Bearer ${s}`, 'authorization:'], true],
];

test.each(REFUSED)('%s is 401', async (_what, headersFor, tokenSent) => {
  const { port, key, used } = shared();
  const made = await key();
  const plain = await ask(port, PATH);
  const answer = await ask(port, PATH, { headers: headersFor(made.secret) });
  expectError(answer, 401, 'unauthorized');
  expect(withoutId(answer)).toBe(withoutId(plain));
  expect(answer.headers.get('www-authenticate')).toBe(tokenSent ? INVALID : REALM);
  expect([...answer.headers.keys()].filter(name => name.includes('ratelimit'))).toEqual([]);
  expect(await used(made.key)).toBe(0);
});

test('a key in the query or the path is no key', async () => {
  const { port, key } = shared();
  const { secret } = await key();
  for (const query of [`api_key=${secret}`, `access_token=${secret}`, `key=${secret}`]) {
    expectError(await ask(port, `${PATH}?${query}`), 401, 'unauthorized');
  }
  expectError(await ask(port, `/v1/public/domain/${secret}`), 401, 'unauthorized');
});

test('revoked, expired and unknown keys get one and the same body, on every endpoint', async () => {
  const { port, key } = shared();
  const now = Date.now();
  const dead = [
    await key({ revokedAt: now - 1 }),
    await key({ expiresAt: now - 1 }),
    await key({ revokedAt: now - 1, origins: ['https://a.example'], quota: 0 }),
  ].map(({ secret }) => secret);
  const bodies = new Set<string>();
  for (const target of [PATH, '/v1/public/top-domains', '/v1/usage', '/v1/public/domain/bad_name']) {
    for (const secret of [...dead, unknownSecret()]) {
      const answer = await ask(port, target, { key: secret });
      expectError(answer, 401, 'unauthorized');
      expect(answer.headers.get('www-authenticate')).toBe(INVALID);
      bodies.add(withoutId(answer));
    }
    bodies.add(withoutId(await ask(port, target)));
  }
  expect(bodies.size).toBe(1);
});

test('a key ends at its moment, and revoking or rotating it counts from the next request on', async () => {
  const { port, key, store, used } = shared();
  const made = await key({ expiresAt: Date.now() + 1_500 });
  expect((await ask(port, PATH, { key: made.secret })).status).toBe(200);
  const revoked = await key();
  for (let i = 0; i < 3; i++) expect((await ask(port, PATH, { key: revoked.secret })).status).toBe(200);
  await store.updateKey({ ...revoked.key, revokedAt: Date.now() }, revoked.key, ACT);
  expectError(await ask(port, PATH, { key: revoked.secret }), 401, 'unauthorized');
  expect(await used(revoked.key)).toBe(3);

  const old = await key();
  expect((await ask(port, PATH, { key: old.secret })).status).toBe(200);
  const fresh = newKey({ name: 'fresh' }, Date.now());
  await store.updateKey({ ...old.key, digest: fresh.key.digest }, old.key, ACT);
  expectError(await ask(port, PATH, { key: old.secret }), 401, 'unauthorized');
  expect((await ask(port, PATH, { key: fresh.secret })).status).toBe(200);
  expect(await used(old.key)).toBe(2);

  const expired = async () => expect((await ask(port, PATH, { key: made.secret })).status).toBe(401);
  await vi.waitFor(expired, 10_000);
});

test('after a rotation with overlap both secrets open the door, for a while', async () => {
  const { port, key, store, used } = shared();
  const old = await key({ quota: 10 });
  const fresh = newKey({ name: 'fresh' }, Date.now());
  const overlap = { previousDigest: old.key.digest, previousUntil: Date.now() + 60_000 };
  const rotated = { ...old.key, digest: fresh.key.digest, ...overlap };
  await store.updateKey(rotated, old.key, ACT);
  expect((await ask(port, PATH, { key: old.secret })).headers.get('x-ratelimit-remaining')).toBe('9');
  expect((await ask(port, PATH, { key: fresh.secret })).headers.get('x-ratelimit-remaining')).toBe('8');
  await store.updateKey({ ...rotated, previousUntil: Date.now() - 1 }, rotated, ACT);
  expectError(await ask(port, PATH, { key: old.secret }), 401, 'unauthorized');
  expect(await used(old.key)).toBe(2);
});

test('a wrong checksum is refused with no store access, a guess with a right one by one look', async () => {
  const { port, store, key } = shared();
  const { secret } = await key();
  const asked = watchAsked(store);
  const last = secret.at(-1) === 'A' ? 'B' : 'A';
  for (let i = 0; i < 200; i++) {
    const guess =
      i === 0 ? secret.slice(0, -1) + last : `drk_${unknownSecret().slice(4, 46)}${'x'.repeat(7)}`;
    expect((await shared().get(PATH, guess)).status).toBe(401);
  }
  expect(asked()).toEqual([]);
  expect((await ask(port, PATH, { key: unknownSecret() })).status).toBe(401);
  expect(asked()).toHaveLength(1);
});

test('no secret is in a log line, a metric, the store, a page or an error', async () => {
  const { port, key, logged, folder } = shared();
  const { secret } = await key({ quota: 1 });
  const told: string[] = [];
  const send = async (target: string, headers: string[], method = 'GET') => {
    const { body, headers: seen } = await ask(port, target, { method, headers });
    told.push(body, [...seen].join());
  };
  const bearer = `Authorization: Bearer ${secret}`;
  await send(PATH, [bearer, `Referer: http://x/${secret}`, `User-Agent: ${secret}`, `Cookie: ${secret}`]);
  await send(PATH, [bearer]);
  await send(PATH, [bearer, bearer]);
  await send(PATH, [`Authorization: Basic ${secret}`]);
  await send(`${PATH}?key=${secret}`, [bearer]);
  await send(`/v1/public/domain/${secret}`, [bearer]);
  await send(`/v1/public/domain/${secret}.com`, [bearer]);
  await send(`/${secret}`, [bearer]);
  await send(`/v1/usage`, [bearer], 'POST');
  await send('/v1/usage', [bearer, `X-A: ${'a'.repeat(9000)}`]);
  await send('/v1/usage', [bearer, 'broken']);
  for (const page of ['/', '/metrics', '/readyz', '/openapi.json', '/docs']) await send(page, [bearer]);
  for (const name of readdirSync(folder)) told.push(readFileSync(join(folder, name), 'latin1'));
  told.push(...logged);
  expect(logged.length).toBeGreaterThan(10);
  expect(told.join('\n')).not.toContain(secret.slice(8, -4));
});

test("the store's file is for its owner only", () => {
  const { folder } = shared();
  for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o077, name).toBe(0);
});
