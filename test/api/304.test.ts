import { expect, test } from 'vitest';
import { ask } from '../support/answers.ts';
import { sharedService } from '../support/service.ts';

const shared = sharedService();
const PATH = '/v1/public/top-domains';

test('an unchanged list is 304 with the same ETag and no body, and counted', async () => {
  const { port, key, used } = shared();
  const made = await key({ quota: 10 });
  const first = await ask(port, PATH, { key: made.secret });
  expect(first.status).toBe(200);
  expect(first.headers.get('cache-control')).toBe('private, max-age=60');
  const etag = first.headers.get('etag')!;
  expect(etag).toMatch(/^"[!#-~]+"$/);

  const again = await ask(port, PATH, { key: made.secret, headers: [`If-None-Match: ${etag}`] });
  expect([again.status, again.body]).toEqual([304, '']);
  expect(again.headers.get('etag')).toBe(etag);
  expect(again.headers.get('cache-control')).toBe('private, max-age=60');
  expect(again.headers.get('vary')).toBe('Origin, Authorization');
  expect(again.headers.get('x-ratelimit-remaining')).toBe('8');
  expect(again.headers.get('ratelimit')).toMatch(/^"monthly";r=8;t=\d+$/);
  expect(again.headers.has('content-length')).toBe(false);
  expect(await used(made.key)).toBe(2);
});

test('If-None-Match is read as HTTP has it', async () => {
  const { port, key } = shared();
  const { secret } = await key();
  const etag = (await ask(port, PATH, { key: secret })).headers.get('etag')!;
  for (const [headers, status] of [
    [[`If-None-Match: W/${etag}`], 304],
    [[`If-None-Match: "other", ${etag}`], 304],
    [['If-None-Match: "other"', `If-None-Match: ${etag}`], 304],
    [['If-None-Match: *'], 304],
    [['If-None-Match: "other"'], 200],
    [[`If-None-Match: ${etag.slice(1, -1)}`], 200],
    [['If-None-Match:'], 200],
    [['If-Modified-Since: Fri, 01 Jan 2100 00:00:00 GMT'], 200],
  ] as const) {
    expect((await ask(port, PATH, { key: secret, headers })).status, headers.join()).toBe(status);
  }
  const head = await ask(port, PATH, {
    key: secret,
    method: 'HEAD',
    headers: [`If-None-Match: ${etag}`],
  });
  expect(head.status).toBe(304);
});

test('another limit or reason is another list', async () => {
  const { port, key } = shared();
  const { secret } = await key();
  const tags = new Set<string | undefined>();
  for (const query of ['', '?limit=1', '?limit=2', '?reason=undeliverable']) {
    tags.add((await ask(port, PATH + query, { key: secret })).headers.get('etag'));
  }
  expect(tags.size).toBe(4);
});

test('a tag opens no door: without a key it is 401, with no quota left 429', async () => {
  const { port, key } = shared();
  const { secret } = await key({ quota: 0 });
  const headers = ['If-None-Match: *'];
  expect((await ask(port, PATH, { headers })).status).toBe(401);
  expect((await ask(port, PATH, { key: secret, headers })).status).toBe(429);
});
