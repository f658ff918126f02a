import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createAdmit } from '../src/admit.ts';
import { type Credentials, newLastSecret } from '../src/core/door.ts';
import { digestOf, type KeyRecord, secretFrom } from '../src/core/key.ts';
import type { Spend, Spent, Store, Waiter } from '../src/core/ports.ts';
import { secondsLeft } from '../src/core/quota.ts';
import { keyRecord } from './support/records.ts';
import { passOne } from './support/spend.ts';

const NOVEMBER = Date.UTC(2026, 10, 15, 12);
const SECRET = secretFrom(new Uint8Array(32).fill(7));

/** One key in a store that a test can change at any moment, two clocks, and what was asked of the store. */
function world(facts: Partial<KeyRecord> = {}) {
  const at = {
    now: NOVEMBER,
    ticks: 0,
    revision: 1,
    used: 0,
    key: keyRecord({ digest: digestOf(SECRET), ...facts }),
    reads: 0,
    /** A digest that the store finds it by beside its own. */
    found: '',
    /** What comes between reading a key and counting its call. */
    beforeSpend: () => {},
  };
  const store = {
    async keyByDigest(digest: string) {
      at.reads++;
      return { key: [at.key.digest, at.found].includes(digest) ? at.key : undefined, revision: at.revision };
    },
    spend({ quota }: Spend, revision: number, waiter: Waiter<Spent>) {
      at.beforeSpend();
      if (revision !== at.revision) return waiter.resolve({ outcome: 'changed' });
      if (quota !== null && at.used >= quota) return waiter.resolve({ outcome: 'exhausted', used: at.used });
      return waiter.resolve({ outcome: 'granted', used: ++at.used });
    },
    revision: async () => at.revision,
    used: async () => at.used,
    usageDays: async () => [
      { keyId: 'k1', day: '2026-11-13', used: 4 },
      { keyId: 'k1', day: '2026-11-15', used: 2 },
    ],
  } as unknown as Store;
  const admit = createAdmit({ store, clock: () => at.now, ticks: () => at.ticks });
  const change = (changed: Partial<KeyRecord>) => {
    at.key = { ...at.key, ...changed };
    at.revision++;
  };
  const lastSecret = newLastSecret();
  const caller = (shown: Partial<Credentials> = {}): Credentials => ({
    authorization: `Bearer ${SECRET}`,
    origin: undefined,
    address: '192.0.2.1',
    lastSecret,
    ...shown,
  });
  const call = async (shown: Partial<Credentials> = {}) => {
    const result = await passOne(admit, caller(shown));
    return 'refused' in result ? result.refused : 'served';
  };
  return { at, admit, change, caller, call, store };
}

describe('a call that is judged anew because an operator changed something', () => {
  test('costs one token of the rate limit, not one for each time', async () => {
    const { at, call } = world({ rate: 2 });
    let changes = 3;
    at.beforeSpend = () => {
      if (changes-- > 0) at.revision++;
    };
    expect([await call(), await call(), await call()]).toEqual(['served', 'served', 'rate_limited']);
    expect(at.used).toBe(2);
  });

  test('costs one token where the key was known from the call before, too', async () => {
    const { call, change } = world({ rate: 2 });
    expect(await call()).toBe('served');
    change({ note: 'another' });
    expect([await call(), await call()]).toEqual(['served', 'rate_limited']);
  });

  test('is refused by the key as it is now', async () => {
    const { at, call, change } = world();
    expect(await call()).toBe('served');
    at.beforeSpend = () => {
      if (at.revision === 1) change({ revokedAt: at.now });
    };
    expect(await call()).toBe('unauthorized');
    expect(at.used).toBe(1);
  });

  test('ends in a failure of ours where it changes without end', async () => {
    const { at, admit, caller } = world();
    let elapsed = 0;
    const now = vi.spyOn(performance, 'now').mockImplementation(() => elapsed);
    onTestFinished(() => now.mockRestore());
    at.beforeSpend = () => {
      at.revision++;
      elapsed += 100;
    };
    await expect(passOne(admit, caller())).rejects.toThrow('the store changed again and again');
    expect(at.used).toBe(0);
  });
});

