import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { ask, expectError } from '../support/answers.ts';
import { sharedService } from '../support/service.ts';

const shared = sharedService({ env: { ACCESS_LOG: 'all' } });

/** Raw segments in the domain's place, as they stand in the request line. */
const REFUSED: Readonly<Record<string, readonly string[]>> = {
  'empty or dots': ['', '.', '..', '%2e', '%2e%2e', '%2E%2E', '...', 'a..com', '.gmail.com', 'gmail.com..'],
  'a single label or a suffix': [
    'gmail',
    'com',
    'com.',
    'COM',
    'co.uk',
    'CO.UK.',
    'constructor',
    '%ED%95%9C%EA%B5%AD',
  ],
  'IPv4 in any spelling': [
    ...['1.2.3.4', '127.0.0.1.', '127.1', '1.2.3', '2130706433', '0x7f.1', '0x7f000001', '0177.0.0.1'],
    ...['%EF%BC%91.2.3.4', '1.2.3.4.5', '999.999.999.999', 'a.1', 'gmail.123', 'gmail.0x1'],
  ],
  'IPv6 in any spelling': [
    '[::1]',
    '::1',
    '%5B::1%5D',
    '%5B%3A%3A1%5D',
    '2001:db8::1',
    '::ffff:1.2.3.4',
    'fe80::1%25eth0',
  ],
  'a URL, a port, a path': [
    ...[
      'http:%2F%2Fgmail.com',
      'gmail.com:25',
      'gmail.com%3A25',
      'gmail.com%2F',
      'a%2Fb.com',
      'gmail.com%3Fx',
    ],
    ...[
      'gmail.com%23x',
      'a%5Cb.com',
      'gmail.com;x=1',
      'gmail.com%3Bx',
      '..%2F..%2Fetc%2Fpasswd',
      'mailto:gmail.com',
    ],
  ],
  'an email address': ['local.part@gmail.com', 'local.part%40gmail.com', '@gmail.com', 'a%EF%BC%A0gmail.com'],
  'an underscore': ['a_b.com', '_dmarc.gmail.com', 'gmail.co_m', '__proto__', '__proto__.com'],
  'hyphens at the ends': ['-gmail.com', 'gmail-.com', 'gmail.-com', 'a.gmail.com-', '-.com'],
  'spaces, control and invisible characters': [
    ...[
      '%20gmail.com',
      'gmail.com%20',
      'g%20mail.com',
      'gmail.com%09',
      'gmail.com%0A',
      'gmail.com%0D%0A',
      '%00',
    ],
    ...[
      'gmail.com%00',
      'gmail%00.com',
      'gmail.com%7F',
      'gmail.com%C2%85',
      'g%C2%A0mail.com',
      'g%E2%80%8Bmail.com',
    ],
    ...[
      'g%C2%ADmail.com',
      'g%E2%80%AEmail.com',
      'g%E2%80%8Dmail.com',
      'g%E2%80%8Cmail.com',
      '%EF%BB%BFgmail.com',
    ],
    ...[
      'g%E2%81%A0mail.com',
      'g%E3%80%80mail.com',
      'g%F3%A0%81%A1mail.com',
      'g%E2%80%A8mail.com',
      'g%E1%85%9Fmail.com',
    ],
  ],
  'bad percent-encoding or UTF-8': [
    ...[
      '%',
      '%2',
      '%zz',
      'gmail.com%',
      'gmail.com%E',
      '%E0%A4%A',
      '%C3.com',
      '%C3%28.com',
      '%FF.com',
      '%80.com',
    ],
    ...['%C0%AE.com', '%ED%A0%80.com', '%F4%90%80%80.com', '%u0061.com'],
  ],
  'double encoding': ['gmail%252ecom', '%252e%252e', 'gmail%252Fcom', 'g%256dail.com', 'gmail.com%2500'],
  'other characters': [
    ...[
      'gmail,com',
      'gmail.com,',
      'g+mail.com',
      'g*mail.com',
      '*.gmail.com',
      '{domain}',
      ':domain',
      '%7Bdomain%7D',
    ],
    ...[
      'gm(ail).com',
      "g'mail.com",
      'g%22mail.com',
      '%3Cscript%3E.com',
      'g!mail.com',
      'g~mail.com',
      'g=mail.com',
    ],
    ...['$%7Bjndi:ldap:x%7D', 'g%60id%60.com', 'gmail.com#x', 'g%7Cmail.com'],
  ],
  'A-labels that do not decode or round-trip': [
    ...[
      'xn--a.com',
      'xn--.com',
      'xn--zn7c.com',
      'xn--gmail-.com',
      'xn--a-.com',
      'xn--99999999.com',
      'xn--8c9by4f.com',
    ],
    ...['xn--abc-.com', 'xn--mnchen-3YA1.de'],
  ],
  'lengths beyond the limits': [
    ...[`${'a'.repeat(64)}.com`, `${'a.'.repeat(125)}a.com`, 'a'.repeat(1_500), `${'%C3%BC'.repeat(60)}.de`],
    ...[`${'a'.repeat(63)}.${'a'.repeat(63)}.${'a'.repeat(63)}.${'a'.repeat(58)}.com`, '%61'.repeat(400)],
  ],
};

