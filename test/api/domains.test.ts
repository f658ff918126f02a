import { connect } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { ACT } from '../support/act.ts';
import { ask, expectError, parseAnswers, type Question } from '../support/answers.ts';
import { mx } from '../support/dns.ts';
import { failNextSpend } from '../support/failing.ts';
import { eventually, pause } from '../support/scale.ts';
import { rawRequest, sharedService, startTestService, untilServed } from '../support/service.ts';

const time = { now: Date.UTC(2026, 10, 15) };
const shared = sharedService({ clock: () => time.now, env: { ACCESS_LOG: 'all' } });
const PATH = '/v1/public/domains';

interface Entry {
  domain: string;
  risk_score?: number;
  degraded?: string;
  error?: string;
  detail?: string;
  evidence?: { dns: { state: string } };
}

async function post(body: unknown, question: Question & { target?: string; port?: number } = {}) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const { headers = ['Content-Type: application/json'], target = PATH, port = shared().port } = question;
  const length = `Content-Length: ${Buffer.byteLength(text)}`;
  // Sent as bytes, one character each.
  const bytes = Buffer.from(text).toString('latin1');
  return ask(port, target, { method: 'POST', ...question, headers: [...headers, length], body: bytes });
}

async function looked(domains: readonly string[], query = ''): Promise<Entry[]> {
  const { secret } = await shared().key();
  const answer = await post({ domains }, { key: secret, target: PATH + query });
  expect(answer.status, answer.body).toBe(200);
  expect(answer.headers.get('cache-control')).toMatch(/^private, max-age=(?:300|30)$/);
  const { results, count } = JSON.parse(answer.body) as { results: Entry[]; count: number };
  expect([results.length, count]).toEqual([domains.length, domains.length]);
  return results;
}

async function alone(name: string, query = ''): Promise<unknown> {
  const { secret } = await shared().key();
  return (await shared().get(`/v1/public/domain/${encodeURIComponent(name)}${query}`, secret)).json();
}

test('many names are answered in their order, each as it is alone', async () => {
  shared().dns.zones.set('many-corp.com', { records: [mx('many-corp.com', 1, 'aspmx.l.google.com')] });
  const names = [
    'GMAIL.com.',
    'many-corp.com',
    'mailinator.com',
    'münchen.de',
    'many-none.com',
    'gmail.com',
    'x.test',
  ];
  const results = await looked(names);
  for (const [at, name] of names.entries()) expect(results[at]).toEqual(await alone(name));
  const explained = await looked(names.slice(0, 3), '?explain=true');
  for (const [at, name] of names.slice(0, 3).entries())
    expect(explained[at]).toEqual(await alone(name, '?explain=true'));
});

test('what is no domain is an entry of its own, as it was sent, and counts', async () => {
  const { key, used } = shared();
  const made = await key({ quota: 10 });
  const bad = ['bad_name.com', 'jane.doe@gmail.com', '', '"\u0000\ud800', 'co.uk'];
  const answer = await post({ domains: [...bad, 'gmail.com'] }, { key: made.secret });
  const { results } = JSON.parse(answer.body) as { results: Entry[] };
  for (const [at, name] of bad.entries()) {
    expect(results[at]).toEqual({
      domain: name,
      error: 'validation_error',
      detail: expect.stringMatching(/\w{3}/),
    });
    expect(Object.keys(results[at]!)).toEqual(['domain', 'error', 'detail']);
  }
  expect(results.at(-1)).toMatchObject({ domain: 'gmail.com', risk_score: 5 });
  expect(answer.headers.get('x-ratelimit-remaining')).toBe('4');
  expect(await used(made.key)).toBe(6);
  expect(shared().logged.join('')).not.toContain('jane');
});

test('a thousand names and duplicates count one by one', async () => {
  const { key, used } = shared();
  const made = await key({ quota: 1_000 });
  const domains = Array.from({ length: 1_000 }, (_, at) =>
    at % 2 === 0 ? 'gmail.com' : `x${at}.mailinator.com`,
  );
  const answer = await post({ domains }, { key: made.secret });
  expect(answer.status).toBe(200);
  expect((JSON.parse(answer.body) as { results: Entry[] }).results.map(({ domain }) => domain)).toEqual(
    domains,
  );
  expect(answer.headers.get('x-ratelimit-remaining')).toBe('0');
  expect(await used(made.key)).toBe(1_000);
});