describe('a fault of ours', () => {
  const fault = new TypeError('a fault of ours');

  test('while a call is judged is told to whoever waits for it, and the next one is served', async () => {
    const { at, admit, caller, call } = world();
    at.beforeSpend = () => {
      throw fault;
    };
    // Once with the key read for it, once with the key remembered.
    for (let time = 0; time < 2; time++) await expect(passOne(admit, caller())).rejects.toBe(fault);
    at.beforeSpend = () => {};
    expect(await call()).toBe('served');
  });

  test('in what the store says is too', async () => {
    const { admit, caller, call, store } = world();
    expect(await call()).toBe('served');
    vi.spyOn(store, 'spend').mockImplementationOnce((_spend, _revision, waiter) => {
      setImmediate(() => waiter.resolve(undefined as unknown as Spent));
    });
    await expect(passOne(admit, caller())).rejects.toThrow(TypeError);
    expect(await call()).toBe('served');
  });
});

describe('the rate limit', () => {
  test('knows nothing of the clock that can be set: set back it drains nothing, set forward it fills nothing', async () => {
    const { at, call } = world({ rate: 2 });
    expect([await call(), await call(), await call()]).toEqual(['served', 'served', 'rate_limited']);
    at.now += 3_600_000;
    expect(await call()).toBe('rate_limited');
    at.now -= 7_200_000;
    expect(await call()).toBe('rate_limited');
    at.ticks += 500;
    expect([await call(), await call()]).toEqual(['served', 'rate_limited']);
  });

  test('that was raised since serves at once the call that the old one would have refused', async () => {
    const { call, change } = world({ rate: 1 });
    expect([await call(), await call()]).toEqual(['served', 'rate_limited']);
    change({ rate: null });
    expect(await call()).toBe('served');
  });

  test('that was set since begins full, whatever was called before', async () => {
    const { call, change } = world({ rate: null });
    expect(await call()).toBe('served');
    change({ rate: 2 });
    expect([await call(), await call(), await call()]).toEqual(['served', 'served', 'rate_limited']);
  });

  test('tells the quota to who is refused before any call was counted', async () => {
    const { admit, caller } = world({ rate: 1, quota: 10 });
    const [first, second] = await Promise.all([passOne(admit, caller()), passOne(admit, caller())]);
    expect(first).toMatchObject({ allowance: { used: 1 } });
    expect(second).toMatchObject({ refused: 'rate_limited', allowance: { limit: 10 } });
  });

  test('does not tell who is refused by it that a revoked key is one', async () => {
    const { at, call, change } = world({ rate: 1 });
    expect([await call(), await call()]).toEqual(['served', 'rate_limited']);
    change({ revokedAt: at.now });
    expect(await call()).toBe('unauthorized');
  });

  test('tells the quota as the last counted call left it, and reads it in a new month', async () => {
    const { at, admit, call, caller } = world({ rate: 1, quota: 10 });
    await call();
    expect(await passOne(admit, caller())).toMatchObject({
      refused: 'rate_limited',
      retryAfter: 1,
      detail: 'limit: 1 calls per second',
      allowance: { limit: 10, used: 1, remaining: 9 },
    });
    at.now = Date.UTC(2026, 11, 1);
    at.used = 0;
    expect(await passOne(admit, caller())).toMatchObject({
      allowance: { used: 0, month: { name: '2026-12' } },
    });
  });
});

