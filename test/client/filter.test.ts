import { hash, type webcrypto } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createFilter, type FilterOptions } from '../../client/src/filter.ts';
import { createClient } from '../../client/src/index.ts';
import { fusing, withAbove } from '../../src/core/fuse.ts';
import { allAtOnce } from '../../src/core/steps.ts';

const NOW = Date.now();
const DAY_MS = 86_400_000;
const NAMES = ['burner.com', 'cc.cd', 'temp.mail.org'];
const ABOVE_OF: Readonly<Record<string, string[]>> = { 'temp.mail.org': ['mail.org'] };

type Pair = webcrypto.CryptoKeyPair;
let keys: Pair;
let publicKey: string;
let server: Server;
let base: string;
/** What the service has, and what it was asked. */
let file: Uint8Array;
let status = 200;
let asked: { url: string; tag: string | undefined }[] = [];

async function signed(names: readonly string[], madeAt: number, by = keys): Promise<Uint8Array> {
  const above = new Set(names.flatMap(name => ABOVE_OF[name] ?? []));
  const body = Buffer.from(allAtOnce(fusing(withAbove(names, above), madeAt, 7)).body);
  return Buffer.concat([body, new Uint8Array(await crypto.subtle.sign('Ed25519', by.privateKey, body))]);
}

const made = () => crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify']) as Promise<Pair>;