test('fewer left than names is 429, counts none, and says how many are left', async () => {
  const { key, used, questions } = shared();
  const made = await key({ quota: 3 });
  const asked = await questions();
  const answer = await post(
    { domains: ['a-many.com', 'b-many.com', 'c-many.com', 'd-many.com'] },
    { key: made.secret },
  );
  const { detail, reset_at } = expectError(answer, 429, 'quota_exceeded');
  expect(detail).toBe('quota: 3 calls per month, 3 left for 4 names');
  expect(reset_at).toBe('2026-12-01T00:00:00Z');
  expect(answer.headers.get('x-ratelimit-remaining')).toBe('3');
  expect(asked()).toEqual([]);
  expect(await used(made.key)).toBe(0);
  expect((await post({ domains: ['gmail.com', 'gmail.com'] }, { key: made.secret })).status).toBe(200);
  expectError(
    await post({ domains: ['gmail.com', 'gmail.com'] }, { key: made.secret }),
    429,
    'quota_exceeded',
  );
  expect((await post({ domains: ['gmail.com'] }, { key: made.secret })).status).toBe(200);
  expect(await used(made.key)).toBe(3);
});

test('calls with one name and with several at once fill a quota exactly', async () => {
  const { key, used, get } = shared();
  const made = await key({ quota: 101 });
  const calls = Array.from({ length: 80 }, async (_, at) => {
    const names = [1, 2, 5][at % 3]!;
    if (names === 1) {
      const response = await untilServed(() => get('/v1/public/domain/gmail.com', made.secret));
      await response.body?.cancel();
      return response.ok ? 1 : 0;
    }
    const domains = Array(names).fill('gmail.com');
    const answer = await untilServed(() => post({ domains }, { key: made.secret }));
    expect([200, 429]).toContain(answer.status);
    return answer.status === 200 ? names : 0;
  });
  const counted = (await Promise.all(calls)).reduce((sum, names) => sum + names, 0);
  expect(counted).toBe(await used(made.key));
  // The last refused calls may have had several names with room for fewer: single ones take the rest, to the last.
  expect(counted).toBeGreaterThan(101 - 5);
  for (let left = 101 - counted; left >= 0; left--) {
    const response = await get('/v1/public/domain/gmail.com', made.secret);
    await response.body?.cancel();
    expect(response.status).toBe(left > 0 ? 200 : 429);
  }
  expect(await used(made.key)).toBe(101);
});

test('a rate limit takes one token for each request, before the quota', async () => {
  const { key, used } = shared();
  const made = await key({ rate: 2, quota: 100 });
  const domains = Array(30).fill('gmail.com');
  const statuses = [];
  for (let one = 0; one < 3; one++) statuses.push((await post({ domains }, { key: made.secret })).status);
  expect(statuses).toEqual([200, 200, 429]);
  expect(await used(made.key)).toBe(60);
});

test.each([
  ['{}', 'domains must be a list of 1 to 1000 names'],
  ['', 'domains must be a list of 1 to 1000 names'],
  ['{"domains":[]}', 'domains must be a list of 1 to 1000 names'],
  ['{"domains":"gmail.com"}', 'domains must be a list of 1 to 1000 names'],
  ['{"domains":["gmail.com",5]}', 'domains must be a list of 1 to 1000 names'],
  ['{"domains":["gmail.com"],"explain":true}', /"explain" is not a field/],
  ['["gmail.com"]', /JSON object/],
  ['null', /JSON object/],
  ['{"domains":["gmail.com"', /not valid JSON/],
  ['{"domains":["gmail.com"],"__proto__":{}}', /not valid JSON/],
  [JSON.stringify({ domains: Array(1_001).fill('a.com') }), 'domains must be a list of 1 to 1000 names'],
  ['['.repeat(100_000), 'domains must be a list of 1 to 1000 names'],
])('the body %s is 422, and uncounted', async (body, detail) => {
  const { key, used } = shared();
  const made = await key({ quota: 5 });
  const answer = await post(body, { key: made.secret });
  expect(expectError(answer, 422, 'validation_error').detail).toMatch(detail);
  expect(answer.headers.has('x-ratelimit-remaining')).toBe(false);
  expect(await used(made.key)).toBe(0);
});

