import { expect, test } from 'vitest';
import { type Fault, mx } from '../support/dns.ts';
import { domain, resolverFor, serveZones } from '../support/resolving.ts';

const SENTINELS = ['big.com', 'large.com'];
const receiving = (name: string) => ({ records: [mx(name, 10, 'mail.example.net')] });
const MEMO_MS = 30_000;

async function world(zone: { fault?: Fault } = {}) {
  const dns = await serveZones({
    ...Object.fromEntries(SENTINELS.map(name => [name, receiving(name)])),
    'name.com': { ...receiving('name.com'), ...zone },
  });
  const { resolver, time } = resolverFor([dns.address], { budgetMs: 400 }, { sentinels: SENTINELS });
  const name = domain('name.com');
  /** Long enough for a probe that the failure causes. */
  const fail = async () => {
    expect((await resolver.resolve(name, 'key')).state).toBe('unknown');
    time.now += 1;
    const before = dns.asked('big.com', 'MX');
    await expect.poll(() => dns.asked('big.com', 'MX')).toBeGreaterThan(before);
    await new Promise(resolve => setTimeout(resolve, 50));
  };
  return { dns, resolver, time, name, fail };
}

test.each<Fault>(['drop', 'servfail'])(
  'a name that gives %s twice while others are answered is silent itself',
  async fault => {
    const { resolver, time, name, fail } = await world({ fault });
    await fail();
    expect(resolver.isSilent(name)).toBe(false);
    time.now += MEMO_MS;
    await fail();
    await expect.poll(() => resolver.isSilent(name)).toBe(true);
  },
);

test.each<Fault>(['drop', 'servfail'])(
  'while a resolver gives %s to all, no name is silent itself, and none is when it is well again',
  async fault => {
    const { dns, resolver, time, name, fail } = await world();
    await expect.poll(() => dns.asked('big.com', 'MX')).toBe(1);
    dns.fault = fault;
    await fail();
    // The probe that the failure caused is over, and nobody was heard in it.
    await new Promise(resolve => setTimeout(resolve, 1_600));
    time.now += MEMO_MS;
    await fail();
    expect(resolver.isSilent(name)).toBe(false);
    dns.fault = undefined;
    const before = dns.asked('big.com', 'MX');
    time.now += 60_000;
    await expect.poll(() => dns.asked('big.com', 'MX')).toBeGreaterThan(before);
    await new Promise(resolve => setTimeout(resolve, 100));
    expect(resolver.isSilent(name)).toBe(false);
  },
);

test('a name that failed once, and again while its resolver failed all, is not silent itself', async () => {
  const { dns, resolver, time, name, fail } = await world({ fault: 'servfail' });
  await fail();
  time.now += MEMO_MS;
  dns.fault = 'drop';
  expect((await resolver.resolve(name, 'key')).state).toBe('unknown');
  expect(resolver.isSilent(name)).toBe(false);
  // The probe of that failure begins within a second and waits for 1.5.
  await new Promise(resolve => setTimeout(resolve, 2_700));
  dns.fault = undefined;
  const before = dns.asked('big.com', 'MX');
  time.now += 60_000;
  await expect.poll(() => dns.asked('big.com', 'MX')).toBeGreaterThan(before);
  await new Promise(resolve => setTimeout(resolve, 100));
  expect(resolver.isSilent(name)).toBe(false);
});