describe('who is let in', () => {
  test.each<[string, Partial<KeyRecord>, Partial<Credentials>, string]>([
    ['whoever has the secret', {}, {}, 'served'],
    ['nobody without it', {}, { authorization: undefined }, 'unauthorized'],
    ['nobody with what is no secret', {}, { authorization: 'Bearer x' }, 'unauthorized'],
    ['nobody with a mistyped one', {}, { authorization: `Bearer ${SECRET.slice(0, -1)}_` }, 'unauthorized'],
    ['nobody with the secret of no key', { digest: 'another' }, {}, 'unauthorized'],
    ['a page of an allowed origin', { origins: ['https://a.com'] }, { origin: 'https://a.com' }, 'served'],
    ['no page of another', { origins: ['https://a.com'] }, { origin: 'https://b.com' }, 'forbidden'],
    ['no program where origins are named', { origins: ['https://a.com'] }, {}, 'forbidden'],
    ['a client of an allowed network', { networks: ['192.0.2.0/24'] }, {}, 'served'],
    ['no client of another', { networks: ['198.51.100.0/24'] }, {}, 'forbidden'],
    ['nobody whose quota is used up', { quota: 0 }, {}, 'quota_exceeded'],
  ])('%s', async (_, facts, shown, outcome) => {
    const { at, call } = world(facts);
    expect(await call(shown)).toBe(outcome);
    expect(at.used).toBe(outcome === 'served' ? 1 : 0);
  });

  test('is known from the call before, until the key ends', async () => {
    const { at, call } = world({ expiresAt: NOVEMBER + 10 });
    expect([await call(), await call(), at.reads]).toEqual(['served', 'served', 1]);
    at.now += 10;
    expect(await call()).toBe('unauthorized');
  });

  test('is told by each secret that comes over one connection', async () => {
    const { call, caller } = world();
    const { lastSecret } = caller();
    const other = `Bearer ${secretFrom(new Uint8Array(32).fill(8))}`;
    expect(await call()).toBe('served');
    expect(lastSecret.row).toBe('k1');
    expect(await call({ authorization: other })).toBe('unauthorized');
    expect(lastSecret.row).toBeUndefined();
    expect(await call()).toBe('served');
  });
});

test('a key whose quota is used up is told when to come back', async () => {
  const { at, admit, caller } = world({ quota: 1 });
  const first = await passOne(admit, caller());
  expect(first).toMatchObject({ revision: 1, allowance: { limit: 1, used: 1, remaining: 0 } });
  const { month } = (first as { allowance: { month: Parameters<typeof secondsLeft>[0] } }).allowance;
  expect(await passOne(admit, caller())).toMatchObject({
    refused: 'quota_exceeded',
    detail: 'quota: 1 calls per month, used up',
    retryAfter: secondsLeft(month, at.now),
  });
});

test('asking about the own key counts nothing, and needs the same door', async () => {
  const { at, admit, caller } = world({ quota: 10 });
  expect(await admit.enter(caller())).toMatchObject({ key: { id: 'k1' }, allowance: { used: 0 } });
  expect(await admit.enter(caller({ authorization: undefined }))).toMatchObject({ refused: 'unauthorized' });
  at.key = { ...at.key, revokedAt: at.now };
  expect(await admit.enter(caller())).toMatchObject({ refused: 'unauthorized' });
  expect(at.used).toBe(0);
});

const ORIGIN = () => 'https://a.example';

test("a call that waits is its key's where that has so many names left, as far as is remembered, without a question", async () => {
  const { at, admit, change, caller, call } = world({ quota: 3 });
  const waiting = (names: number) => admit.waiting(caller(), names);
  expect(waiting(1)).toBeUndefined();
  expect(await admit.refusal(caller())).toBeUndefined();
  // Nothing was counted yet: nobody knows better.
  expect(waiting(4)).toBe(at.key.id);
  await call();
  expect([waiting(2), waiting(3)]).toEqual([at.key.id, undefined]);
  await call();
  await call();
  expect(waiting(1)).toBeUndefined();
  expect([await call(), waiting(1)]).toEqual(['quota_exceeded', undefined]);
  expect(at.reads).toBe(1);
  expect(admit.waiting(caller({ authorization: undefined }), 1)).toBeUndefined();
  change({ quota: 5 });
  await admit.enter(caller());
  expect(waiting(2)).toBe(at.key.id);
  change({ quota: 3 });
  await call();
  at.now = Date.UTC(2026, 11, 1);
  expect(waiting(3)).toBe(at.key.id);
});

