import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import { beforeAll, expect, test, vi } from 'vitest';
import { readFilter, SIGNATURE_BYTES } from '../../client/src/fuse.ts';
import { createClient, createFilter } from '../../client/src/index.ts';
import { allSuffixes } from '../../src/core/all-suffixes.ts';
import type { Override } from '../../src/core/override.ts';
import { allAtOnce } from '../../src/core/steps.ts';
import { createFilters, type FilterFile, type FilterParts, makeFilter } from '../../src/filter.ts';
import { ACT } from '../support/act.ts';
import { runJson } from '../support/process.ts';
import { installedCatalog, sharedService } from '../support/service.ts';

const shared = sharedService();
const PATH = '/v1/public/filter';
/** What `GET /v1/public/filter` is signed with, as operators get it. */
let publicKey: string;
let secret: string;
beforeAll(async () => {
  secret = (await shared().key({ quota: 1_000 })).secret;
  const { public_key } = await runJson<{ public_key: string }>(['feeds', 'filter', '--public-key'], {
    folder: shared().folder,
  });
  publicKey = public_key;
});

async function fetched() {
  const response = await shared().get(PATH, secret);
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/octet-stream']);
  return { bytes: Buffer.from(await response.arrayBuffer()), etag: response.headers.get('etag')! };
}

const override = (domain: string, action: 'allow' | 'deny') =>
  shared().store.setOverride(
    { domain, action, below: true, note: null, author: null, createdAt: Date.now(), expiresAt: null },
    { ...ACT, subject: domain },
  );

test('is signed, and all that it has scores 100, with what is below it', async () => {
  const { bytes } = await fetched();
  const end = bytes.length - SIGNATURE_BYTES;
  // RFC 8410: what stands before the 32 bytes of an Ed25519 key.
  const der = Buffer.concat([
    Buffer.from('302a300506032b6570032100', 'hex'),
    Buffer.from(publicKey, 'base64'),
  ]);
  const key = createPublicKey({ key: der, format: 'der', type: 'spki' });
  expect(verify(null, bytes.subarray(0, end), key, bytes.subarray(end))).toBe(true);

  const filter = readFilter(bytes)!;
  const names = [...(await installedCatalog()).disposableNames()].filter(filter.has);
  expect(names.length).toBeGreaterThan(5_000);
  expect(names.length - filter.head.names).toBeLessThan(20);
  const step = Math.ceil(names.length / 60);
  for (const name of names.filter((_, at) => at % step === 0)) {
    for (const asked of [name, `x.${name}`]) {
      const { risk_score } = (await (await shared().get(`/v1/public/domain/${asked}`, secret)).json()) as {
        risk_score: number;
      };
      expect([asked, risk_score]).toEqual([asked, 100]);
    }
  }
});

test('counts as one call, and a 304 where it is known', async () => {
  const { key, secret: own } = await shared().key({ quota: 3 });
  const first = await shared().get(PATH, own);
  const etag = first.headers.get('etag')!;
  expect((await shared().get(PATH, own, { 'if-none-match': etag })).status).toBe(304);
  expect(await shared().used(key)).toBe(2);
  expect((await shared().get(PATH, own, { 'if-none-match': '"other"' })).status).toBe(200);
  expect((await shared().get(PATH, own)).status).toBe(429);
  expect((await shared().get(PATH)).status).toBe(401);
});

test('follows what operators decide, with the next call, and is the same again when they take it back', async () => {
  const before = await fetched();
  expect(readFilter(before.bytes)!.has('mailinator.com')).toBe(true);
  await override('sub.mailinator.com', 'allow');
  await override('rival.com', 'deny');
  const after = readFilter((await fetched()).bytes)!;
  expect([after.has('mailinator.com'), after.has('rival.com')]).toEqual([false, true]);
  for (const domain of ['sub.mailinator.com', 'rival.com'])
    await shared().store.removeOverride(domain, { ...ACT, subject: domain });
  expect((await fetched()).etag).toBe(before.etag);
});

test('takes no suffix and no name that we know as innocent for disposable; one that an operator allows is right with the next', async () => {
  const before = await fetched();
  const filter = readFilter(before.bytes)!;
  const catalog = await installedCatalog();
  const isListed = (name: string) => catalog.listed([name]).hits.length > 0;
  const known = [...allSuffixes(), ...catalog.innocentNames()].filter(name => !isListed(name));
  expect([known.length > 10_000, known.filter(filter.has)]).toEqual([true, []]);

  let at = 0;
  while (!filter.has(`company-${at}.com`)) at++;
  const company = `company-${at}.com`;
  await override(company, 'allow');
  const after = await fetched();
  expect([readFilter(after.bytes)!.has(company), after.etag === before.etag]).toEqual([false, false]);
  await shared().store.removeOverride(company, { ...ACT, subject: company });
});

test('is what a client needs to tell without a call, and a change of a key makes it no other', async () => {
  const service = { baseUrl: shared().base, apiKey: secret };
  const filter = createFilter({ ...service, publicKey });
  expect(await filter.ready()).toBe(true);
  const risk = createClient({ ...service, filter });
  expect(await risk.lookup('a@mailinator.com')).toMatchObject({ ok: true, fromCache: true });
  expect(await risk.lookup('a@gmail.com')).toMatchObject({ ok: true, fromCache: false });
  const { bytes } = await fetched();
  const names = [...(await installedCatalog()).disposableNames()].filter(readFilter(bytes)!.has);
  expect(names.some(name => name.split('.').length > 2)).toBe(true);
  expect(names.filter(name => !filter.has(name) || !filter.has(`x.${name}`)).length).toBeLessThan(2);
  await shared().key();
  expect((await fetched()).bytes.equals(bytes)).toBe(true);
});

