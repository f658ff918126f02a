import { expect, test } from 'vitest';
import { ACT } from '../support/act.ts';
import { ask, expectError } from '../support/answers.ts';
import { a, mx } from '../support/dns.ts';
import { failNextSpend } from '../support/failing.ts';
import { FamilyClient, FamilyError } from '../support/family-client.ts';
import { sharedService } from '../support/service.ts';

const shared = sharedService();
const FIELDS = [
  ...[
    'email',
    'is_risky',
    'risk_score',
    'reason',
    'deliverability_score',
    'did_you_mean',
    'is_free_provider',
  ],
  ...['is_corporate_email', 'is_alias_email', 'mx_provider_label'],
];

async function checked(segment: string): Promise<Record<string, unknown>> {
  const { secret } = await shared().key();
  const answer = await ask(shared().port, `/v1/check/${segment}`, { key: secret });
  expect(answer.status, answer.body).toBe(200);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(answer.headers.has('etag')).toBe(false);
  const body = JSON.parse(answer.body) as Record<string, unknown>;
  expect(Object.keys(body)).toEqual(FIELDS);
  return body;
}

test('an address at a free provider is answered with the ten fields and nothing else', async () => {
  for (const segment of ['jane.doe@gmail.com', 'jane.doe%40gmail.com', 'jane.doe@gmail.com?explain=true']) {
    expect(await checked(segment)).toEqual({
      email: 'ja***oe@gmail.com',
      is_risky: false,
      risk_score: 5,
      reason: 'safe',
      deliverability_score: 99,
      did_you_mean: null,
      is_free_provider: true,
      is_corporate_email: false,
      is_alias_email: false,
      mx_provider_label: 'Gmail',
    });
  }
});

test('a bare domain is shown as it was sent, with the verdict of the domain', async () => {
  const { secret } = await shared().key();
  for (const name of ['GMAIL.com.', 'mailinator.com', 'nothing.invalid']) {
    const risk = (await (await shared().get(`/v1/public/domain/${name}`, secret)).json()) as object;
    const { domain: _, ...verdict } = risk as Record<string, unknown>;
    expect(await checked(name)).toMatchObject({ email: name, ...verdict });
  }
});

test('disposable and dead domains are risky whatever stands before the @, and relays are aliases', async () => {
  expect(await checked('info@mailinator.com')).toMatchObject({
    ...{ email: 'i***@mailinator.com', is_risky: true, risk_score: 100, reason: 'disposable' },
    is_alias_email: false,
  });
  expect(await checked('jane@no-such-name-here.com')).toMatchObject({
    ...{ is_risky: true, risk_score: 90, reason: 'undeliverable', deliverability_score: 0 },
    did_you_mean: null,
  });
  expect(await checked('jane@duck.com')).toMatchObject({
    reason: 'safe',
    is_alias_email: true,
    is_risky: false,
  });
});

test('a role word before the @ makes a safe domain a role account, below what is called risky', async () => {
  const role = { risk_score: 60, reason: 'role_account', is_risky: false, is_free_provider: true };
  expect(await checked('No-Reply@gmail.com')).toMatchObject(role);
  expect(await checked('admin%2Bspring@gmail.com')).toMatchObject(role);
  expect(await checked('administration@gmail.com')).toMatchObject({ risk_score: 5, reason: 'safe' });
  const { port, key } = shared();
  const { secret } = await key();
  const plain = await ask(port, '/v1/public/domain/gmail.com', { key: secret });
  expect(JSON.parse(plain.body)).toMatchObject({ risk_score: 5, reason: 'safe' });
});

test('what the mail configuration deserves is told from 0 to 100', async () => {
  const { dns } = shared();
  dns.zones.set('checked-corp.com', { records: [mx('checked-corp.com', 1, 'aspmx.l.google.com')] });
  dns.zones.set('checked-own.com', { records: [mx('checked-own.com', 1, 'mx.checked-own.com')] });
  dns.zones.set('checked-web.com', { records: [a('checked-web.com', '93.184.216.34')] });
  dns.zones.set('checked-null.com', { records: [mx('checked-null.com', 0, '.')] });
  dns.zones.set('checked-trouble.com', { fault: 'servfail' });
  const scores = await Promise.all(
    ['corp', 'own', 'web', 'null', 'trouble'].map(
      async name => (await checked(`jane@checked-${name}.com`)).deliverability_score,
    ),
  );
  expect(scores).toEqual([98, 80, 60, 0, 50]);
  expect(await checked('jane@checked-corp.com')).toMatchObject({ is_corporate_email: true });
  const { secret } = await shared().key();
  const degraded = await ask(shared().port, '/v1/check/jane@checked-trouble.com', { key: secret });
  expect(degraded.headers.get('x-risk-degraded')).toBe('dns');
});

test.each([
  ['gmail.con', 'gmail.com'],
  ['hotmial.com', 'hotmail.com'],
  ['yahoo.cmo', 'yahoo.com'],
  ['outlok.com', 'outlook.com'],
  ['gmail.test', null],
  ['quite-another-name.com', null],
])('for the dead name %s it asks whether %s was meant', async (name, meant) => {
  expect(await checked(`jane@${name}`)).toMatchObject({ is_risky: true, did_you_mean: meant });
});

test('a name that receives mail is what its owner means by it', async () => {
  const { dns, store } = shared();
  dns.zones.set('gmaik.com', { records: [mx('gmaik.com', 1, 'aspmx.l.google.com')] });
  expect(await checked('jane@gmaik.com')).toMatchObject({ is_corporate_email: true, did_you_mean: null });
  // An operator's word that it is dead to him says nothing of what was meant.
  await store.setOverride(
    {
      domain: 'gmsil.com',
      action: 'allow',
      below: false,
      note: null,
      author: null,
      createdAt: 0,
      expiresAt: null,
    },
    ACT,
  );
  expect(await checked('jane@gmsil.com')).toMatchObject({ reason: 'safe', did_you_mean: null });
});

