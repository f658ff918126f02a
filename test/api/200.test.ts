import { expect, test } from 'vitest';
import { ask } from '../support/answers.ts';
import { a, mx } from '../support/dns.ts';
import { sharedService } from '../support/service.ts';

const shared = sharedService();

interface Risk {
  domain: string;
  risk_score: number;
  reason: string;
  is_free_provider: boolean;
  is_corporate_email: boolean;
  mx_provider_label: string | null;
  evidence?: {
    signals: { signal: string; points: number; detail: string }[];
    lists: { feed: string; entry: string; since: string | null }[];
    dns: { state: string; mx: string[]; stale: boolean };
    snapshot: string;
  };
}

const FIELDS = [
  'domain',
  'risk_score',
  'reason',
  'is_free_provider',
  'is_corporate_email',
  'mx_provider_label',
];

async function lookup(domain: string, query = ''): Promise<{ response: Response; risk: Risk }> {
  const { secret } = await shared().key();
  const response = await shared().get(`/v1/public/domain/${domain}${query}`, secret);
  expect(response.status).toBe(200);
  return { response, risk: (await response.json()) as Risk };
}

test('a well-known mailbox domain answers with the six fields and nothing else', async () => {
  const service = shared();
  const { secret } = await service.key();
  const response = await service.get('/v1/public/domain/GMAIL.com.', secret);
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({
    domain: 'gmail.com',
    risk_score: 5,
    reason: 'safe',
    is_free_provider: true,
    is_corporate_email: false,
    mx_provider_label: 'Gmail',
  });
  expect(response.headers.get('cache-control')).toBe('private, max-age=300');
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(service.dns.questions).toEqual([]);
});

test.each([
  ['%EF%BD%87%EF%BD%8D%EF%BD%81%EF%BD%89%EF%BD%8C.com', 'gmail.com'],
  ['gmail%E3%80%82com', 'gmail.com'],
  ['g%6Dail.com', 'gmail.com'],
  ['gmail.com%2E', 'gmail.com'],
  ['m%C3%BCnchen.de', 'xn--mnchen-3ya.de'],
  ['M%C3%9CNCHEN.de.', 'xn--mnchen-3ya.de'],
  ['XN--MNCHEN-3YA.de', 'xn--mnchen-3ya.de'],
  ['fa%C3%9F.de', 'xn--fa-hia.de'],
])('%s is answered as %s', async (sent, canonical) => {
  expect((await lookup(sent)).risk.domain).toBe(canonical);
});

test('a name that only looks like a provider is a domain of its own', async () => {
  const { risk } = await lookup('gm%D0%B0il.com');
  expect(risk).toMatchObject({
    domain: 'xn--gmil-63d.com',
    reason: 'undeliverable',
    is_free_provider: false,
    mx_provider_label: null,
  });
});

test.each([
  'foo.invalid',
  'foo.test',
  'foo.example',
  'foo.localhost',
  'printer.local',
  'abc.onion',
  'db.internal',
  'x.alt',
  'home.arpa',
  'router.home.arpa',
  '1.0.0.127.in-addr.arpa',
  'constructor.test',
])('the special-use name %s is undeliverable and never asked in DNS', async name => {
  const asked = await shared().questions();
  const { risk } = await lookup(name);
  expect(risk).toEqual({
    domain: name,
    risk_score: 95,
    reason: 'undeliverable',
    is_free_provider: false,
    is_corporate_email: false,
    mx_provider_label: null,
  });
  expect(asked()).toEqual([]);
});

test('each verdict that DNS decides', async () => {
  const { dns } = shared();
  const host = 'aspmx.l.google.com';
  dns.zones.set('corp.acme-works.com', { records: [mx('corp.acme-works.com', 1, host)] });
  dns.zones.set('refuses-mail.com', { records: [mx('refuses-mail.com', 0, '.')] });
  dns.zones.set('web-only.com', { records: [a('web-only.com', '93.184.216.34')] });
  dns.zones.set('empty-zone.com', { records: [] });
  dns.zones.set('noreply.acme-works.com', { records: [mx('noreply.acme-works.com', 1, host)] });

  const corporate = (await lookup('corp.acme-works.com')).risk;
  expect(corporate).toMatchObject({ reason: 'safe', is_corporate_email: true, is_free_provider: false });
  expect(corporate.mx_provider_label).toBe('Google Workspace');
  expect(corporate.risk_score).toBeLessThanOrEqual(5);
  const none = { is_corporate_email: false, is_free_provider: false, mx_provider_label: null };
  const dead = { reason: 'undeliverable', ...none };
  expect((await lookup('refuses-mail.com')).risk).toMatchObject({ ...dead, risk_score: 90 });
  expect((await lookup('empty-zone.com')).risk).toMatchObject({ ...dead, risk_score: 85 });
  expect((await lookup('no-such-name.com')).risk).toMatchObject({ ...dead, risk_score: 90 });
  expect((await lookup('web-only.com')).risk).toMatchObject({ reason: 'safe', risk_score: 35, ...none });
  expect((await lookup('noreply.acme-works.com')).risk).toMatchObject({
    reason: 'role_account',
    risk_score: 60,
  });
});

