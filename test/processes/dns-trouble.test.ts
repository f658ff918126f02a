import { describe, expect, test } from 'vitest';
import { a, type Fault, mx, startDns } from '../support/dns.ts';
import { eventually } from '../support/scale.ts';
import { sharedService, startTestService, type TestService } from '../support/service.ts';

/** P7: whatever DNS does, no verdict is invented, no caller sees a 5xx, and nobody waits beyond the budget. */
const FAULTS: readonly (readonly [string, Fault])[] = [
  ['silence', 'drop'],
  ['SERVFAIL', 'servfail'],
  ['REFUSED', 'refused'],
  ['FORMERR', 'formerr'],
  ['garbage', 'garbage'],
  ['truncation without TCP', 'truncate'],
  ['an answer after the budget', { slow: 2_500 }],
  ['answers for another name', 'other-name'],
];
const BUDGET_MS = 1_800;

const shared = sharedService();
let fresh = 0;

async function ask(service: TestService, name: string, secret: string) {
  const startedAt = performance.now();
  const response = await service.get(`/v1/public/domain/${name}`, secret);
  const body = (await response.json()) as Record<string, unknown>;
  return { status: response.status, headers: response.headers, body, ms: performance.now() - startedAt };
}

describe.each(FAULTS)('while DNS gives %s', (_, fault) => {
  test('listed, well-known and cached domains answer as before, unlisted ones degrade', async () => {
    const service = shared();
    const { secret } = await service.key();
    const known = `known-${++fresh}.com`;
    const unlisted = `unlisted-${fresh}.com`;
    for (const name of [known, unlisted]) {
      service.dns.zones.set(name, { records: [mx(name, 10, 'aspmx.l.google.com')] });
    }
    const before = await Promise.all(
      ['mailinator.com', 'gmail.com', known].map(name => ask(service, name, secret)),
    );
    service.dns.fault = fault;
    try {
      const during = await Promise.all(
        ['mailinator.com', 'gmail.com', known].map(name => ask(service, name, secret)),
      );
      expect(during.map(({ status, body }) => [status, body])).toEqual(before.map(({ body }) => [200, body]));
      const degraded = await ask(service, unlisted, secret);
      expect(degraded.status).toBe(200);
      expect(degraded.body).toEqual({
        domain: unlisted,
        risk_score: 40,
        reason: 'safe',
        is_free_provider: false,
        is_corporate_email: false,
        mx_provider_label: null,
      });
      expect(degraded.headers.get('x-risk-degraded')).toBe('dns');
      expect(degraded.headers.get('cache-control')).toBe('private, max-age=30');
      expect(degraded.ms).toBeLessThan(10 * BUDGET_MS);
    } finally {
      service.dns.fault = undefined;
    }
  });
});

test('half the servers dead, every unlisted domain is still answered from the others', async () => {
  const [dead, alive] = [await startDns(), await startDns()];
  dead.fault = 'drop';
  const service = await startTestService({
    dns: alive,
    env: { DNS_SERVERS: `${dead.address},${alive.address}` },
  });
  const { secret } = await service.key();
  for (let i = 0; i < 8; i++) {
    const name = `half-${i}.com`;
    alive.zones.set(name, { records: [mx(name, 10, 'aspmx.l.google.com')] });
    expect((await ask(service, name, secret)).body.mx_provider_label).toBe('Google Workspace');
  }
  await service.close();
  await Promise.all([dead.close(), alive.close()]);
});

test('the service recovers by itself within 30 s, and readyz shows DNS as degraded without failing', async () => {
  let now = Date.now();
  const service = await startTestService({ clock: () => now });
  const { secret } = await service.key();
  service.dns.fault = 'servfail';
  for (let i = 0; i < 4; i++) await ask(service, `gone-${i}.com`, secret);
  const dnsStatus = async () => {
    const ready = await service.get('/readyz');
    expect(ready.status).toBe(200);
    return ((await ready.json()) as { dns: { status: string } }).dns.status;
  };
  // It is made once a second.
  await eventually('it shows as degraded', async () => (await dnsStatus()) === 'degraded');
  service.dns.fault = undefined;
  service.dns.zones.set('gone-0.com', { records: [a('gone-0.com', '93.184.215.14')] });
  now += 30_000;
  const { headers, body } = await ask(service, 'gone-0.com', secret);
  expect([headers.get('x-risk-degraded'), body.risk_score]).toEqual([null, 35]);
  await eventually('it shows as well again', async () => (await dnsStatus()) === 'ok');
});

test('an answer that could not be had is forgotten after 30 s, however the clock was set meanwhile', async () => {
  const start = Date.now();
  let clock = start;
  let ticks = 0;
  const service = await startTestService({ clock: () => clock, ticks: () => ticks });
  const { secret } = await service.key();
  service.dns.zones.set('jump.com', { records: [a('jump.com', '93.184.215.14')] });
  service.dns.fault = 'servfail';
  clock += 3_600_000;
  expect((await ask(service, 'jump.com', secret)).headers.get('x-risk-degraded')).toBe('dns');
  service.dns.fault = undefined;
  clock = start;
  ticks += 30_000;
  const { headers, body } = await ask(service, 'jump.com', secret);
  expect([headers.get('x-risk-degraded'), body.risk_score]).toEqual([null, 35]);
});

test('nobody is told that a domain is undeliverable because an answer was forged or lost', async () => {
  const service = shared();
  const { secret } = await service.key();
  const reasons = new Set<unknown>();
  for (const [, fault] of FAULTS) {
    // Silence takes the whole budget each time; it had its test above.
    if (fault === 'drop' || typeof fault === 'object') continue;
    const name = `lost-${++fresh}.com`;
    service.dns.zones.set(name, { fault });
    const { status, body } = await ask(service, name, secret);
    expect(status).toBe(200);
    reasons.add(body.reason);
  }
  expect([...reasons]).toEqual(['safe']);
});

test('an operator reads once that no DNS server answers, and once that one does again', async () => {
  const service = await startTestService();
  const { secret } = await service.key();
  const told = () =>
    service.logged.map(line => JSON.parse(line)).filter(({ msg }) => /DNS server/.test(msg as string));
  service.dns.fault = 'servfail';
  for (let i = 0; i < 8; i++) await ask(service, `unanswered-${i}.com`, secret);
  expect(told()).toMatchObject([
    { level: 40, servers: [service.dns.address], msg: expect.stringMatching(/check DNS_SERVERS/) },
  ]);
  service.dns.fault = undefined;
  for (let i = 0; i < 3; i++) await ask(service, `answered-${i}.com`, secret);
  expect(told().map(({ level }) => level)).toEqual([40, 30]);
});
