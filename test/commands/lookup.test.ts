import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { type LookupOptions, usageProblem } from '../../src/commands/lookup.ts';
import { mx } from '../support/dns.ts';
import { CLI, environment, run, runJson, startChild } from '../support/process.ts';
import { sharedService, temporaryFolder } from '../support/service.ts';

const shared = sharedService();
/** The command asks the same loopback DNS server as the service. */
const beside = () => ({ folder: shared().folder, env: { DNS_SERVERS: shared().dns.address } });
let secret = '';
async function answered(path: string): Promise<unknown> {
  if (secret === '') secret = (await shared().key()).secret;
  const response = await shared().get(path, secret);
  expect(response.status).toBe(200);
  return response.json();
}

test('an override reaches a running server at once, shows in its evidence, and goes again', async () => {
  const domain = 'partner.example.com';
  const path = `/v1/public/domain/${domain}?explain=true`;
  expect(await answered(path)).toMatchObject({ reason: 'undeliverable' });
  const options = ['--note', 'our supplier', '--author', 'op', '--expires', '2099-12-31', '--below'];
  const set = await runJson(['overrides', 'set', 'PARTNER.example.com.', 'allow', ...options], beside());
  expect(set).toEqual({
    domain,
    action: 'allow',
    below: true,
    note: 'our supplier',
    author: 'op',
    created_at: expect.stringMatching(/Z$/),
    expires_at: '2099-12-31T00:00:00Z',
  });
  const allowed = (await answered(path)) as { evidence: { signals: { signal: string }[] } };
  expect(allowed).toMatchObject({ reason: 'safe', risk_score: 0 });
  expect(JSON.stringify(allowed.evidence.signals)).toMatch(/override/);
  expect(await answered(`/v1/public/domain/below.${domain}`)).toMatchObject({
    reason: 'safe',
    risk_score: 0,
  });
  expect(await runJson(['overrides', 'list'], beside())).toEqual([set]);
  const table = await run(['overrides', 'list'], beside());
  expect(table.stdout).toMatch(/^DOMAIN +ACTION/);
  expect(table.stdout).toMatch(/partner\.example\.com +allow +yes +our supplier +op +2099-12-31/);

  await runJson(['overrides', 'set', domain, 'deny'], beside());
  expect(await answered(path)).toMatchObject({ reason: 'disposable', risk_score: 100 });
  expect(await runJson(['overrides', 'remove', domain], beside())).toEqual({ domain, removed: true });
  expect(await answered(path)).toMatchObject({ reason: 'undeliverable' });
  const again = await run(['overrides', 'remove', domain], beside());
  expect([again.code, again.stdout]).toEqual([1, '']);
  expect(again.stderr).toMatch(/no override for partner\.example\.com/);
});

test('lookup gives the verdict that the server gives, with DNS', async () => {
  const domain = 'shop.example.net';
  shared().dns.zones.set(domain, { records: [mx(domain, 1, 'aspmx.l.google.com')] });
  const fromServer = await answered(`/v1/public/domain/${domain}?explain=true`);
  expect(fromServer).toMatchObject({ reason: 'safe', is_corporate_email: true });
  expect(await runJson(['lookup', domain, '--explain'], beside())).toEqual(fromServer);
  const people = await run(['lookup', domain, '--explain'], beside());
  expect(people.code).toBe(0);
  expect(people.stdout).toMatch(/^reason +safe$/m);
  expect(people.stdout).toMatch(/^SIGNAL +POINTS +DETAIL$/m);
  expect(people.stdout).toMatch(/^dns mx: aspmx\.l\.google\.com$/m);
});

test('lookup offline asks nobody, and agrees on what lists and tables decide', async () => {
  const asked = shared().dns.questions.length;
  // One after the other, by one process.
  const known = await runJson(['lookup', 'gmail.com', '--offline'], beside());
  const unknown = await runJson(['lookup', 'offline.example.net', '--offline'], beside());
  expect(shared().dns.questions.length).toBe(asked);
  expect(known).toEqual(await answered('/v1/public/domain/gmail.com'));
  expect(unknown).toEqual({
    domain: 'offline.example.net',
    risk_score: 40,
    reason: 'safe',
    is_free_provider: false,
    is_corporate_email: false,
    mx_provider_label: null,
  });
});

