import { describe, expect, test } from 'vitest';
import { createRouter } from '../../src/http/router.ts';
import type { Route } from '../../src/http/routes.ts';

const route = (method: string, path: string, door = 'none', body?: object) =>
  ({ method, path, name: path, door, price: 1, body }) as unknown as Route;

const find = createRouter([
  route('GET', '/'),
  route('GET', '/v1/usage', 'key'),
  route('GET', '/v1/public/domain/{domain}', 'key'),
  route('POST', '/v1/check', 'key', {}),
  route('GET', '/admin/keys', 'operator'),
  route('POST', '/admin/keys', 'operator'),
  route('DELETE', '/admin/keys/{id}', 'operator'),
  route('POST', '/admin/keys/{id}/rotate', 'operator'),
]);

describe('a path', () => {
  test.each<[string, string | undefined, string]>([
    ['/', '/', ''],
    ['/v1/usage', '/v1/usage', ''],
    ['/v1/public/domain/{domain}', '/v1/public/domain/{domain}', ''],
    ['/admin/keys', '/admin/keys', ''],
    ['/admin/keys/k1', '/admin/keys/{id}', 'k1'],
    ['/admin/keys/%2F', '/admin/keys/{id}', '%2F'],
    ['/admin/keys/k1/rotate', '/admin/keys/{id}/rotate', 'k1'],
    ['/admin/keys/', undefined, ''],
    ['/admin/keys//rotate', undefined, ''],
    ['/admin/keys/k1/', undefined, ''],
    ['/admin/keys/k1/other', undefined, ''],
    ['/admin/keys/k1/rotate/more', undefined, ''],
    ['/other/keys/k1', undefined, ''],
    ['/v1/Usage', undefined, ''],
    ['/v1/usage/', undefined, ''],
    ['', undefined, ''],
    ['/__proto__', undefined, ''],
    [`/admin/keys/k1/rotate${'/x'.repeat(1_000)}`, undefined, ''],
  ])('%s leads to %s', (path, name, segment) => {
    const found = find(path);
    expect(found?.resource.name).toBe(name);
    if (found) expect(found.segment).toBe(segment);
  });
});

describe('what can be done at a path', () => {
  test.each<[string, string]>([
    ['/', 'GET, HEAD'],
    ['/v1/usage', 'GET, HEAD, OPTIONS'],
    ['/v1/check', 'POST, OPTIONS'],
    ['/admin/keys', 'GET, HEAD, POST'],
    ['/admin/keys/k1', 'DELETE'],
  ])('%s: %s', (path, allow) => {
    const { resource } = find(path)!;
    expect(resource.allow).toBe(allow);
    expect([...resource.routes.keys()].join(', ')).toBe(allow.replace(', OPTIONS', ''));
  });

  test('is told to pages of other origins for the API alone', () => {
    expect(find('/')!.resource).toMatchObject({ isApi: false, preflight: undefined });
    expect(find('/admin/keys')!.resource.preflight).toBeUndefined();
    expect(find('/v1/usage')!.resource.preflight).toEqual([
      ...['Access-Control-Allow-Methods', 'GET, HEAD, OPTIONS'],
      ...['Access-Control-Allow-Headers', 'Authorization, If-None-Match, X-Request-Id, traceparent'],
      ...['Access-Control-Max-Age', '86400', 'Allow', 'GET, HEAD, OPTIONS'],
    ]);
    expect(find('/v1/check')!.resource.preflight).toContain(
      'Authorization, If-None-Match, X-Request-Id, traceparent, Content-Type',
    );
  });
});
