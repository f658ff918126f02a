import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { consoleRoutes } from '../../src/http/endpoints/console.ts';
import { createMetrics } from '../../src/http/metrics.ts';
import { Port } from '../../src/http/port.ts';
import { ask, expectError } from '../support/answers.ts';
import { sharedService } from '../support/service.ts';

const shared = sharedService();
const DIST = join(import.meta.dirname, '..', '..', 'console', 'dist');

/** What the page loads from the start: everything that its markup names. */
async function firstLoad(): Promise<string[]> {
  const { body } = await ask(shared().port, '/');
  return [...body.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(match => match[1]!);
}

/** As a browser asks: bytes, and whether they came packed. */
async function fetchBytes(path: string, encoding: string) {
  const answer = await fetch(shared().base + path, { headers: { 'accept-encoding': encoding } });
  return { answer, body: Buffer.from(await answer.arrayBuffer()) };
}

test('the page and everything that it names are there, each with its type', async () => {
  const { port } = shared();
  const page = await ask(port, '/');
  expect(page.status).toBe(200);
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(page.body).toBe(readFileSync(join(DIST, 'index.html'), 'utf8'));
  const types = new Set<string>();
  for (const path of await firstLoad()) {
    const { status, headers, body } = await ask(port, path);
    expect([status, body.length > 0], path).toEqual([200, true]);
    types.add(headers.get('content-type')!);
  }
  expect([...types].sort()).toEqual([
    'image/svg+xml',
    'text/css; charset=utf-8',
    'text/javascript; charset=utf-8',
  ]);
});

test('the first load is at most 60 kB gzipped', async () => {
  let bytes = 0;
  for (const path of ['/', ...(await firstLoad())]) {
    const answer = await ask(shared().port, path, { method: 'HEAD', headers: ['Accept-Encoding: gzip'] });
    expect(answer.headers.get('content-encoding'), path).toBe('gzip');
    bytes += Number(answer.headers.get('content-length'));
  }
  expect(bytes).toBeGreaterThan(10_000);
  expect(bytes).toBeLessThanOrEqual(60_000);
});

test('every file of the console lets nothing in from elsewhere and nothing inline', async () => {
  for (const path of ['/', ...(await firstLoad())]) {
    const { headers } = await ask(shared().port, path);
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
    expect(headers.get('vary')).toBe('Accept-Encoding');
    expect(headers.has('access-control-allow-origin')).toBe(false);
  }
});

test('the page is asked for again each time and is 304 when it is the same; assets are kept for ever', async () => {
  const { port } = shared();
  const page = await ask(port, '/');
  expect(page.headers.get('cache-control')).toBe('no-cache');
  const etag = page.headers.get('etag')!;
  for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
    const again = await ask(port, '/', { headers: [`If-None-Match: ${known}`] });
    expect([again.status, again.body, again.headers.get('etag')], known).toEqual([304, '', etag]);
    expect(again.headers.get('content-security-policy')).toBeDefined();
  }
  expect((await ask(port, '/', { headers: ['If-None-Match: "other"'] })).status).toBe(200);
  // Another encoding is another representation.
  const headers = [`If-None-Match: ${etag}`, 'Accept-Encoding: gzip'];
  expect((await ask(port, '/', { headers })).status).toBe(200);
  for (const path of await firstLoad()) {
    const { headers } = await ask(port, path);
    expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  }
});

test.each([
  ['gzip', true],
  ['gzip, deflate, br, zstd', true],
  ['GZIP', true],
  ['*', true],
  ['br, *;q=0.5', true],
  ['gzip;q=0.1', true],
  ['gzip;q=0', false],
  ['gzip; q=0.0, *', false],
  ['identity', false],
  ['br', false],
  ['', false],
])('with Accept-Encoding: %s the page comes packed: %s', async (encoding, isPacked) => {
  const answer = await ask(shared().port, '/', { method: 'HEAD', headers: [`Accept-Encoding: ${encoding}`] });
  expect(answer.headers.get('content-encoding')).toBe(isPacked ? 'gzip' : undefined);
});

test('packed and plain hold the same bytes', async () => {
  for (const path of ['/', ...(await firstLoad())]) {
    const packed = await fetchBytes(path, 'gzip');
    const plain = await fetchBytes(path, 'identity');
    expect(packed.answer.headers.get('content-encoding')).toBe('gzip');
    expect(packed.body.equals(plain.body), path).toBe(true);
    expect(plain.body.length, path).toBe(Number(plain.answer.headers.get('content-length')));
  }
});

test('HEAD has the headers and no body', async () => {
  for (const path of ['/', ...(await firstLoad())]) {
    const get = await ask(shared().port, path);
    const head = await ask(shared().port, path, { method: 'HEAD' });
    expect([head.status, head.body]).toEqual([200, '']);
    expect(head.headers.get('content-length')).toBe(get.headers.get('content-length'));
  }
});

test.each([
  '/assets',
  '/assets/',
  '/assets/nothing.js',
  '/assets/../index.html',
  '/index.html',
  '/.built-from',
])('%s is 404', async path => {
  expectError(await ask(shared().port, path), 404, 'not_found');
});

test('without a built console the page says so, and how to build it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'domain-risk-console-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const port = new Port({
    log: pino({ enabled: false }),
    accessLog: 'off',
    metrics: createMetrics(),
    operatorRefusal: () => undefined,
    callerRefusal: async () => undefined,
    rowOf: () => undefined,
    isFull: () => false,
    isBehind: () => false,
    isTrustedProxy: () => false,
    mostConnections: 1_000,
    connectionsPerAddress: 100,
    hasLane: false,
  });
  port.add(consoleRoutes({ docs: true, metrics: true, folder }));
  await port.listen({ host: '127.0.0.1', port: 0 });
  onTestFinished(() => port.drain());
  const { port: number } = port.server.address() as { port: number };
  const { status, headers, body } = await ask(number, '/');
  expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  expect(body).toContain('npm run build:console');
  expect(body).toContain('href="/openapi.json"');
  expect(headers.get('content-security-policy')).toContain("default-src 'none'");
  expect((await ask(number, '/docs')).body).toContain('npm run build:console');
});