test('a secret is known once a call with it was let in', async () => {
  const { admit, call } = world();
  expect(admit.known(`Bearer ${SECRET}`, '192.0.2.1', ORIGIN)).toBeUndefined();
  await call();
  expect(admit.known(`Bearer ${SECRET}`, '192.0.2.1', ORIGIN)).toBe('k1');
  expect(admit.known('Bearer x', '192.0.2.1', ORIGIN)).toBeUndefined();
});

test.each<[string, Partial<KeyRecord>, string | undefined, string | undefined]>([
  ['waits in the row of its key', {}, '192.0.2.1', 'k1'],
  [
    'of a web page waits apart from who sends it elsewhere',
    { origins: ['https://a.example'] },
    '192.0.2.1',
    'k1 192.0.2.1',
  ],
  [
    'of a network waits there, each address in its row',
    { networks: ['192.0.2.0/24'] },
    '192.0.2.1',
    'k1 192.0.2.1',
  ],
  ['of a network is a stranger elsewhere', { networks: ['192.0.2.0/24'] }, '198.51.100.1', undefined],
  ['of a network behind a proxy waits with its key', { networks: ['192.0.2.0/24'] }, undefined, 'k1'],
  ['that has expired is a stranger', { expiresAt: NOVEMBER + 1_000 }, '192.0.2.1', undefined],
  [
    'that was replaced is a stranger when its time is over',
    { digest: 'new', previousDigest: digestOf(SECRET), previousUntil: NOVEMBER + 1_000 },
    '192.0.2.1',
    undefined,
  ],
])('a caller whose key %s', async (_, facts, address, row) => {
  const { at, admit, call, caller } = world(facts);
  const byPrevious = facts.previousDigest !== undefined;
  // As the store finds a key: by its secret or by the one before.
  if (byPrevious) at.found = digestOf(SECRET);
  expect(await call({ origin: 'https://a.example', address: '192.0.2.1' })).toBe('served');
  expect(caller().lastSecret.row).toBe(facts.origins || facts.networks ? 'k1 192.0.2.1' : 'k1');
  at.now += 2_000;
  expect(admit.known(`Bearer ${SECRET}`, address, ORIGIN)).toBe(row);
});

test.each([undefined, 'https://b.example', 'null'])(
  'whoever sends the key of a web page from %s is a stranger: it is no secret, and lets nobody in there',
  async origin => {
    const { admit, call } = world({ origins: ['https://a.example'] });
    expect(await call({ origin: 'https://a.example', address: '192.0.2.1' })).toBe('served');
    expect(admit.known(`Bearer ${SECRET}`, '192.0.2.1', () => origin)).toBeUndefined();
  },
);

test('who may not even ask about the own key is a stranger from then on', async () => {
  const { at, admit, caller, call, change } = world();
  expect([await call(), caller().lastSecret.row]).toEqual(['served', 'k1']);
  change({ revokedAt: at.now });
  expect(await admit.enter(caller())).toMatchObject({ refused: 'unauthorized' });
  expect(caller().lastSecret.row).toBeUndefined();
  expect(admit.known(`bearer ${SECRET}`, '192.0.2.1', ORIGIN)).toBeUndefined();
});

test('a key that was revoked before its next call is refused before a body is read, too', async () => {
  const { at, admit, caller, call, change } = world();
  expect(await call()).toBe('served');
  change({ revokedAt: at.now });
  expect(await admit.refusal(caller())).toMatchObject({ refused: 'unauthorized' });
  expect(admit.waiting(caller(), 1)).toBeUndefined();
});

test('a body is waited for in the row of its key, also where nothing was called over its connection before', async () => {
  const { admit, caller } = world();
  expect(await admit.refusal(caller())).toBeUndefined();
  expect(caller().lastSecret.row).toBe('k1');
});

test('days without a call are told as days without a call', async () => {
  const { at, admit } = world();
  expect(await admit.days(at.key, 3)).toEqual([
    { day: '2026-11-13', count: 4 },
    { day: '2026-11-14', count: 0 },
    { day: '2026-11-15', count: 2 },
  ]);
});