test('is signed anew twice a day, and when a clock was set back, with the same tag; no two services have the same seed', async () => {
  let now = Date.now();
  const make: FilterParts['make'] = (of, at, key) => makeFilter(of, at, key, async steps => allAtOnce(steps));
  const sources = { catalog: await installedCatalog(), overrides: new Map() };
  const filters = createFilters({
    ...{
      store: shared().store,
      sources: () => sources,
      nextEnd: () => Infinity,
      revision: () => 1,
      clock: () => now,
    },
    make,
  });
  const { etag, bytes } = await filters.current();
  // By a seed that only the key tells: with one that is known, names could be chosen so that another's is in it too.
  const others = createFilters({
    ...{ store: { signingKey: async (candidate: string) => candidate }, sources: () => sources },
    ...{ nextEnd: () => Infinity, revision: () => 1, clock: () => now, make },
  });
  const seeds = [bytes, (await others.current()).bytes].map(one => readFilter(one)!.head.seed);
  expect(new Set(seeds).size).toBe(2);
  const madeAt = async (at: number) => {
    now = at;
    const file = await filters.current();
    expect(file.etag).toBe(etag);
    return readFilter(file.bytes)!.head.madeAt - at;
  };
  const begun = now;
  expect(await madeAt(begun + 12 * 3_600_000 - 1)).toBeLessThan(0);
  expect(await madeAt(begun + 12 * 3_600_000)).toBe(0);
  expect(await madeAt(begun - 86_400_000)).toBe(0);
});

test('is made once at a time, however often operators change something: all who wait get the next one, which knows it all', async () => {
  const catalog = await installedCatalog();
  let overrides: ReadonlyMap<string, Override> = new Map();
  const makes: { readonly of: number; readonly file: PromiseWithResolvers<FilterFile> }[] = [];
  let underWay = 0;
  let most = 0;
  const filters = createFilters({
    ...{ store: shared().store, sources: () => ({ catalog, overrides }), clock: () => 1_000 },
    nextEnd: () => Infinity,
    revision: () => 1,
    async make(of) {
      most = Math.max(most, ++underWay);
      const file = Promise.withResolvers<FilterFile>();
      makes.push({ of: of.overrides.size, file });
      return file.promise.finally(() => underWay--);
    },
  });
  const begun = async (count: number) => vi.waitFor(() => expect(makes.length).toBe(count), { interval: 1 });
  const fileOf = (names: number): FilterFile => ({ bytes: Buffer.alloc(0), etag: '', names });
  const asked: Promise<FilterFile>[] = [];
  for (let count = 1; count <= 15; count++) {
    overrides = new Map(named(count).map(one => [one.domain, one]));
    asked.push(filters.current());
  }
  const all = Promise.allSettled(asked);
  await begun(1);
  makes[0]!.file.reject(new Error('no room'));
  await begun(2);
  makes[1]!.file.resolve(fileOf(makes[1]!.of));
  const [first, ...others] = await all;
  expect([first!.status, makes.length, most]).toEqual(['rejected', 2, 1]);
  for (const one of others) expect(one).toMatchObject({ value: { names: 15 } });
  expect((await filters.current()).names).toBe(15);
});

test('is signed with the key that a restored backup has, with the next call', async () => {
  const keys = [1, 2].map(() => {
    const { privateKey } = generateKeyPairSync('ed25519');
    return privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64');
  });
  let [secret] = keys;
  let [revision, looks, isAway] = [1, 0, false];
  const sources = { catalog: await installedCatalog(), overrides: new Map() };
  const signingKey = async () => {
    looks++;
    if (isAway) throw new Error('away');
    return secret!;
  };
  const filters = createFilters({
    ...{ store: { signingKey }, sources: () => sources, clock: () => 1_000 },
    ...{ nextEnd: () => Infinity, revision: () => revision },
    make: async (_, now, key) => ({ bytes: Buffer.from(key), etag: `"${now}"`, names: 0 }),
  });
  const signedBy = async () => keys.indexOf((await filters.current()).bytes.toString());
  const first = await filters.current();
  revision = 2;
  expect([(await filters.current()) === first, await signedBy()]).toEqual([true, 0]);
  const before = await filters.publicKey();
  [revision, secret] = [3, keys[1]];
  expect([await signedBy(), await signedBy(), (await filters.publicKey()) === before]).toEqual([1, 1, false]);

  // However many ask behind a change, the store is asked once; where it fails, again with the next call.
  [revision, looks, isAway] = [4, 0, true];
  const failed = await Promise.allSettled(Array.from({ length: 50 }, filters.current));
  expect([looks, failed.every(({ status }) => status === 'rejected')]).toEqual([1, true]);
  isAway = false;
  const all = await Promise.all(Array.from({ length: 50 }, filters.current));
  expect([looks, new Set(all).size]).toEqual([2, 1]);
});

const named = (count: number): Override[] =>
  Array.from({ length: count }, (_, at) => ({
    ...{ domain: `name-${at}.com`, action: 'deny', below: true },
    ...{ note: null, author: null, createdAt: 0, expiresAt: null },
  }));