test('explain=maybe, another type and a body that is too large are refused, and uncounted', async () => {
  const { key, used, port } = shared();
  const made = await key({ quota: 5 });
  const body = { domains: ['gmail.com'] };
  const maybe = await post(body, { key: made.secret, target: `${PATH}?explain=maybe` });
  expect(expectError(maybe, 422, 'validation_error').detail).toMatch(/explain/);
  const text = await post(body, { key: made.secret, headers: ['Content-Type: text/plain'] });
  expectError(text, 415, 'unsupported_media_type');
  const large = { domains: ['x'.repeat(300_000)] };
  expect(expectError(await post(large, { key: made.secret }), 413, 'content_too_large').detail).toMatch(
    /300000/,
  );
  const chunks = `${(310_000).toString(16)}\r\n${' '.repeat(310_000)}\r\n0\r\n\r\n`;
  const headers = ['Content-Type: application/json', 'Transfer-Encoding: chunked'];
  const chunked = await ask(port, PATH, { method: 'POST', key: made.secret, headers, body: chunks });
  expectError(chunked, 413, 'content_too_large');
  expect(await used(made.key)).toBe(0);
});

test('a compressed body is 415 and says so, uncounted', async () => {
  const { key, used } = shared();
  const made = await key({ quota: 5 });
  const type = 'Content-Type: application/json';
  const body = { domains: ['gmail.com'] };
  const coded = (coding: string) =>
    post(body, { key: made.secret, headers: [type, `Content-Encoding: ${coding}`] });
  for (const coding of ['gzip', 'br', 'identity, gzip'])
    expect(expectError(await coded(coding), 415, 'unsupported_media_type').detail).toMatch(
      /Content-Encoding/,
    );
  expect(await used(made.key)).toBe(0);
  expect((await coded('Identity')).status).toBe(200);
});

test('a body in another charset than UTF-8 is 415 and says so, uncounted', async () => {
  const { key, used } = shared();
  const made = await key({ quota: 5 });
  const sent = (charset: string) =>
    post(
      { domains: ['gmail.com'] },
      { key: made.secret, headers: [`Content-Type: application/json; charset=${charset}`] },
    );
  for (const charset of ['utf-16', '"iso-8859-1"', 'utf-80'])
    expect(expectError(await sent(charset), 415, 'unsupported_media_type').detail).toBe('send JSON as UTF-8');
  expect(await used(made.key)).toBe(0);
  for (const charset of ['UTF-8', '"utf-8"', 'utf8', 'us-ascii', ''])
    expect((await sent(charset)).status).toBe(200);
});

test('spellings of one name are that name, each counted; what only looks like a name is shown to its sender alone', async () => {
  const { key, used, logged } = shared();
  const made = await key({ quota: 20 });
  const spellings = ['münchen.de', 'MÜNCHEN.de.', 'xn--mnchen-3ya.de', 'mu\u0308nchen。de'];
  const odd = ['__proto__', 'constructor', '', '\0.com', 'jane-q7zx9k@gmail.com', 'a b.com', 'com', '[::1]'];
  // Half of a pair, which JSON can spell and UTF-8 cannot.
  const body = JSON.stringify({ domains: [...spellings, ...odd, 'HALF.com'] }).replace('HALF', '\\ud800');
  const answer = await post(body, { key: made.secret });
  const { results } = JSON.parse(answer.body) as { results: Entry[] };
  expect(results.slice(0, 4).map(({ domain }) => domain)).toEqual(Array(4).fill('xn--mnchen-3ya.de'));
  expect(results.slice(4).map(({ domain, error }) => [domain, error])).toEqual(
    [...odd, '\ud800.com'].map(name => [name, 'validation_error']),
  );
  expect(await used(made.key)).toBe(13);
  expect(logged.join('')).not.toContain('q7zx9k');
});

