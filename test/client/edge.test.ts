/** Runtimes in which requests and timers end with the visit that began them, while the client lives on. */

import { afterEach, expect, it, vi } from 'vitest';
import { createClient, createFilter, type FilterOptions } from '../../client/src/index.ts';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

const SERVICE = { baseUrl: 'http://127.0.0.1:1', apiKey: 'drk_x' };
const SAFE = {
  ...{ domain: 'a.com', risk_score: 5, reason: 'safe', mx_provider_label: null },
  ...{ is_free_provider: false, is_corporate_email: false },
};

/** A visit that is over before anything that it began has come to its end. */
function visit(work: () => unknown): void {
  vi.stubGlobal('setTimeout', () => 0);
  work();
  vi.unstubAllGlobals();
}

it('a lookup that outlives its visit holds no later one of the same name up', async () => {
  let calls = 0;
  const fetch = () =>
    ++calls === 1 ? new Promise<Response>(() => {}) : Promise.resolve(Response.json(SAFE));
  const risk = createClient({ ...SERVICE, fetch, timeout: 50 });
  visit(() => risk.lookup('a.com'));
  // This one relies on what was begun, and has its own time.
  const started = performance.now();
  expect(await risk.lookup('a.com')).toMatchObject({ ok: false, cause: 'timeout' });
  expect(performance.now() - started).toBeLessThan(5_000);
  expect([await risk.lookup('a.com'), calls]).toMatchObject([{ ok: true }, 2]);
});

it('a filter whose fetch ended with a visit is fetched again after half a minute', async () => {
  let calls = 0;
  const fetch = () => {
    calls++;
    return new Promise<Response>(() => {});
  };
  const told: unknown[] = [];
  const filter = createFilter({ ...SERVICE, publicKey: 'x', fetch, onProblem: told.push });
  const clock = vi.spyOn(performance, 'now').mockReturnValue(0);
  visit(() => filter.has('a.com'));
  clock.mockReturnValue(29_999);
  filter.has('a.com');
  expect(calls).toBe(1);
  clock.mockReturnValue(30_000);
  filter.has('a.com');
  expect(calls).toBe(2);
  // Nor does whoever waits for it wait for ever.
  const timers = vi.spyOn(globalThis, 'setTimeout').mockImplementation((work: () => void) => {
    work();
    return 0 as unknown as NodeJS.Timeout;
  });
  expect(await filter.ready()).toBe(false);
  expect(timers.mock.calls.map(([, ms]) => ms)).toEqual([30_000]);
});

it.each<[string, Partial<FilterOptions> & { status?: number }, RegExp]>([
  ['no public key', { publicKey: undefined }, /publicKey/],
  ['an address that is none', { publicKey: 'x', baseUrl: 'nowhere' }, /baseUrl/],
  ['a key that is refused', { publicKey: 'x', status: 401 }, /answered 401/],
  ['the public key of another service', { publicKey: btoa('x'.repeat(32)), status: 200 }, /not signed/],
  ['a key that is no text', { publicKey: 'x', apiKey: Object.create(null), status: 401 }, /answered 401/],
])('a filter with %s says so once, where nobody listens', async (_, { status = 200, ...more }, what) => {
  const written = vi.spyOn(console, 'error').mockImplementation(() => {});
  const clock = vi.spyOn(performance, 'now').mockReturnValue(0);
  const fetch = async () => new Response('none', { status });
  const filter = createFilter({ ...SERVICE, publicKey: 'x', fetch, ...more });
  await filter.ready();
  clock.mockReturnValue(86_400_000);
  await filter.ready();
  expect(written.mock.calls).toEqual([[expect.stringMatching(what)]]);
});

it('a service in trouble is no reason for a filter to say anything, and a key that is no text for no client to throw', async () => {
  const written = vi.spyOn(console, 'error').mockImplementation(() => {});
  const fetch = async () => new Response('none', { status: 503 });
  await createFilter({ ...SERVICE, fetch, publicKey: 'x' }).ready();
  expect(written).not.toHaveBeenCalled();
  const risk = createClient({ ...SERVICE, apiKey: Object.create(null) });
  expect(await risk.lookup('a.com')).toMatchObject({ ok: false, cause: 'options' });
});

it('a signal that is only half of one ends no program', async () => {
  const risk = createClient({ ...SERVICE, timeout: 20, fetch: () => new Promise<Response>(() => {}) });
  const halves = [{}, { addEventListener() {} }] as unknown as AbortSignal[];
  const results = await Promise.all(halves.map(signal => risk.lookup('a.com', { signal })));
  expect(results).toMatchObject([{ cause: 'options' }, { cause: 'timeout' }]);
  // Until all timers of both are over.
  expect(await risk.lookup('a.com')).toMatchObject({ cause: 'timeout' });
});