beforeAll(async () => {
  keys = await made();
  publicKey = Buffer.from(await crypto.subtle.exportKey('raw', keys.publicKey)).toString('base64');
  server = createServer((request, response) => {
    asked.push({ url: request.url!, tag: request.headers['if-none-match'] });
    if (request.url !== '/v1/public/filter') {
      response.writeHead(500).end('{}');
      return;
    }
    const tag = `"${hash('sha256', file)}"`;
    if (request.headers['if-none-match'] === tag) response.writeHead(304).end();
    else response.writeHead(status, { etag: tag }).end(file);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());
beforeEach(async () => {
  asked = [];
  status = 200;
  file = await signed(NAMES, NOW - 5_000);
});

const options = (more: Partial<FilterOptions> = {}): FilterOptions => ({
  ...{ baseUrl: base, apiKey: 'drk_x', publicKey, ...more },
});

describe('a filter', () => {
  it('has names and what is below them, once it is there, and never waits for that', async () => {
    const filter = createFilter(options());
    expect(filter.has('burner.com')).toBe(false);
    expect(await filter.ready()).toBe(true);
    expect(['burner.com', 'a.b.burner.com', 'x.cc.cd', 'a.temp.mail.org'].map(filter.has)).toEqual([
      true,
      true,
      true,
      true,
    ]);
    expect(
      ['mail.org', 'company.com', 'notburner.com', 'com', '', 'bürner.com', 'a..b'].map(filter.has),
    ).toEqual(Array.from({ length: 7 }, () => false));
    expect(asked).toHaveLength(1);
  });

  it('takes a name of many labels for one of its own no more often than one of two', async () => {
    const names = Array.from({ length: 2_000 }, (_, at) => `n${at}.x${at % 50}.com`);
    const above = new Set(names.map(name => name.slice(name.indexOf('.') + 1)));
    const bytes = Buffer.from(allAtOnce(fusing(withAbove(names, above), NOW, 7)).body);
    const signature = await crypto.subtle.sign('Ed25519', keys.privateKey, bytes);
    file = Buffer.concat([bytes, new Uint8Array(signature)]);
    const filter = createFilter(options());
    await filter.ready();
    expect(names.every(filter.has) && names.every(name => filter.has(`a.${name}`))).toBe(true);
    // Of eight labels seven would be looked for otherwise, and one of these be taken.
    const others = Array.from({ length: 10_000 }, (_, at) => `y${20_000 + at}.org`);
    const differ = others.filter(name => filter.has(`a.b.c.d.e.f.${name}`) !== filter.has(name));
    expect(differ).toEqual([]);
  });

  it('is fetched again after its time, only where it has changed, and never gives way to an older one', async () => {
    const filter = createFilter(options({ refresh: 1_000 }));
    await filter.ready();
    const later = async () => {
      await new Promise(resolve => setTimeout(resolve, 1_050));
      await filter.ready();
    };
    await later();
    expect(asked[1]!.tag).toBeDefined();
    file = await signed([...NAMES, 'newer.com'], NOW);
    await later();
    expect(filter.has('newer.com')).toBe(true);
    file = await signed(NAMES, NOW - 2_000);
    await later();
    expect(filter.has('newer.com')).toBe(true);
  });

  it.each<[string, () => Promise<Partial<FilterOptions>>, RegExp]>([
    [
      'is signed by somebody else',
      async () => {
        file = await signed(NAMES, NOW - 5_000, await made());
        return {};
      },
      /not signed by the public key/,
    ],
    [
      'was changed on its way',
      async () => {
        file = file.with(40, file[40]! ^ 1);
        return {};
      },
      /not signed by the public key/,
    ],
    [
      'is cut short',
      async () => {
        file = file.subarray(0, 20);
        return {};
      },
      /not signed by the public key/,
    ],
    [
      'is refused',
      async () => {
        status = 429;
        return {};
      },
      /answered 429/,
    ],
    [
      'somebody has kept for a week',
      async () => {
        file = await signed(NAMES, NOW - 7 * DAY_MS);
        return {};
      },
      /older than 7 days/,
    ],
    [
      'was made by a clock that is two days ahead',
      async () => {
        file = await signed(NAMES, NOW + 2 * DAY_MS);
        return {};
      },
      /from the future/,
    ],
    [
      'was made at no time at all',
      async () => {
        file = await signed(NAMES, Number.NaN);
        return {};
      },
      /from the future/,
    ],
    ['comes from nowhere', async () => ({ baseUrl: 'ftp://a' }), /baseUrl/],
    ['cannot be reached', async () => ({ baseUrl: 'http://127.0.0.1:1' }), /could not be fetched/],
    ['has a key that is none', async () => ({ publicKey: '???' }), /publicKey/],
    ['has no key', async () => ({ publicKey: undefined }), /publicKey/],
  ])('that %s is not used, which is told', async (_, spoil, why) => {
    const told: string[] = [];
    const more = await spoil();
    const filter = createFilter(options({ ...more, onProblem: ({ message }) => told.push(message) }));
    expect(await filter.ready()).toBe(false);
    expect(filter.has('burner.com')).toBe(false);
    expect(told).toEqual([expect.stringMatching(why)]);
    // Not at once again.
    await filter.ready();
    expect(told).toHaveLength(1);
  });
});

describe('a filter that is kept', () => {
  /** As if the clock were set so far ahead, with the timers of both sides as they are. */
  const ahead = (ms: number) => {
    vi.spyOn(Date, 'now').mockImplementation(() => NOW + ms);
    vi.spyOn(performance, 'now').mockImplementation(() => ms);
  };
  afterEach(() => void vi.restoreAllMocks());

  it('is asked for whole after a day, since only its time is signed, and lapses after a week without', async () => {
    const told: string[] = [];
    ahead(0);
    const filter = createFilter(options({ onProblem: ({ message }) => told.push(message) }));
    await filter.ready();
    ahead(DAY_MS / 2);
    await filter.ready();
    ahead(1.5 * DAY_MS);
    await filter.ready();
    expect(asked.map(({ tag }) => tag !== undefined)).toEqual([false, true, false]);
    status = 503;
    ahead(6.5 * DAY_MS);
    await filter.ready();
    expect(filter.has('burner.com')).toBe(true);
    ahead(7 * DAY_MS);
    expect([await filter.ready(), filter.has('burner.com')]).toEqual([false, false]);
    expect(told).toHaveLength(2);
    status = 200;
    file = await signed(NAMES, NOW + 7 * DAY_MS);
    ahead(8 * DAY_MS - 1);
    expect([await filter.ready(), filter.has('burner.com')]).toEqual([true, true]);
  });

  it.each([
    ['signed by a key that was replaced', 200, 1],
    ['refused for its key', 401, 1],
    ['refused for its rate', 429, 2],
    ['refused by a service in trouble', 503, 2],
  ])('and %s is asked for again in a minute only where that may help', async (_, answered, times) => {
    status = answered;
    if (answered === 200) file = await signed(NAMES, NOW, await made());
    ahead(0);
    const filter = createFilter(options({ onProblem: () => {} }));
    await filter.ready();
    ahead(61_000);
    await filter.ready();
    expect(asked).toHaveLength(times);
  });

  it('is fetched once for all who ask at the same time', async () => {
    const filter = createFilter(options());
    const ready = await Promise.all(Array.from({ length: 50 }, () => filter.ready()));
    expect([new Set(ready), asked.length]).toEqual([new Set([true]), 1]);
  });

  it('tells of a name of thousands of labels as fast as of any other', async () => {
    const filter = createFilter(options());
    await filter.ready();
    const begun = process.cpuUsage();
    expect(filter.has(`${'a.'.repeat(30_000)}burner.com`)).toBe(false);
    expect(process.cpuUsage(begun).user).toBeLessThan(500_000);
    expect(filter.has(`${'a.'.repeat(121)}burner.com`)).toBe(true);
  });
});

describe('a client with a filter', () => {
  it('answers for what is in it without a call, also while the service fails, and asks for all else', async () => {
    const filter = createFilter(options());
    await filter.ready();
    const risk = createClient({ ...options(), filter, onProblem: () => {} });
    expect(await risk.lookup('Someone@Sub.Burner.com')).toMatchObject({
      ok: true,
      data: { domain: 'sub.burner.com', risk_score: 100, reason: 'disposable', mx_provider_label: null },
      fromCache: true,
    });
    expect(await risk.isRisky('x@burner.com')).toBe(true);
    expect(asked.map(({ url }) => url)).toEqual(['/v1/public/filter']);
    expect(await risk.isRisky('x@company.com')).toBe(false);
    expect(await risk.isRisky('x@burner.com', { confirm: true })).toBe(false);
    expect((await risk.lookup('burner.com', { explain: true })).ok).toBe(false);
    expect(asked.map(({ url }) => url).slice(1)).toEqual([
      '/v1/public/domain/company.com',
      '/v1/public/domain/burner.com',
      '/v1/public/domain/burner.com?explain=true',
    ]);
  });

  it('sends none of many that is in it, and asks for none where all are, also while the service fails', async () => {
    const filter = createFilter(options());
    await filter.ready();
    const sent: unknown[] = [];
    const spying: typeof fetch = (url, init) => {
      sent.push(init?.body ?? url);
      return fetch(url, init);
    };
    const risk = createClient({ ...options(), filter, fetch: spying, onProblem: () => {} });
    const burner = { risk_score: 100, reason: 'disposable' };
    expect(await risk.domains(['jane@Burner.com', 'sub.cc.cd.', 'nowhere', 'burner.com'])).toMatchObject({
      ok: true,
      fromCache: true,
      quota: null,
      data: {
        results: [
          { domain: 'burner.com', ...burner },
          { domain: 'sub.cc.cd', ...burner },
          { error: 'validation_error' },
          { domain: 'burner.com', ...burner },
        ],
        count: 4,
      },
    });
    const signal = AbortSignal.abort();
    expect(await risk.domains(['burner.com'], { signal })).toMatchObject({ ok: false, cause: 'aborted' });
    expect(sent).toEqual([]);
    expect((await risk.domains(['burner.com', 'company.com'])).ok).toBe(false);
    expect((await risk.domains(['burner.com'], { confirm: true })).ok).toBe(false);
    expect(sent).toEqual(['{"domains":["company.com"]}', '{"domains":["burner.com"]}']);
  });

  it('knows a name with the dot of the root by the same name, and always asks for a check', async () => {
    const filter = createFilter(options());
    await filter.ready();
    const risk = createClient({ ...options(), filter, onProblem: () => {} });
    expect(await risk.lookup('x@burner.com.')).toMatchObject({ ok: true, data: { domain: 'burner.com' } });
    expect((await risk.lookup('x@burner.com..')).ok).toBe(false);
    expect((await risk.check('x@burner.com')).ok).toBe(false);
    expect(asked.map(({ url }) => url)).toEqual([
      '/v1/public/filter',
      '/v1/public/domain/burner.com..',
      '/v1/check/x%40burner.com',
    ]);
  });

  it('is none the worse for one that throws', async () => {
    const filter = {
      has: () => {
        throw new Error('broken');
      },
    };
    const risk = createClient({ ...options(), filter });
    expect(await risk.lookup('burner.com')).toMatchObject({ ok: false, status: 500 });
  });
});