test('a listed domain and what is below it are disposable, and do not wait for DNS', async () => {
  const { dns } = shared();
  dns.zones.set('mailinator.com', { fault: 'drop' });
  dns.zones.set('inbox.mailinator.com', { fault: 'drop' });
  for (const [name, label] of [
    ['mailinator.com', 'Mailinator'],
    ['inbox.mailinator.com', null],
  ] as const) {
    const before = performance.now();
    const { risk, response } = await lookup(name);
    expect(performance.now() - before).toBeLessThan(1_000);
    expect(risk).toEqual({
      domain: name,
      risk_score: 100,
      reason: 'disposable',
      is_free_provider: false,
      is_corporate_email: false,
      mx_provider_label: label,
    });
    expect(response.headers.get('x-risk-degraded')).toBeNull();
  }
});

test('DNS trouble is told in a header and invents no verdict', async () => {
  shared().dns.zones.set('troubled.com', { fault: 'servfail' });
  const { risk, response } = await lookup('troubled.com');
  expect(risk).toEqual({
    domain: 'troubled.com',
    risk_score: 40,
    reason: 'safe',
    is_free_provider: false,
    is_corporate_email: false,
    mx_provider_label: null,
  });
  expect(response.headers.get('x-risk-degraded')).toBe('dns');
  expect(response.headers.get('cache-control')).toBe('private, max-age=30');
});

test('explain=true adds the evidence, whose points are the score', async () => {
  shared().dns.zones.set('example.com', { records: [mx('example.com', 0, '.')] });
  for (const name of ['gmail.com', 'mailinator.com', 'foo.test', 'example.com', 'absent-name.com']) {
    const { risk } = await lookup(name, '?explain=true');
    expect(Object.keys(risk)).toEqual([...FIELDS, 'evidence']);
    const { signals, lists, dns, snapshot } = risk.evidence!;
    expect(Object.keys(risk.evidence!)).toEqual(['signals', 'lists', 'dns', 'snapshot']);
    expect(signals.reduce((sum, { points }) => sum + points, 0)).toBe(risk.risk_score);
    for (const signal of signals) expect(Object.keys(signal)).toEqual(['signal', 'points', 'detail']);
    for (const list of lists) expect(Object.keys(list)).toEqual(['feed', 'entry', 'since']);
    expect(lists.length > 0).toBe(name === 'mailinator.com');
    expect(Object.keys(dns)).toEqual(['state', 'mx', 'stale']);
    expect(snapshot).toMatch(/\S/);
  }
  const states = await Promise.all(
    ['gmail.com', 'foo.test', 'example.com', 'absent-name.com'].map(
      async name => (await lookup(name, '?explain=true')).risk.evidence!.dns.state,
    ),
  );
  expect(states).toEqual(['not_asked', 'not_asked', 'null_mx', 'nxdomain']);
});

test.each(['?explain=false', '?', '?x=1&explain=false', '?__proto__=1', '?explai=true', '?limit=0&%zz'])(
  'with %s the answer has the six fields only',
  async query => {
    const { risk } = await lookup('gmail.com', query);
    expect(Object.keys(risk)).toEqual(FIELDS);
  },
);

test('HEAD has the headers of GET and no body', async () => {
  const { port, key } = shared();
  const { secret } = await key();
  const get = await ask(port, '/v1/public/domain/gmail.com', { key: secret });
  const head = await ask(port, '/v1/public/domain/gmail.com', { key: secret, method: 'HEAD' });
  expect(head.status).toBe(200);
  expect(head.body).toBe('');
  for (const name of ['content-length', 'content-type', 'cache-control', 'vary']) {
    expect(head.headers.get(name)).toBe(get.headers.get(name));
  }
});

test('nothing in an answer derives from Host or X-Forwarded headers', async () => {
  const { port, key } = shared();
  const { secret } = await key();
  const seen = new Set<string>();
  for (const host of ['127.0.0.1', 'evil.example', 'localhost:1', '']) {
    for (const target of ['/v1/public/domain/gmail.com', '/', '/openapi.json', '/docs', '/nothing']) {
      const answer = await ask(port, `http://${host || 'x'}${target}`, {
        key: secret,
        headers: [`X-Forwarded-Host: ${host}`, 'X-Forwarded-Proto: https', 'Forwarded: host=evil.example'],
      });
      const headers = [...answer.headers].filter(([name]) => name !== 'x-request-id' && name !== 'date');
      const body = answer.body.replace(/"request_id":"[^"]*"/, '');
      expect(answer.body + headers.join()).not.toContain('evil');
      seen.add(`${target} ${answer.status} ${headers.join()} ${body}`);
    }
  }
  expect(seen.size).toBe(5);
});