test("a connection whose key was revoked is a stranger's from its next call on", async () => {
  const { change, caller, call, at } = world();
  expect([await call(), caller().lastSecret.row]).toEqual(['served', 'k1']);
  change({ revokedAt: at.now });
  expect([await call(), caller().lastSecret.row]).toEqual(['unauthorized', undefined]);
});

test('who is refused is told what to change, and nothing without end is repeated', async () => {
  const detail = async (facts: Partial<KeyRecord>, shown: Partial<Credentials>) => {
    const { admit, caller } = world(facts);
    const refused = await passOne(admit, caller(shown));
    return 'refused' in refused ? refused.detail : undefined;
  };
  const site = { origins: ['https://a.example'] };
  expect(await detail(site, {})).toBe(
    'this key is limited to web origins and the request has no Origin header',
  );
  expect(await detail(site, { origin: `https://${'b'.repeat(300)}` })).toBe(
    `the origin "https://${'b'.repeat(192)}" is not allowed for this key`,
  );
  expect(await detail({ networks: ['198.51.100.0/24'] }, {})).toBe(
    'the client address 192.0.2.1 is not in the networks of this key',
  );
});

test('what cannot be a secret is not looked for in the store', async () => {
  const { at, call } = world();
  for (const typed of ['drk_short', `${SECRET.slice(0, -1)}_`])
    expect(await call({ authorization: `Bearer ${typed}` })).toBe('unauthorized');
  expect(at.reads).toBe(0);
});

test('a key that is gone from the store is forgotten', async () => {
  const { at, admit, call, change } = world();
  expect(await call()).toBe('served');
  change({ digest: 'another' });
  expect(await call()).toBe('unauthorized');
  expect(admit.known(`Bearer ${SECRET}`, '192.0.2.1', ORIGIN)).toBeUndefined();
  expect(at.used).toBe(1);
});

test('a flood beyond the rate reads neither key nor count for each of its calls', async () => {
  const { at, admit, caller, call } = world({ rate: 1, quota: 10 });
  expect(await call()).toBe('served');
  const { reads } = at;
  // What another server has counted since shows with the next call that is counted.
  at.used = 5;
  expect(await passOne(admit, caller())).toMatchObject({ refused: 'rate_limited', allowance: { used: 1 } });
  expect(at.reads).toBe(reads);
});

test('a quota that was changed since is told as it is now, to who is beyond the rate as well', async () => {
  const { at, admit, caller, call, change } = world({ rate: 1, quota: 10 });
  expect(await call()).toBe('served');
  at.used = 5;
  change({ quota: 20 });
  expect(await passOne(admit, caller())).toMatchObject({
    refused: 'rate_limited',
    allowance: { limit: 20, used: 5 },
  });
});

test('a call that another one overtook on the same connection does not say whose it is', async () => {
  const { at, caller, admit } = world();
  const { lastSecret } = caller();
  at.beforeSpend = () => {
    lastSecret.digest = 'of another secret';
  };
  expect(await passOne(admit, caller())).toMatchObject({ key: { id: 'k1' } });
  expect(lastSecret.row).toBeUndefined();
});

test('time that is not given is the time of the process', async () => {
  const { at } = world({ rate: 1 });
  const store = {
    keyByDigest: async () => ({ key: at.key, revision: 1 }),
    spend: (_spend: Spend, _revision: number, waiter: Waiter<Spent>) =>
      waiter.resolve({ outcome: 'granted', used: 1 }),
    revision: async () => 1,
    used: async () => 1,
  } as unknown as Store;
  const admit = createAdmit({ store, clock: () => NOVEMBER });
  const call = () =>
    passOne(admit, {
      authorization: `Bearer ${SECRET}`,
      origin: undefined,
      address: '192.0.2.1',
      lastSecret: newLastSecret(),
    });
  expect(await call()).toMatchObject({ key: { id: 'k1' } });
  expect(await call()).toMatchObject({ refused: 'rate_limited', retryAfter: 1 });
});
