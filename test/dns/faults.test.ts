import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { Servers } from '../../src/dns/servers.ts';
import { a, type Fault, mx } from '../support/dns.ts';
import { domain, resolverFor, resolving, serveZones } from '../support/resolving.ts';

const HOUR = 3_600_000;
const NAME = 'example.com';
const ZONES = {
  [NAME]: { records: [mx(NAME, 10, 'mail.example.net'), a(NAME, '93.184.215.14')] },
  'other.com': { records: [mx('other.com', 10, 'mail.example.net')] },
};

/** Short, so that silence is a matter of a moment; nothing here asserts how long an answer takes. */
const QUICK = { budgetMs: 500 };

/** The question and an OPT record behind it: NXDOMAIN, with the extended error "Blocked" (RFC 8914). */
function blocked(query: Buffer): Buffer {
  const question = query.subarray(0, query.length - 11);
  const answer = Buffer.concat([
    question,
    Buffer.from([0, 0, 41, 4, 208, 0, 0, 0, 0, 0, 6, 0, 15, 0, 2, 0, 15]),
  ]);
  answer.writeUInt16BE(0x8183, 2);
  return answer;
}

const FAULTS: readonly (readonly [string, Fault])[] = [
  ['silence', 'drop'],
  ['SERVFAIL', 'servfail'],
  ['REFUSED', 'refused'],
  ['FORMERR', 'formerr'],
  ['NOTIMP', 'notimp'],
  ['BADVERS, whose low bits say NOERROR', 'badvers'],
  ['garbage', 'garbage'],
  ['a header and no more', 'header'],
  ['truncation and no TCP', 'truncate'],
  ['an answer for another name', 'other-name'],
  ['an answer for another type', 'other-type'],
  ['records of another name', 'other-owner'],
  ['a wrong id', 'wrong-id'],
  ['a referral', 'referral'],
  ['an answer after the budget', { slow: 2_000 }],
  ['an answer cut in the middle', { bytes: answer => answer.subarray(0, answer.length - 5) }],
  ['a denial by a filter that says so', { bytes: (_, query) => blocked(query) }],
  ['one byte', { bytes: () => Buffer.from([7]) }],
  ['the question sent back', { bytes: (_, query) => query }],
];

describe.each(FAULTS)('DNS trouble: %s', (_, fault) => {
  test('a name never asked before is unknown, and so it stays for 30 s without a question', async () => {
    const { dns, resolver, time } = await resolving(ZONES, QUICK);
    dns.fault = fault;
    const mail = await resolver.resolve(domain(NAME), 'key');
    expect(mail).toEqual({ state: 'unknown', exchanges: [], stale: false });
    const types = new Set(dns.questions.map(question => question.type));
    expect([...types]).toEqual(['MX']);
    dns.fault = undefined;
    const asked = dns.questions.length;
    time.now += 29_999;
    expect(resolver.peek(domain(NAME))?.state).toBe('unknown');
    expect((await resolver.resolve(domain(NAME), 'key')).state).toBe('unknown');
    expect(resolver.health().inFlight).toBe(0);
    expect(dns.questions.length).toBe(asked);
    time.now += 1;
    expect(resolver.peek(domain(NAME))).toBeUndefined();
    expect((await resolver.resolve(domain(NAME), 'key')).state).toBe('mx');
  });

  test('a name known from before keeps its answer, marked as stale, for 72 h at most', async () => {
    const { dns, resolver, time } = await resolving(ZONES, QUICK);
    const before = await resolver.resolve(domain(NAME), 'key');
    const obtained = time.now;
    dns.fault = fault;
    time.now = obtained + HOUR;
    expect(await resolver.resolve(domain(NAME), 'key')).toEqual({ ...before, stale: true });
    const asked = dns.questions.length;
    expect(resolver.peek(domain(NAME))).toEqual({ ...before, stale: true });
    expect(dns.questions.length).toBe(asked);
    time.now = obtained + 72 * HOUR;
    expect(await resolver.resolve(domain(NAME), 'key')).toEqual({ ...before, stale: true });
    time.now = obtained + 72 * HOUR + 30_000;
    expect((await resolver.resolve(domain(NAME), 'key')).state).toBe('unknown');
    expect(resolver.counters.stale).toBe(3);
  });

  test('with half the servers in this state the others answer', async () => {
    const [bad, good] = [await serveZones(ZONES), await serveZones(ZONES)];
    bad.fault = fault;
    const { resolver } = resolverFor([bad.address, good.address], { budgetMs: 1_600 });
    expect((await resolver.resolve(domain(NAME), 'key')).state).toBe('mx');
    expect((await resolver.resolve(domain('other.com'), 'key')).state).toBe('mx');
    expect((await resolver.resolve(domain('nowhere.com'), 'key')).state).toBe('nxdomain');
  });
});