test('where the same member stands twice the last is looked up, and only that counts', async () => {
  const { key, used } = shared();
  const made = await key({ quota: 5 });
  const answer = await post('{"domains":["a.com","b.com","c.com"],"domains":["gmail.com"]}', {
    key: made.secret,
  });
  expect(JSON.parse(answer.body)).toMatchObject({ results: [{ domain: 'gmail.com' }], count: 1 });
  expect(await used(made.key)).toBe(1);
});

test('a quota that is lowered meanwhile holds for the next call, and takes nothing back', async () => {
  const { key, used, store } = shared();
  const made = await key({ quota: 1_000 });
  const call = (names: number) =>
    post({ domains: Array(names).fill('gmail.com') }, { key: made.secret }).then(({ status }) => status);
  const under = Array.from({ length: 10 }, () => call(10));
  expect(await store.updateKey({ ...made.key, quota: 105 }, made.key, ACT)).toBe(true);
  // Each was counted before the change or after it, and fits both.
  expect(await Promise.all(under)).toEqual(Array(10).fill(200));
  expect(await Promise.all([call(10), call(6)])).toEqual([429, 429]);
  expect([await call(5), await call(1)]).toEqual([200, 429]);
  expect(await used(made.key)).toBe(105);
});

test('1,000 of the longest names fit into a body', async () => {
  const longest = `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(52)}.invalid`;
  expect(longest.length).toBe(252);
  const results = await looked(Array(1_000).fill(longest));
  expect(new Set(results.map(({ domain }) => domain))).toEqual(new Set([longest]));
});

test('the key and the origin are judged before a byte of the body is waited for', async () => {
  const { key, port } = shared();
  const bound = await key({ origins: ['https://app.example.com'] });
  const head = (lines: readonly string[]) =>
    [
      `POST ${PATH} HTTP/1.1`,
      'Host: a',
      'Content-Type: application/json',
      'Content-Length: 299000',
      ...lines,
      '',
      '',
    ].join('\r\n');
  for (const [lines, status, error] of [
    [[], 401, 'unauthorized'],
    [['Authorization: Bearer drk_wrong'], 401, 'unauthorized'],
    [[`Authorization: Bearer ${bound.secret}`], 403, 'forbidden'],
  ] as const) {
    const begun = performance.now();
    const [answer] = parseAnswers(await rawRequest(port, head(lines), 5_000));
    expectError(answer!, status, error);
    expect(answer!.headers.get('connection')).toBe('close');
    expect(performance.now() - begun).toBeLessThan(4_000);
  }
});

test('other methods are 405, and a preflight allows POST with a type', async () => {
  const { port } = shared();
  for (const method of ['GET', 'HEAD', 'PUT', 'DELETE']) {
    const answer = await ask(port, PATH, { method });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
  }
  const { status, headers } = await ask(port, PATH, {
    method: 'OPTIONS',
    headers: ['Origin: https://a.example'],
  });
  expect([status, headers.get('access-control-allow-methods')]).toEqual([204, 'POST, OPTIONS']);
  expect(headers.get('access-control-allow-headers')).toContain('Content-Type');
});

test('names for which DNS has no answer in time are marked, and the others are not', async () => {
  const { dns, key } = shared();
  dns.zones.set('many-slow.com', { fault: 'drop' });
  dns.zones.set('many-trouble.com', { fault: 'servfail' });
  dns.zones.set('many-well.com', { records: [mx('many-well.com', 1, 'aspmx.l.google.com')] });
  const { secret } = await key();
  const begun = performance.now();
  const domains = ['many-slow.com', 'many-trouble.com', 'many-well.com', 'mailinator.com', 'gmail.com'];
  const answer = await post({ domains }, { key: secret });
  const took = performance.now() - begun;
  const { results } = JSON.parse(answer.body) as { results: Entry[] };
  expect(results.map(({ degraded }) => degraded)).toEqual(['dns', 'dns', undefined, undefined, undefined]);
  expect(results[0]).toMatchObject({ risk_score: 40, reason: 'safe' });
  expect(answer.headers.get('x-risk-degraded')).toBe('dns');
  expect(took).toBeGreaterThan(1_500);
  expect(took).toBeLessThan(5_000);
});

