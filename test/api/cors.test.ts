import { expect, test } from 'vitest';
import { StoreUnavailable } from '../../src/core/ports.ts';
import { type Answer, ask } from '../support/answers.ts';
import { failNextSpend } from '../support/failing.ts';
import { sharedService, type TestService } from '../support/service.ts';

const shared = sharedService();
const ORIGIN = 'https://page.example';
const PATH = '/v1/public/domain/gmail.com';
const TOP = '/v1/public/top-domains';

type Send = (service: TestService, headers: string[]) => Promise<Answer>;

/** One way to get each answer of the API, with the headers given. */
const ANSWERS: readonly (readonly [string, number, Send])[] = [
  ['a lookup', 200, async (s, headers) => ask(s.port, PATH, { key: (await s.key()).secret, headers })],
  ['the top domains', 200, async (s, headers) => ask(s.port, TOP, { key: (await s.key()).secret, headers })],
  [
    'the usage',
    200,
    async (s, headers) => ask(s.port, '/v1/usage', { key: (await s.key()).secret, headers }),
  ],
  [
    'HEAD',
    200,
    async (s, headers) => ask(s.port, PATH, { method: 'HEAD', key: (await s.key()).secret, headers }),
  ],
  ['a preflight', 204, (s, headers) => ask(s.port, PATH, { method: 'OPTIONS', headers })],
  [
    'an unchanged list',
    304,
    async (s, headers) =>
      ask(s.port, TOP, { key: (await s.key()).secret, headers: [...headers, 'If-None-Match: *'] }),
  ],
  ['two Host', 400, (s, headers) => ask(s.port, PATH, { headers: [...headers, 'Host: y'] })],
  ['no key', 401, (s, headers) => ask(s.port, PATH, { headers })],
  [
    'another origin',
    403,
    async (s, headers) =>
      ask(s.port, PATH, { key: (await s.key({ origins: ['https://a.io'] })).secret, headers }),
  ],
  ['no such path', 404, (s, headers) => ask(s.port, '/v1/nothing', { headers })],
  ['no such path, encoded', 404, (s, headers) => ask(s.port, '/v1/public%2Fdomain/gmail.com', { headers })],
  ['another method', 405, (s, headers) => ask(s.port, PATH, { method: 'DELETE', headers })],
  ['a long target', 414, (s, headers) => ask(s.port, `${PATH}?${'a'.repeat(2048)}`, { headers })],
  ['an expectation', 417, (s, headers) => ask(s.port, PATH, { headers: [...headers, 'Expect: x'] })],
  [
    'a bad name',
    422,
    async (s, headers) => ask(s.port, '/v1/public/domain/bad_name', { key: (await s.key()).secret, headers }),
  ],
  [
    'a used-up quota',
    429,
    async (s, headers) => ask(s.port, PATH, { key: (await s.key({ quota: 0 })).secret, headers }),
  ],
  [
    'a rate limit',
    429,
    async (s, headers) => {
      const { secret } = await s.key({ rate: 1 });
      await ask(s.port, PATH, { key: secret });
      return ask(s.port, PATH, { key: secret, headers });
    },
  ],
  [
    'a failing store',
    500,
    async (s, headers) => {
      const { secret } = await s.key();
      const spy = failNextSpend(s.store, new StoreUnavailable('gone'));
      const answer = await ask(s.port, PATH, { key: secret, headers });
      spy.mockRestore();
      return answer;
    },
  ],
];

test.each(ANSWERS)('%s (%i) can be read by the page that asked', async (_what, status, send) => {
  const answer = await send(shared(), [`Origin: ${ORIGIN}`]);
  expect(answer.status).toBe(status);
  expect(answer.headers.get('access-control-allow-origin')).toBe(ORIGIN);
  expect(answer.headers.has('access-control-allow-credentials')).toBe(false);
  const varies = answer.headers.get('vary')?.toLowerCase().split(/, */);
  expect(varies).toContain('origin');
  expect(varies).toContain('authorization');
  const exposed = answer.headers.get('access-control-expose-headers')?.toLowerCase().split(/, */);
  for (const name of [
    ...['ratelimit', 'ratelimit-policy', 'x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'],
    ...['retry-after', 'x-risk-degraded', 'x-request-id', 'etag'],
  ]) {
    expect(exposed).toContain(name);
  }
});

test.each(ANSWERS)(
  '%s (%i) without an Origin allows none, and varies all the same',
  async (what, status, send) => {
    const answer = await send(shared(), []);
    expect(answer.status, what).toBe(status);
    expect(answer.headers.has('access-control-allow-origin')).toBe(false);
    expect(answer.headers.get('vary')).toBe('Origin, Authorization');
  },
);

test.each(['null', 'https://a.b.example:8443', 'http://localhost:3000', 'moz-extension://abc'])(
  'the origin %s is echoed as it was sent',
  async origin => {
    const answer = await ask(shared().port, PATH, { headers: [`Origin: ${origin}`] });
    expect(answer.headers.get('access-control-allow-origin')).toBe(origin);
  },
);

test('probes and pages allow no page of another origin', async () => {
  for (const target of ['/livez', '/readyz', '/metrics', '/', '/docs', '/openapi.json', '/nothing']) {
    const answer = await ask(shared().port, target, { headers: [`Origin: ${ORIGIN}`] });
    expect(answer.headers.has('access-control-allow-origin'), target).toBe(false);
  }
});

test('a shared cache that obeys the headers never mixes two callers', async () => {
  const { port, key } = shared();
  const keys = [(await key({ origins: ['https://a.example'] })).secret, (await key()).secret];
  const cache = new Map<string, Answer>();
  const through = async (secret: string, origin: string): Promise<Answer> => {
    for (const [name, kept] of cache) {
      const varies = kept.headers.get('vary')?.toLowerCase() ?? '';
      const same = name.split(' ');
      if (varies.includes('origin') && same[0] !== origin) continue;
      if (varies.includes('authorization') && same[1] !== secret) continue;
      return kept;
    }
    const answer = await ask(port, PATH, { key: secret, headers: [`Origin: ${origin}`] });
    cache.set(`${origin} ${secret}`, answer);
    return answer;
  };
  for (let round = 0; round < 2; round++) {
    for (const secret of keys) {
      for (const origin of ['https://a.example', 'https://b.example']) {
        const answer = await through(secret, origin);
        expect(answer.headers.get('access-control-allow-origin')).toBe(origin);
        expect(answer.status).toBe(secret === keys[0] && origin === 'https://b.example' ? 403 : 200);
        expect(answer.headers.get('cache-control')).toMatch(/^(private|no-store)/);
      }
    }
  }
});