describe('what looks like trouble and is none', () => {
  test.each([
    ['truncation, and TCP works', 'truncate-udp', 'tcp'],
    ['a server that changes the case of the question is asked over TCP', 'lower-case', 'tcp'],
    ['an answer that is slow but within the budget', { slow: 700 }, 'udp'],
  ] as const)('%s', async (_, fault, over) => {
    const { dns, resolver } = await resolving({ [NAME]: { ...ZONES[NAME], fault } });
    const mail = await resolver.resolve(domain(NAME), 'key');
    expect(mail.state).toBe('mx');
    expect(dns.questions.at(-1)?.over).toBe(over);
    expect(dns.questions.length).toBeLessThanOrEqual(2);
  });

  test('a closed port is unknown without waiting for the budget', async () => {
    const dns = await serveZones();
    const { address } = dns;
    await dns.close();
    const { resolver } = resolverFor([address], { budgetMs: 60_000 });
    expect((await resolver.resolve(domain(NAME), 'key')).state).toBe('unknown');
  });
});

test('a refusal that leaves the question out is a refusal, and not taken for a forgery', async () => {
  const { dns, resolver } = await resolving({}, QUICK);
  dns.fault = {
    bytes: answer => {
      answer.writeUInt16BE(0x8181, 2);
      answer.fill(0, 4, 12);
      return answer.subarray(0, 12);
    },
  };
  expect((await resolver.resolve(domain(NAME), 'key')).state).toBe('unknown');
  expect(dns.questions.map(question => question.over)).toEqual(['udp']);
  expect(resolver.counters.questions.formerr).toBe(1);
});

test('a name whose old answer is negative keeps that answer too', async () => {
  const { dns, resolver, time } = await resolving({}, QUICK);
  expect((await resolver.resolve(domain('gone.com'), 'key')).state).toBe('nxdomain');
  dns.fault = 'drop';
  time.now += HOUR;
  expect(await resolver.resolve(domain('gone.com'), 'key')).toMatchObject({ state: 'nxdomain', stale: true });
});

test('silence ends with the budget, and the question is sent twice at most to one server', async () => {
  const { dns, resolver } = await resolving({ [NAME]: { fault: 'drop' } });
  const startedAt = performance.now();
  expect((await resolver.resolve(domain(NAME), 'key')).state).toBe('unknown');
  const took = performance.now() - startedAt;
  expect(took).toBeGreaterThan(1_700);
  expect(took).toBeLessThan(18_000);
  expect(dns.asked(NAME, 'MX')).toBe(2);
  expect(dns.questions.length).toBe(2);
});

test('what our own code stumbles over makes the name unknown and ends nothing, and it is told with its stack', async () => {
  const dns = await serveZones(ZONES);
  const told: unknown[] = [];
  const { resolver } = resolverFor([dns.address], QUICK, { failed: error => told.push(error) });
  const ours = new TypeError('servers is not iterable');
  const broken = vi.spyOn(Servers.prototype, 'inOrder').mockImplementation(() => {
    throw ours;
  });
  onTestFinished(() => broken.mockRestore());
  expect((await resolver.resolve(domain(NAME), 'key')).state).toBe('unknown');
  expect(await resolver.addressesOf('mail.example.net')).toBeUndefined();
  expect(told).toEqual([ours, ours]);
  broken.mockRestore();
  expect((await resolver.resolve(domain(NAME), 'key')).state).toBe('mx');
});