test('calls whose names nobody answers for wait for it side by side, and no other of their key waits for them', async () => {
  const { dns, key } = shared();
  const { secret } = await key();
  const names = Array.from({ length: 12 }, (_, at) => `silent-${at}.com`);
  for (const name of names) dns.zones.set(name, { fault: 'drop' });
  let silent = 0;
  const all = names.map(name => post({ domains: [name] }, { key: secret }).finally(() => silent++));
  await eventually('all wait', () => names.every(name => dns.questions.some(one => one.name === name)));
  expect((await post({ domains: ['mailinator.com'] }, { key: secret })).status).toBe(200);
  expect(silent).toBe(0);
  expect((await Promise.all(all)).map(({ status }) => status)).toEqual(Array(12).fill(200));
});

test('a body that comes in many packets is read as they come', async () => {
  // Nothing is read because time has passed: connections are tended by an interval.
  vi.useFakeTimers({ toFake: ['setInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const { key, port } = await startTestService();
  const { secret } = await key();
  const body = JSON.stringify({ domains: Array(1_000).fill('inbox.mailinator.com') });
  const head = [`POST ${PATH} HTTP/1.1`, 'Host: a', 'Connection: close', `Authorization: Bearer ${secret}`];
  const type = ['Content-Type: application/json', `Content-Length: ${body.length}`];
  const socket = connect({ port, host: '127.0.0.1', noDelay: true }).setEncoding('latin1');
  onTestFinished(() => void socket.destroy());
  let text = '';
  const whole = new Promise<void>(resolve => socket.once('close', () => resolve()));
  socket.on('data', (more: string) => {
    text += more;
  });
  socket.write(`${[...head, ...type].join('\r\n')}\r\n\r\n`);
  for (let at = 0; at < body.length; at += 1_220) {
    socket.write(body.slice(at, at + 1_220));
    await pause(5);
  }
  await whole;
  expect(text).toMatch(/^HTTP\/1\.1 200 /);
});

test('one connection serves one call after the other, however large their answers', async () => {
  const { key, port } = shared();
  const { secret } = await key();
  const body = JSON.stringify({ domains: Array(1_000).fill('inbox.mailinator.com') });
  const head = [
    `POST ${PATH} HTTP/1.1`,
    'Host: a',
    `Authorization: Bearer ${secret}`,
    'Content-Type: application/json',
  ];
  const request = `${[...head, `Content-Length: ${body.length}`].join('\r\n')}\r\n\r\n${body}`;
  const socket = connect(port, '127.0.0.1').setEncoding('latin1');
  onTestFinished(() => void socket.destroy());
  for (let call = 0; call < 6; call++) {
    let text = '';
    const whole = new Promise<void>((resolve, reject) => {
      socket.removeAllListeners('data').on('data', (more: string) => {
        text += more;
        if (text.endsWith('"count":1000}')) resolve();
      });
      socket.once('close', () => reject(new Error(`closed behind ${call} calls`)));
    });
    socket.write(request);
    await whole;
    expect(text).toMatch(/^HTTP\/1\.1 200 [\s\S]*Connection: keep-alive/i);
  }
});

test('where the store cannot count it is 500, and the next call is served', async () => {
  const { key, store, used } = shared();
  const made = await key();
  failNextSpend(store, new Error('broken'));
  expectError(await post({ domains: ['gmail.com', 'x.test'] }, { key: made.secret }), 500, 'internal_error');
  expect((await post({ domains: ['gmail.com', 'x.test'] }, { key: made.secret })).status).toBe(200);
  expect(await used(made.key)).toBe(2);
});

test('who leaves before the answer leaves nothing behind', async () => {
  const service = await startTestService();
  const { key, port, dns, close } = service;
  const { secret } = await key();
  dns.zones.set('never-answers.com', { fault: 'drop' });
  const body = JSON.stringify({ domains: ['never-answers.com'] });
  const head = [
    `POST ${PATH} HTTP/1.1`,
    'Host: a',
    `Authorization: Bearer ${secret}`,
    'Content-Type: application/json',
  ];
  const socket = connect(port, '127.0.0.1');
  socket.write(`${[...head, `Content-Length: ${body.length}`].join('\r\n')}\r\n\r\n${body}`);
  await eventually('DNS was asked', () => dns.questions.some(({ name }) => name === 'never-answers.com'));
  socket.destroy();
  // It waits for every call on its way.
  await close();
});