test.each(Object.entries(REFUSED))('%s: 422, counted, with no DNS question', async (_what, segments) => {
  const { port, key, used, questions } = shared();
  const made = await key({ quota: 1000 });
  const asked = await questions();
  for (const [at, segment] of segments.entries()) {
    const answer = await ask(port, `/v1/public/domain/${segment}`, { key: made.secret });
    expect(answer.status, segment.slice(0, 80)).toBe(422);
    const { detail } = expectError(answer, 422, 'validation_error');
    expect(detail).toMatch(/\w{3}/);
    expect(answer.headers.get('x-ratelimit-remaining')).toBe(String(999 - at));
  }
  expect(await used(made.key)).toBe(segments.length);
  expect(asked()).toEqual([]);
});

test('what is exactly at the limits is a domain', async () => {
  const { port, key } = shared();
  const { secret } = await key();
  const longest = `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(57)}.com`;
  expect(longest).toHaveLength(253);
  for (const name of [
    `${'a'.repeat(63)}.com`,
    longest,
    `${'a.'.repeat(124)}a.com`,
    'a--b.com',
    '1.com',
    'a.b',
  ]) {
    expect((await ask(port, `/v1/public/domain/${name}`, { key: secret })).status, name).toBe(200);
  }
  expect((await ask(port, `/v1/public/domain/${longest}.`, { key: secret })).status).toBe(200);
});

test('the detail names the rule that was broken, and never repeats what was sent', async () => {
  const { port, key } = shared();
  const { secret } = await key();
  for (const [segment, rule] of [
    ['jane.doe%40gmail.com', /domain only/i],
    ['jane_doe.com', /underscore/i],
    ['jane-doe', /label/i],
    ['1.2.3.4', /IP address/],
    ['co.uk', /suffix/i],
    ['jane%20doe.com', /space/i],
    ['%E0%A4%A', /percent/i],
    ['%252e', /twice|once/i],
    [`${'a'.repeat(64)}.com`, /63/],
  ] as const) {
    const { detail } = expectError(
      await ask(port, `/v1/public/domain/${segment}`, { key: secret }),
      422,
      'validation_error',
    );
    expect(detail).toMatch(rule);
    expect(detail).not.toMatch(/jane|1\.2\.3\.4|co\.uk/);
  }
});

test('an email address leaves no trace in the log', async () => {
  const { port, key, logged, loggedFrom } = shared();
  const { secret } = await key();
  const lines = logged.length;
  for (const segment of ['jane.doe@gmail.com', 'jane.doe%40gmail.com', 'x?email=jane.doe@gmail.com']) {
    await ask(port, `/v1/public/domain/${segment}`, { key: secret });
  }
  await ask(port, '/jane.doe@gmail.com', { key: secret });
  expect(loggedFrom(lines)).toHaveLength(4);
  expect(loggedFrom(lines).join('')).not.toContain('jane');
});