test.each([
  ['@unasked.com', /nothing before/],
  ['', /empty/],
  ['..', /label/],
  ['a@b@unasked.com', /more than one @/],
  ['%22jane%20doe%22@unasked.com', /quoted/],
  [`${'a'.repeat(65)}@unasked.com`, /64/],
  ['a'.repeat(321), /320/],
  ['jane.doe@bad_unasked.com', /underscore/],
  ['jane.doe@1.2.3.4', /IP address/],
  ['jane%00doe@unasked.com', /control/],
  ['%E0%A4%A@unasked.com', /UTF-8/],
])('the segment %j: 422 with the rule in detail, counted, no DNS question', async (segment, rule) => {
  const { port, key, used, questions } = shared();
  const made = await key({ quota: 5 });
  const asked = await questions();
  const answer = await ask(port, `/v1/check/${segment}`, { key: made.secret });
  const { detail } = expectError(answer, 422, 'validation_error');
  expect(detail).toMatch(rule);
  expect(answer.body).not.toMatch(/jane|doe@/);
  expect(answer.headers.get('x-ratelimit-remaining')).toBe('4');
  expect(await used(made.key)).toBe(1);
  expect(asked()).toEqual([]);
});

test('401, 403, 404, 405 and 429 as everywhere, uncounted', async () => {
  const { port, key, used } = shared();
  const path = '/v1/check/jane@gmail.com';
  const made = await key({ quota: 1, origins: ['https://app.example.com'] });
  expectError(await ask(port, path), 401, 'unauthorized');
  expectError(await ask(port, path, { key: made.secret }), 403, 'forbidden');
  const headers = ['Origin: https://app.example.com'];
  expectError(await ask(port, `${path}/x`, { key: made.secret, headers }), 404, 'not_found');
  expectError(await ask(port, '/v1/check', { key: made.secret, headers }), 404, 'not_found');
  const posted = await ask(port, path, { key: made.secret, headers, method: 'POST' });
  expectError(posted, 405, 'method_not_allowed');
  expect(posted.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
  const preflight = await ask(port, path, { method: 'OPTIONS', headers });
  expect([preflight.status, preflight.headers.get('access-control-allow-methods')]).toEqual([
    204,
    'GET, HEAD, OPTIONS',
  ]);
  expect(await used(made.key)).toBe(0);
  const head = await ask(port, path, { key: made.secret, headers, method: 'HEAD' });
  expect([head.status, head.body]).toEqual([200, '']);
  const { reset_at } = expectError(
    await ask(port, path, { key: made.secret, headers }),
    429,
    'quota_exceeded',
  );
  expect(reset_at).toMatch(/-01T00:00:00Z$/);
  expect(await used(made.key)).toBe(1);
});

test('a client of this family of APIs, strict about every field, reads every answer without a change', async () => {
  const { base, key, store } = shared();
  const client = new FamilyClient(base, (await key({ quota: 100 })).secret);
  for (const text of [
    'jane+x@gmail.com',
    'gmail.com',
    'a@mailinator.com',
    'x@gmail.con',
    'jürgen@münchen.de',
  ]) {
    expect(await client.check(text)).toMatchObject({
      email: expect.stringMatching(/^(?:.{0,2}\*{3}.{0,2}@)?\S+$/u),
    });
  }
  expect(await client.usage()).toMatchObject({ monthly_limit: 100, month_count: 5, remaining_month: 95 });
  const failure = (other: FamilyClient, text = 'jane@gmail.com') =>
    other.check(text).then(
      () => expect.unreachable(),
      (error: unknown) => {
        expect(error).toBeInstanceOf(FamilyError);
        return error as FamilyError;
      },
    );
  expect(await failure(client, 'jane@nowhere')).toMatchObject({
    status: 422,
    message: expect.stringMatching(/label/),
  });
  expect(await failure(new FamilyClient(base, 'drk_wrong'))).toMatchObject({ status: 401 });
  const bound = await key({ origins: ['https://app.example.com'] });
  expect(await failure(new FamilyClient(base, bound.secret))).toMatchObject({ status: 403 });
  const empty = await failure(new FamilyClient(base, (await key({ quota: 0 })).secret));
  expect(empty).toMatchObject({ status: 429, resetAt: expect.any(Date) });
  failNextSpend(store, new Error('broken'));
  expect(await failure(client)).toMatchObject({ status: 500, message: expect.stringMatching(/Continue/) });
});

test('such a client reads the usage of an unlimited key in numbers, where it asks for them', async () => {
  const { base, key, port } = shared();
  const { secret } = await key();
  const client = new FamilyClient(base, secret);
  await client.check('gmail.com');
  await expect(client.usage()).rejects.toThrow('monthly_limit');
  expect(await client.usage('?numbers=true')).toMatchObject({
    ...{ monthly_limit: 2_147_483_647, month_count: 1, remaining_month: 2_147_483_646 },
  });
  const limited = new FamilyClient(base, (await key({ quota: 7 })).secret);
  expect(await limited.usage('?numbers=true')).toMatchObject({ monthly_limit: 7, remaining_month: 7 });
  const refused = await ask(port, '/v1/usage?numbers=yes', { key: secret });
  expect(expectError(refused, 422, 'validation_error').detail).toBe('numbers must be true or false');
});