test('lookup on a machine without a store makes none, and says what it did without', async () => {
  const folder = join(temporaryFolder(), 'var');
  const { stdout, stderr } = await run(['lookup', 'mailinator.com', '--offline', '--json'], { folder });
  expect(JSON.parse(stdout)).toMatchObject({ risk_score: 100 });
  expect(stderr).toBe(
    `no store at ${join(folder, 'domain-risk.db')}: judged without overrides, updated lists and learned hosts\n`,
  );
  expect(existsSync(folder)).toBe(false);
});

test('top shows what the server lists, as a table or as the API answers', async () => {
  await answered('/v1/public/domain/inbox.mailinator.com');
  const fromServer = (await answered('/v1/public/top-domains?limit=5')) as { domains: unknown[] };
  expect(fromServer.domains[0]).toMatchObject({ domain: 'mailinator.com' });
  expect(await runJson(['top', '--limit', '5'], beside())).toEqual(fromServer);
  const people = await run(['top', '--limit', '2', '--reason', 'disposable'], beside());
  expect(people.stdout.trim().split('\n')).toHaveLength(3);
  expect(people.stdout).toMatch(/^DOMAIN +RISK SCORE +REASON\nmailinator\.com +100 +disposable\n/);
});

test('lookup of a file answers as the service does, judged here or by a service, as JSON, CSV or a table', async () => {
  const domain = 'filed.example.net';
  shared().dns.zones.set(domain, { records: [mx(domain, 1, 'aspmx.l.google.com')] });
  const made = await shared().key({ quota: 100 });
  const folder = temporaryFolder();
  const [plain, table, keyFile] = ['names.txt', 'people.csv', 'key'].map(name => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const names = ['gmail.com', `jane.doe@${domain}`, 'bad_name.com', 'mailinator.com', 'nowhere'];
  writeFileSync(plain, `\ufeff${names.join('\r\n')}\n\n`);
  writeFileSync(table, `id,Email\n${names.map((name, at) => `${at},"${name}"`).join('\n')}\n`);
  writeFileSync(keyFile, made.secret);
  const body = JSON.stringify({
    domains: ['gmail.com', domain, 'bad_name.com', 'mailinator.com', 'nowhere'],
  });
  const headers = { authorization: `Bearer ${made.secret}`, 'content-type': 'application/json' };
  const response = await fetch(`${shared().base}/v1/public/domains`, { method: 'POST', headers, body });
  const fromServer = (await response.json()) as { results: object[]; count: number };
  expect(fromServer.count).toBe(5);
  expect(await runJson(['lookup', '--file', plain], beside())).toEqual(fromServer);

  const url = ['--url', shared().base, '--key-file', keyFile];
  const remote = await run(['lookup', '--file', table, '--column', 'email', '--csv', ...url], beside());
  expect(remote).toMatchObject({ code: 0, stderr: 'Done: 3 results, 2 invalid\n' });
  expect(remote.stdout.split('\n').map(line => line.split(',').slice(0, 4).join(','))).toEqual([
    'input,domain,risk_score,reason',
    'gmail.com,gmail.com,5,safe',
    `jane.doe@${domain},${domain},3,safe`,
    'bad_name.com,bad_name.com,,',
    'mailinator.com,mailinator.com,100,disposable',
    'nowhere,nowhere,,',
    '',
  ]);
  // What holds no domain was not sent.
  expect(await shared().used(made.key)).toBe(5 + 3);
  // As a spreadsheet saves it in Europe as "Unicode text".
  writeFileSync(table, `\ufeffid;Email\r\n1;gmail.com\r\n2;\r\n`, 'utf16le');
  const saved = await run(['lookup', '--file', table, '--column', 'email', '--offline', '--csv'], beside());
  expect(saved).toMatchObject({
    stdout: expect.stringMatching(/\ngmail\.com,gmail\.com,5,safe,.*\n$/),
    stderr: 'rows without a value in column email, left out: 1\nDone: 1 results, 0 invalid\n',
  });
  const people = await run(['lookup', '--file', plain, '--offline'], beside());
  expect(people.stdout).toMatch(/^DOMAIN +RISK SCORE +REASON +MX PROVIDER\ngmail\.com +5 +safe +Gmail\n/);
});

test('lookup of a file by a service writes all that was counted when the quota ends, and says what has no answer', async () => {
  const { key, secret } = await shared().key({ quota: 3 });
  const folder = temporaryFolder();
  const [file, keyFile] = [join(folder, 'names.txt'), join(folder, 'key')];
  writeFileSync(file, 'gmail.com\nmailinator.com\nnowhere\nyopmail.com\noutlook.com\n');
  writeFileSync(keyFile, secret);
  const asked = ['lookup', '--file', file, '--url', shared().base, '--key-file', keyFile];
  const { code, stdout, stderr } = await run([...asked, '--csv'], beside());
  const lines = stdout.split('\n').map(line => line.split(','));
  expect(lines.slice(1, -1).map(([input, , score, , , , , , error]) => [input, score, error])).toEqual([
    ['gmail.com', '5', ''],
    ['mailinator.com', '100', ''],
    ['nowhere', '', 'validation_error'],
    ['yopmail.com', '100', ''],
    ['outlook.com', '', 'quota_exceeded'],
  ]);
  expect(stderr).toMatch(
    /^Done: 3 results, 1 invalid, 1 not looked up\ndomain-risk: 1 not looked up: http.* quota/,
  );
  expect([code, await shared().used(key)]).toEqual([1, 3]);
  // Where nothing at all was answered there is nothing to write.
  expect(await run(asked, beside())).toMatchObject({ code: 1, stdout: '' });
});

test('lookup of a file by a service writes what was answered when it is interrupted', async () => {
  const folder = temporaryFolder();
  const [file, keyFile] = [join(folder, 'names.txt'), join(folder, 'key')];
  writeFileSync(file, Array.from({ length: 1_001 }, (_, at) => `a${at}.com`).join('\n'));
  writeFileSync(keyFile, 'drk_x');
  let calls = 0;
  const server = createServer(async (request, response) => {
    // Of the second call nothing is heard any more.
    if (++calls === 2) return void child.kill('SIGINT');
    const { domains } = (await json(request)) as { domains: string[] };
    const fields = { risk_score: 5, reason: 'safe', is_free_provider: false, is_corporate_email: false };
    const results = domains.map(domain => ({ domain, ...fields, mx_provider_label: null }));
    response.end(JSON.stringify({ results, count: results.length }));
  });
  onTestFinished(() => void server.close().closeAllConnections());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const command = [process.execPath, CLI, 'lookup', '--file', file, '--url', url, '--key-file', keyFile];
  const { child, exited, stdout } = startChild([...command, '--csv'], environment(folder, {}));
  expect((await exited).code).toBe(1);
  const lines = stdout().trimEnd().split('\n');
  expect([lines.length, lines[1000], lines[1001]]).toEqual([
    1_002,
    'a999.com,a999.com,5,safe,false,false,,,,',
    'a1000.com,a1000.com,,,,,,,aborted,Interrupted.',
  ]);
});

test.each<[string | undefined, LookupOptions, RegExp | undefined]>([
  ['a.com', {}, undefined],
  [undefined, { file: 'x', csv: true, column: 'email' }, undefined],
  ['a.com', { url: 'http://a', keyFile: 'x', explain: true, json: true }, undefined],
  [undefined, {}, /name a domain, or a file/],
  ['a.com', { file: 'x' }, /name a domain, or a file/],
  ['a.com', { csv: true }, /need --file/],
  ['a.com', { column: 'email' }, /need --file/],
  [undefined, { file: 'x', explain: true }, /for one domain/],
  [undefined, { file: 'x', json: true, csv: true }, /not both/],
  ['a.com', { keyFile: 'x' }, /needs --url/],
  ['a.com', { url: 'http://a', keyFile: 'x', offline: true }, /one of them/],
])('what is wrong with lookup of %j with %j is %s', (domain, options, message) => {
  const problem = usageProblem(domain, options);
  if (message) expect(problem).toMatch(message);
  else expect(problem).toBeUndefined();
});
