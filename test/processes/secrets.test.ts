import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeKey, runJson, SECRET, startServer } from '../support/process.ts';
import { rawRequest } from '../support/service.ts';

/** The part that nobody may ever see: neither the shown beginning nor the shown end. */
const hidden = (secret: string) => secret.slice(8, -4);

function commandLines(): string {
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .map(pid => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      } catch {
        return '';
      }
    })
    .join('\n');
}

test('no secret is in the store, its journal, the logs, the metrics, a page, an error or the process list', async () => {
  const token = 'the-token-of-operators-and-of-nobody-else';
  const env = { ACCESS_LOG: 'all', LOG_LEVEL: 'trace', ADMIN_TOKEN: token };
  const server = await startServer({ env });
  const { folder, base, port } = server;
  const first = server.firstKey!;
  const made = await makeKey(folder, '--quota', '50');
  const rotated = await runJson<{ key: string }>(['keys', 'rotate', made.id, '--overlap', '1h'], { folder });
  const operator = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const body = '{"name":"over HTTP"}';
  const created = await fetch(`${base}/admin/keys`, { method: 'POST', headers: operator, body });
  const { key } = (await created.json()) as { key: string };
  const secrets = [first, made.key, rotated.key, key, token];
  const bodies: string[] = [];
  const paths = (secret: string) => [
    '/v1/public/domain/gmail.com',
    '/v1/public/domain/mailinator.com?explain=true',
    '/v1/public/top-domains?limit=0',
    `/v1/public/domain/gmail.com?api_key=${secret}`,
    `/v1/public/domain/${secret}`,
    `/v1/public/domain/${secret}@example.com`,
    `/${secret}`,
    '/admin/keys',
    `/admin/keys/${secret}`,
  ];
  for (const secret of secrets) {
    for (const path of paths(secret)) {
      for (const authorization of [`Bearer ${secret}`, `Bearer  ${secret}`, secret, `Basic ${secret}`]) {
        const response = await fetch(base + path, {
          headers: { authorization, referer: `${base}/?k=${secret}` },
        });
        const head = JSON.stringify([...response.headers]);
        bodies.push(head, await response.text());
      }
    }
    bodies.push(
      await rawRequest(port, `GET / HTTP/1.1\r\nHost: a\r\nAuthorization : Bearer ${secret}\r\n\r\n`),
    );
  }
  const acts = await runJson<object[]>(['audit'], { folder });
  expect(acts.at(-1)).toMatchObject({
    who: 'domain-risk',
    via: 'first start',
    action: 'key.create',
    detail: 'name "first"',
  });
  const lists = JSON.stringify([acts, await runJson(['keys', 'list'], { folder })]);
  const pages = await Promise.all(
    ['/metrics', '/', '/docs', '/openapi.json', '/readyz'].map(async path => (await server.get(path)).text()),
  );
  const files = readdirSync(folder).map(name => readFileSync(join(folder, name), 'latin1'));
  expect(readdirSync(folder)).toContain('domain-risk.db-wal');
  // The first key is shown to the operator, once and outside the log.
  const said = server.stdout().split('\n');
  const shown = said.filter(line => SECRET.test(line));
  expect(shown).toEqual([
    `  ${first}`,
    expect.stringContaining(`  curl -H "Authorization: Bearer ${first}"`),
  ]);
  const logged = said.filter(line => !shown.includes(line)).join('\n') + server.stderr();
  expect(logged).toContain('"route"');
  const places = { bodies: bodies.join('\n'), lists, pages: pages.join('\n'), logged, ps: commandLines() };
  for (const secret of secrets) {
    for (const [place, text] of Object.entries(places))
      expect([place, text.includes(hidden(secret))]).toEqual([place, false]);
    for (const bytes of files) expect(bytes.includes(hidden(secret))).toBe(false);
  }
  // Each line of the log is one JSON object of a bounded size, whatever was asked.
  for (const line of logged.split('\n').filter(text => text.startsWith('{'))) {
    expect(Buffer.byteLength(line)).toBeLessThanOrEqual(2048);
    expect(JSON.parse(line)).toBeTypeOf('object');
  }
});