test.each([
  'maybe',
  '',
  '1',
  '0',
  'yes',
  'TRUE',
  'True',
  'true%20',
  'null',
  'true%00',
  '%E0%A4%A',
  'true,false',
])('explain=%s is 422, and counted', async value => {
  const { port, key, used, questions } = shared();
  const made = await key();
  const asked = await questions();
  const answer = await ask(port, `/v1/public/domain/unasked.com?explain=${value}`, { key: made.secret });
  expect(expectError(answer, 422, 'validation_error').detail).toContain('explain');
  expect(await used(made.key)).toBe(1);
  expect(asked()).toEqual([]);
});

test.each([
  ...[
    'limit=0',
    'limit=1001',
    'limit=-1',
    'limit=',
    'limit=1.5',
    'limit=1e2',
    'limit=0x10',
    'limit=abc',
    'limit=99999999999',
  ],
  ...['limit=%20', 'limit=10%20', 'limit=%2B5', 'limit=%D9%A3', 'limit=NaN', 'limit=1,2', 'limit=null'],
  ...[
    'reason=safe',
    'reason=',
    'reason=DISPOSABLE',
    'reason=spam',
    'reason=disposable,undeliverable',
    'reason=__proto__',
  ],
  ...['reason=constructor', 'limit=10&reason=safe', 'limit=0&reason=disposable'],
  ...['source=lists', 'source=', 'source=OBSERVED', 'explain=maybe', 'explain=', 'explain=1'],
])('top-domains?%s is 422, and counted', async query => {
  const { port, key, used } = shared();
  const made = await key({ quota: 3 });
  const answer = await ask(port, `/v1/public/top-domains?${query}`, { key: made.secret });
  const named = query.includes('limit=10&') ? 'reason' : query.split('=', 1)[0];
  expect(expectError(answer, 422, 'validation_error').detail).toContain(named);
  expect(answer.headers.get('x-ratelimit-remaining')).toBe('2');
  expect(await used(made.key)).toBe(1);
});

test('HEAD of a bad name is 422 too, and counted', async () => {
  const { port, key, used } = shared();
  const made = await key();
  const answer = await ask(port, '/v1/public/domain/bad_name', { key: made.secret, method: 'HEAD' });
  expect([answer.status, answer.body]).toEqual([422, '']);
  expect(await used(made.key)).toBe(1);
});

test('statements in names and keys do nothing to the store', async () => {
  const { port, key, folder } = shared();
  const { secret } = await key();
  const schema = () => {
    const db = new DatabaseSync(join(folder, 'domain-risk.db'), { readOnly: true });
    const rows = db.prepare('SELECT type, name, sql FROM sqlite_schema ORDER BY name').all();
    const keys = db.prepare('SELECT * FROM key ORDER BY id').all();
    db.close();
    return createHash('sha256')
      .update(JSON.stringify([rows, keys]))
      .digest('hex');
  };
  const before = schema();
  const statements = [
    "'; DROP TABLE key; --",
    '" OR 1=1 --',
    "') UNION SELECT digest FROM key --",
    '`;--',
    "x'||'y",
  ];
  for (const statement of statements) {
    const sent = encodeURIComponent(statement);
    expect((await ask(port, `/v1/public/domain/${sent}`, { key: secret })).status).toBe(422);
    expect((await ask(port, `/v1/public/domain/gmail.com?explain=${sent}`, { key: secret })).status).toBe(
      422,
    );
    expect((await ask(port, `/v1/public/top-domains?reason=${sent}`, { key: secret })).status).toBe(422);
    expect((await ask(port, '/v1/usage', { key: statement })).status).toBe(401);
  }
  expect(schema()).toBe(before);
});

test('texts made to be slow are refused as fast as others', async () => {
  const { port, key } = shared();
  const { secret } = await key();
  const before = performance.now();
  for (const unit of ['a.', '-', 'xn--', '%C3%BC', '1.', '@', '.', 'a-', '%E2%80%8D', 'xn--a.']) {
    const segment = unit.repeat(Math.floor(1_900 / unit.length));
    expect((await ask(port, `/v1/public/domain/${segment}`, { key: secret })).status).toBe(422);
    const headers = [`Origin: ${unit.repeat(200)}`, `Authorization: ${'Bearer '.repeat(500)}`];
    expect((await ask(port, '/v1/usage', { headers })).status).toBe(401);
  }
  expect(performance.now() - before).toBeLessThan(3_000);
});
