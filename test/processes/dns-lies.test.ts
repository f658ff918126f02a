/** P7: a resolver that knows nothing, or makes things up, invents no verdict, and everybody who should know is told. */

import { describe, expect, onTestFinished, test } from 'vitest';
import { createClient } from '../../client/src/index.ts';
import { a, type DnsServer, type Lie, mx, startDns } from '../support/dns.ts';
import { run, startServer } from '../support/process.ts';
import { eventually, pause, sized } from '../support/scale.ts';
import { startTestService, type TestService } from '../support/service.ts';

/** An empty answer is denied as NXDOMAIN is: `test/dns/sentinels.test.ts` has all three at any size. */
const LIES: readonly Lie[] = sized(['nxdomain', 'address'], ['nxdomain', 'empty', 'address']);
/** As the setting's default has them. */
const SENTINELS = 'gmail.com, outlook.com, yahoo.com, icloud.com';
const COMPANIES = Array.from({ length: sized(20, 400) }, (_, at) => `company-${at}.com`);

async function truth(): Promise<DnsServer> {
  const dns = await startDns();
  onTestFinished(() => dns.close());
  for (const name of [...SENTINELS.split(', '), ...COMPANIES])
    dns.zones.set(name, { records: [mx(name, 10, 'aspmx.l.google.com'), a(name, '93.184.215.14')] });
  return dns;
}

/** What callers are told of the names: the reasons with how often, and how many answers were degraded. */
async function told(service: TestService, secret: string, names: readonly string[]) {
  const answers = await Promise.all(
    names.map(async name => {
      const response = await service.get(`/v1/public/domain/${name}`, secret);
      const body = (await response.json()) as { reason: string; risk_score: number };
      return { ...body, degraded: response.headers.get('x-risk-degraded') === 'dns' };
    }),
  );
  return {
    flagged: answers.filter(({ reason }) => reason !== 'safe').length,
    degraded: answers.filter(({ degraded, risk_score }) => degraded && risk_score === 40).length,
  };
}

const linesAbout = (service: TestService) =>
  service.logged.map(line => JSON.parse(line)).filter(({ msg }) => /DNS server/.test(msg as string));

async function start(dns: DnsServer) {
  let now = Date.now();
  const service = await startTestService({
    dns,
    clock: () => now,
    env: { DNS_SENTINELS: SENTINELS },
  });
  const { secret } = await service.key();
  const dnsOf = async () =>
    ((await (await service.get('/readyz')).json()) as { dns: { status: string; servers: unknown[] } }).dns;
  /** Moves the time on, and waits until the service shows what it then found. */
  const move = async (ms: number, status?: string) => {
    now += ms;
    // What it showed last is shown for a second.
    await pause(1_100);
    if (status === undefined) return;
    await eventually(`DNS is ${status}`, async () => (await dnsOf()).status === status);
  };
  return { service, secret, dnsOf, move };
}

describe.each(LIES)('a resolver that answers %s to everything', lie => {
  test('from the start: 0 verdicts, no caller of the client takes a company for a risk, one log line with the fix, and all is right within 60 s of the truth', async () => {
    const dns = await truth();
    dns.fault = lie;
    const { service, secret, dnsOf, move } = await start(dns);
    const wrong = { flagged: 0, degraded: COMPANIES.length };
    expect(await told(service, secret, COMPANIES)).toEqual(wrong);
    expect(await told(service, secret, COMPANIES)).toEqual(wrong);
    const client = createClient({ baseUrl: service.base, apiKey: secret, timeout: 20_000 });
    const risky = await Promise.all(COMPANIES.map(name => client.isRisky(`someone@${name}`)));
    expect(risky.filter(Boolean)).toEqual([]);
    expect(await client.isRisky('someone@mailinator.com')).toBe(true);
    const listed = await told(service, secret, ['mailinator.com', 'gmail.com']);
    expect(listed).toEqual({ flagged: 1, degraded: 0 });
    await move(0, 'degraded');
    for (let probes = 0; probes < 3; probes++) await move(5_000, 'degraded');
    expect(linesAbout(service)).toMatchObject([
      { level: 40, servers: [dns.address], msg: expect.stringMatching(/set DNS_SERVERS.*neutral score/) },
    ]);
    const fixed = expect.stringMatching(/set DNS_SERVERS/);
    expect((await dnsOf()).servers).toMatchObject([{ address: dns.address, problem: fixed }]);
    const metrics = await (await service.get('/metrics')).text();
    expect(metrics).toContain(`domain_risk_dns_server_believed{server="${dns.address}"} 0`);
    dns.fault = undefined;
    await move(5_000, 'ok');
    expect(await told(service, secret, COMPANIES)).toEqual({ flagged: 0, degraded: 0 });
    expect(linesAbout(service).map(({ level }) => level)).toEqual([40, 30]);
  });

  test('from the middle on: 0 verdicts, and the same', async () => {
    const dns = await truth();
    const { service, secret, move } = await start(dns);
    const [before, during] = [COMPANIES.slice(0, 5), COMPANIES.slice(5)];
    expect(await told(service, secret, [...before, 'gone.com'])).toEqual({ flagged: 1, degraded: 0 });
    dns.fault = lie;
    // A probe may have noticed already: answers cause one.
    await move(2_000);
    expect(await told(service, secret, during)).toEqual({ flagged: 0, degraded: during.length });
    expect(await told(service, secret, before)).toEqual({ flagged: 0, degraded: 0 });
    expect(await told(service, secret, ['gone.com'])).toEqual({ flagged: 0, degraded: 1 });
    dns.fault = undefined;
    await move(5_000, 'ok');
    expect(await told(service, secret, [...during, 'gone.com'])).toEqual({ flagged: 1, degraded: 0 });
    expect(linesAbout(service).map(({ level }) => level)).toEqual([40, 30]);
  });
});

test('on a machine whose resolver knows nothing the start says so in one line with the fix, and is not held up', async () => {
  const dns = await startDns();
  onTestFinished(() => dns.close());
  const server = await startServer({ env: { DNS_SERVERS: dns.address, DNS_SENTINELS: SENTINELS } });
  const about = () =>
    server
      .stdout()
      .split('\n')
      .filter(line => line.includes('DNS server'));
  await eventually('the start says so', () => about().length > 0);
  expect(about()).toHaveLength(1);
  expect(about()[0]).toMatch(/"level":40.*denies that gmail\.com.*set DNS_SERVERS to a resolver/);
  expect((await server.get('/readyz')).status).toBe(200);
  // A probe that nobody answers must not keep it from ending.
  dns.fault = 'drop';
  expect(await server.stop()).toMatchObject({ code: 0 });
});

test('a lookup on the command line there is no verdict either, and ends', async () => {
  const dns = await startDns();
  onTestFinished(() => dns.close());
  const env = { DNS_SERVERS: dns.address, DNS_SENTINELS: SENTINELS };
  const { code, stdout } = await run(['lookup', 'stripe.example.com'], { env });
  expect([code, stdout]).toEqual([0, expect.stringMatching(/degraded/)]);
});
