import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { newLastSecret } from '../../src/core/door.ts';
import { secretFrom } from '../../src/core/key.ts';
import { Whose } from '../../src/http/whose.ts';
import { turn } from '../support/scale.ts';

const head = (target: string, ...lines: string[]) =>
  Buffer.from([`GET ${target} HTTP/1.1`, 'Host: x', ...lines, '', ''].join('\r\n'));
const STRANGER = { name: '192.0.2.1', kind: 'stranger' };

test('a request takes the turn of its key for as long as that is known, of its address otherwise', () => {
  let known: string | undefined = 'k1';
  const whose = new Whose('192.0.2.1', sent => (sent === 'Bearer a' ? known : undefined));
  const lastSecret = newLastSecret();
  const of = (bytes: Buffer) => whose.of(bytes, lastSecret);
  expect(of(head('/1', 'Authorization: Bearer a'))).toEqual({ name: 'k1', kind: 'key' });
  expect(of(head('/2', 'Authorization: Bearer a'))).toEqual({ name: 'k1', kind: 'key' });
  expect(of(head('/2', 'Authorization: Bearer b'))).toEqual(STRANGER);
  expect(of(head('/2'))).toEqual(STRANGER);
  expect(of(head('/2', 'Authorization: Bearer a'))).toEqual({ name: 'k1', kind: 'key' });
  // Revoked meanwhile.
  known = undefined;
  expect(of(head('/3', 'Authorization: Bearer a'))).toEqual(STRANGER);
});

test('who brings what may be a key and is not known yet claims to be no stranger; with anything else it is one', () => {
  const whose = new Whose('192.0.2.1', () => undefined);
  const secret = secretFrom(new Uint8Array(32).fill(7));
  const wrong = `${secret.slice(0, -1)}${secret.endsWith('a') ? 'b' : 'a'}`;
  const of = (sent: string, target = '/v1/usage') =>
    whose.of(head(target, `Authorization: ${sent}`), newLastSecret());
  expect(of(`Bearer ${secret}`)).toEqual({ name: 'claim 192.0.2.1', kind: 'claim' });
  const preflight = (target: string) =>
    whose.of(Buffer.from(head(target).toString().replace('GET', 'OPTIONS')), newLastSecret());
  expect(preflight('/v1/usage')).toEqual({ name: 'claim 192.0.2.1', kind: 'claim' });
  for (const sent of [`Bearer ${wrong}`, `Basic ${secret}`, 'Bearer']) expect(of(sent)).toEqual(STRANGER);
  // No page needs a key.
  for (const target of ['/', '/v1', '/openapi.json', '/docs?/v1/']) {
    expect(of(`Bearer ${secret}`, target)).toEqual(STRANGER);
    expect(preflight(target)).toEqual(STRANGER);
  }
});

test("who watches has a row of its own, unless its connection is the parser's: what that reads takes three times as long", () => {
  const whose = new Whose('192.0.2.1', () => undefined);
  const of = (isDear: boolean) => whose.of(head('/livez'), newLastSecret(), isDear);
  expect(of(false)).toEqual({ name: 'probe 192.0.2.1', kind: 'probe' });
  expect(of(true)).toEqual(STRANGER);
});

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

test('a long request is kept by no connection, so that many of them do not fill the memory', async () => {
  const bytes = head('/1', 'Authorization: Bearer a', `Cookie: ${'x'.repeat(8_000)}`);
  collect();
  const before = process.memoryUsage().arrayBuffers;
  const all = Array.from({ length: 1_000 }, () => new Whose('192.0.2.1', () => undefined));
  for (const whose of all) whose.of(bytes, newLastSecret());
  collect();
  // Eight million where each keeps it (2026-11-17).
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(2_000_000);
  expect(all).toHaveLength(1_000);
});

test('of what came together with a request nothing is kept', async () => {
  const whose = new Whose('192.0.2.1', () => undefined);
  const chunk = () => {
    const bytes = head('/1', 'Authorization: Bearer a');
    const all = Buffer.alloc(64 * 1024);
    bytes.copy(all);
    whose.of(all.subarray(0, bytes.length), newLastSecret());
    return new WeakRef(all.buffer);
  };
  const kept = chunk();
  for (let tries = 0; tries < 10 && kept.deref(); tries++) {
    await turn();
    collect();
  }
  expect(kept.deref()).toBeUndefined();
});

test('what the connection knows from its last call is not looked for again', () => {
  const whose = new Whose('192.0.2.1', () => {
    throw new Error('asked');
  });
  const lastSecret = { ...newLastSecret(), authorization: 'Bearer a', row: 'k1' };
  const bytes = head('/1', 'Authorization: Bearer a');
  expect(whose.of(bytes, lastSecret)).toEqual({ name: 'k1', kind: 'key' });
  expect(whose.of(undefined, lastSecret)).toEqual({ name: 'k1', kind: 'key' });
  // A call that was refused takes the name away.
  lastSecret.row = undefined as never;
  expect(whose.of(bytes, lastSecret)).toEqual(STRANGER);
});

test('who watches the service has a row of its own, with a key or without', () => {
  const whose = new Whose('192.0.2.1', () => 'k1');
  const probe = { name: 'probe 192.0.2.1', kind: 'probe' };
  expect(whose.of(head('/livez', 'Authorization: Bearer a'), newLastSecret())).toEqual(probe);
});

test('behind a trusted proxy everybody has a row of its own, by the address that the proxy tells', () => {
  const whose = new Whose(
    '10.0.0.1',
    (sent, address) => (sent === 'Bearer a' ? `k1 ${address}` : undefined),
    address => address.startsWith('10.'),
  );
  const lastSecret = { ...newLastSecret(), authorization: 'Bearer a', row: 'k1 192.0.2.9' };
  const of = (...lines: string[]) => {
    const { name, within } = whose.of(head('/1', ...lines), lastSecret);
    return within === undefined ? name : [name, within];
  };
  expect(of('X-Forwarded-For: 192.0.2.7')).toBe('192.0.2.7');
  expect(of('X-Forwarded-For: 192.0.2.8, 10.0.0.2')).toBe('192.0.2.8');
  expect(of('Authorization: Bearer a', 'X-Forwarded-For: 192.0.2.7')).toEqual(['k1', '192.0.2.7']);
  expect(whose.payer).toBe('k1');
  expect(of('Authorization: Bearer b', 'X-Forwarded-For: 192.0.2.7')).toBe('192.0.2.7');
  expect(whose.payer).toBeUndefined();
  // What a client says itself stands before what the proxy adds, be that in a line of its own.
  expect(of('X-Forwarded-For: 198.51.100.1', 'X-Forwarded-For: 192.0.2.7')).toBe('192.0.2.7');
  expect(of()).toBe('10.0.0.1');
});
