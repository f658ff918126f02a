/** What becomes an event, that it is raised once, and how it reaches a receiver that is slow, dead or in trouble. */

import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { pino } from 'pino';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { readConfig } from '../src/config.ts';
import { ENDING_AT_ONCE, type Event, eventsIn, type Seen } from '../src/core/event.ts';
import { decidedWith, type FeedCheck, rejectedProblem } from '../src/core/freshness.ts';
import type { KeyRecord } from '../src/core/key.ts';
import { StoreUnavailable } from '../src/core/ports.ts';
import { createRaise, RaisedCounts } from '../src/raise.ts';
import { createWebhook, MOST_WAITING } from '../src/webhook.ts';
import { ACT } from './support/act.ts';
import { keyRecord } from './support/records.ts';
import { temporaryFolder } from './support/service.ts';
import { storeAt } from './support/store.ts';

const NOW = Date.UTC(2026, 10, 15);
const DAY = 86_400_000;
const check = (feed: string, problem: string | null, checkedAt: number | null = NOW): FeedCheck => ({
  ...{ feed, problem, checkedAt, triedAt: NOW, added: 0, removed: 0 },
  ...{ trouble: null, waiting: null, approved: null, rejected: null, tag: null, fallback: null },
});
const WAITING = { trouble: 'waiting', waiting: ['z.com'] } as const;
const held: FeedCheck = { ...check('b', 'it would flag 8', 5), ...WAITING };
const refused: FeedCheck = {
  ...check('b', rejectedProblem('b', 1), 5),
  ...{ trouble: 'refused', rejected: ['z.com'] },
};
const NOTHING: Seen = {
  ...{ now: NOW, keys: [], checks: [], added: [], backup: undefined, servers: [] },
  distrustedSince: new Map(),
};
const key = keyRecord({ id: 'key_1', quota: 10, revokedAt: null, expiresAt: null });
const usedTimes = (used: number) => ({ keys: [{ key, used }] });
const unused = (of: Partial<KeyRecord>) => ({ keys: [{ key: { ...key, ...of }, used: 0 }] });
const server = (problem: string | null) => ({ address: '10.0.0.1', healthy: true, problem });

test.each<[string, Partial<Seen>, string[]]>([
  ['nothing', {}, []],
  ['79 %', usedTimes(7), []],
  ['80 %', usedTimes(8), ['quota.warning key_1 2026-11 10']],
  ['100 %', usedTimes(10), ['quota.exhausted key_1 2026-11 10']],
  ['a quota of none', unused({ quota: 0 }), []],
  ['a revoked key', { keys: [{ key: { ...key, revokedAt: 1 }, used: 10 }] }, []],
  ['7 days left', unused({ expiresAt: NOW + 7 * DAY }), [`key.expiring key_1 ${NOW + 7 * DAY}`]],
  ['more left', unused({ expiresAt: NOW + 7 * DAY + 1 }), []],
  ['a list refused', { checks: [check('a', null), check('b', 'too small', 5)] }, ['feed.failing b 5']],
  [
    'a list that was away, then refused, then waits, and either again after others were rejected or approved',
    {
      checks: [
        check('a', null),
        { ...check('b', 'ENOTFOUND', 5), trouble: 'failed' },
        { ...check('c', 'it names gmail.com', 5), trouble: 'refused' },
        { ...check('d', 'it would flag 8', 5), ...WAITING },
        { ...check('e', 'it would flag 8', 5), ...WAITING, rejected: ['x.com', 'y.com'] },
        { ...check('f', 'it would flag 8', 5), ...WAITING, approved: ['x.com'] },
        { ...check('g', 'it names gmail.com', 5), trouble: 'refused', approved: ['x.com'] },
      ],
    },
    [
      'feed.failing b 5',
      'feed.failing c 5 refused',
      'feed.failing d 5 waiting 0',
      'feed.failing e 5 waiting 2',
      'feed.failing f 5 waiting 0 1',
      'feed.failing g 5 refused 1',
    ],
  ],
  [
    'an own list of which no version was ever taken, by when it was added: another may have had its name',
    { checks: [check('a', null), { ...held, checkedAt: null }], added: [{ name: 'b', addedAt: 7 }] },
    ['feed.failing b 7 waiting 0'],
  ],
  [
    'a list that waits while no other can be reached',
    { checks: [check('a', 'ENOTFOUND'), { ...check('b', 'it would flag 8', 5), ...WAITING }] },
    ['feed.failing b 5 waiting 0'],
  ],
  [
    'lists about which an operator has just decided',
    {
      checks: [
        check('a', null),
        ...[true, false].map(isApproved => decidedWith(held, ['z.com'], isApproved)),
      ],
    },
    [],
  ],
  [
    'a list whose rejection was just taken back',
    { checks: [check('a', null), decidedWith(refused, ['z.com'], true)] },
    [],
  ],
  ['no way to any list', { checks: [check('a', 'ENOTFOUND'), check('b', 'ENOTFOUND')] }, []],
  ['no list ever', { checks: [check('a', 'ENOTFOUND', null)] }, ['feed.stale feeds 0']],
  [
    'stale lists beside one that a clock which was ahead has checked',
    { checks: [check('a', 'ENOTFOUND', NOW - 4 * DAY), check('b', 'ENOTFOUND', NOW + 365 * DAY)] },
    [`feed.stale feeds ${NOW - 4 * DAY}`],
  ],
  ['stale lists', { checks: [check('a', null, NOW - 4 * DAY)] }, [`feed.stale feeds ${NOW - 4 * DAY}`]],
  ['a backup', { backup: { folder: '/b', problem: 'ENOSPC', lastGood: 3 } }, ['backup.failed /b 3']],
  ['a good resolver', { servers: [server(null)] }, []],
  ['a lying one', { servers: [server('lies')] }, ['resolver.distrusted 10.0.0.1 2026-11-15']],
])('%s', (_what, seen, ids) => {
  expect(eventsIn({ ...NOTHING, ...seen }).map(({ id }) => id)).toEqual(ids);
});

test('of all servers one raises it, once, also after a restart, and again when it comes back', async () => {
  const path = join(temporaryFolder(), 'store.db');
  const store = await storeAt(path);
  await store.noteCheck(check('a', null));
  await store.noteCheck(check('b', 'too small', 5));
  // One that an earlier version followed, or that is switched off: nobody fetches it, and nobody misses it.
  await store.noteCheck(check('gone', 'too small', 5));
  await store.createKey({ ...key, expiresAt: NOW + DAY }, ACT);
  const status = { lastGood: 3, problem: 'ENOSPC' as string | undefined };
  const told: string[] = [];
  const counts = new RaisedCounts();
  const start = () => {
    const raising = createRaise({
      store,
      clock: () => NOW,
      health: () => ({ servers: [server('lies')] }) as never,
      feeds: ['a', 'b'],
      backups: { folder: '/b', status },
      tell(event) {
        counts.count(event.kind);
        told.push(event.id);
      },
      onError(error) {
        throw error;
      },
    });
    onTestFinished(raising.close);
    return raising;
  };
  const [one, other] = [start(), start()];
  await Promise.all([one.look(), other.look()]);
  await start().look();
  const kinds = ['key.expiring', 'feed.failing', 'backup.failed', 'resolver.distrusted'];
  expect(told.map(id => id.split(' ')[0]).sort()).toEqual(kinds.sort());
  expect(counts.all()).toContainEqual(['backup.failed', 1]);
  expect(counts.all()).toContainEqual(['quota.warning', 0]);
  await store.noteCheck(check('b', 'too small', 6));
  await one.look();
  expect(told.at(-1)).toBe('feed.failing b 6');
  // One that went well, and the next one that fails.
  Object.assign(status, { lastGood: NOW, problem: undefined });
  await one.look();
  expect(told).toHaveLength(5);
  status.problem = 'ENOSPC';
  await one.look();
  expect(told.slice(5)).toEqual([`backup.failed /b ${NOW}`]);
  // A list of which no version was ever taken, and another by its name.
  for (const addedAt of [1, 2]) {
    const own = { name: 'o', place: `/${addedAt}`, kind: 'disposable', format: 'lines' } as const;
    await store.addFeed({ ...own, verified: true, addedAt }, 9, ACT);
    await store.noteCheck({ ...held, feed: 'o', checkedAt: null });
    await one.look();
    await store.removeFeed('o', ACT);
  }
  expect(told.slice(6)).toEqual(['feed.failing o 1 waiting 0', 'feed.failing o 2 waiting 0']);
});

test('of hundreds of keys at their end each is told of, and the store is asked for none twice', async () => {
  const store = await storeAt(join(temporaryFolder(), 'store.db'));
  const ids = Array.from({ length: ENDING_AT_ONCE + 1 }, (_, at) => `key_${at}`);
  for (const id of ids) await store.createKey({ ...key, id, digest: id, expiresAt: NOW + DAY }, ACT);
  const told: string[] = [];
  const raiseEvent = vi.fn(store.raiseEvent);
  const raising = createRaise({
    ...{ store: { ...store, raiseEvent }, clock: () => NOW, feeds: ['a', 'b'], backups: undefined },
    health: () => ({ servers: [] }) as never,
    tell: ({ subject }) => told.push(subject),
    onError(error) {
      throw error;
    },
  });
  onTestFinished(raising.close);
  await raising.look();
  await raising.look();
  expect(told.sort()).toEqual(ids.sort());
  expect(raiseEvent).toHaveBeenCalledTimes(ids.length);
});

test('a look that fails for a fault of ours is told; of a store that is away others tell', async () => {
  const failures: unknown[] = [];
  const raisingWith = (error: Error) => {
    const store = { feedChecks: () => Promise.reject(error) } as never;
    const raising = createRaise({
      ...{ store, clock: () => NOW, feeds: ['a', 'b'], backups: undefined, tell() {} },
      health: () => ({ servers: [] }) as never,
      onError: failure => failures.push(failure),
    });
    onTestFinished(raising.close);
    return raising;
  };
  await raisingWith(new StoreUnavailable('locked')).look();
  expect(failures).toEqual([]);
  const fault = new TypeError('x is not a function');
  await raisingWith(fault).look();
  expect(failures).toEqual([fault]);
});

describe('a receiver', () => {
  interface Got {
    readonly headers: IncomingHttpHeaders;
    readonly body: string;
  }
  /** What it answers in turn; 0 never answers. */
  async function receiver(...statuses: number[]) {
    const got: Got[] = [];
    const http = createServer(async (request, response) => {
      let body = '';
      for await (const part of request) body += part;
      got.push({ headers: request.headers, body });
      const status = statuses[Math.min(got.length, statuses.length) - 1]!;
      if (status !== 0) response.writeHead(status, { location: '/elsewhere' }).end('x'.repeat(1_000));
    });
    await new Promise<void>(resolve => http.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      http.closeAllConnections();
      http.close();
    });
    return { got, url: `http://127.0.0.1:${(http.address() as { port: number }).port}/hook` };
  }

  /** Where nobody listens any more: 1 is a port that fetch does not go to. */
  async function deadUrl(): Promise<string> {
    const http = createServer();
    await new Promise<void>(resolve => http.listen(0, '127.0.0.1', resolve));
    const { port } = http.address() as { port: number };
    await new Promise(resolve => http.close(resolve));
    return `http://127.0.0.1:${port}/hook`;
  }

  const secret = Buffer.alloc(32, 7);
  const event: Event = {
    id: 'quota.warning key_1 2026-11 10',
    kind: 'quota.warning',
    subject: 'key_1',
    text: 'x',
  };
  function sender(url: string, waits = [5, 5], tryMs = 5_000) {
    const logged: string[] = [];
    const log = pino({}, { write: line => void logged.push(line) });
    const webhook = createWebhook({ url, secret, log, clock: () => NOW, waits, tryMs });
    onTestFinished(webhook.close);
    return { webhook, logged };
  }
  const count = (got: readonly Got[], times: number) =>
    vi.waitFor(() => expect(got).toHaveLength(times), 5_000);

  test('in trouble gets it again, with the same id, signed as Standard Webhooks are', async () => {
    const { got, url } = await receiver(500, 302, 200);
    const { webhook, logged } = sender(url);
    webhook.send(event, NOW);
    await count(got, 3);
    const ids = new Set(got.map(({ headers }) => headers['webhook-id']));
    expect(ids.size).toBe(1);
    const { headers, body } = got[2]!;
    expect(JSON.parse(body)).toEqual({
      type: 'quota.warning',
      timestamp: '2026-11-15T00:00:00Z',
      data: { subject: 'key_1', text: 'x' },
    });
    const content = `${headers['webhook-id']}.${NOW / 1_000}.${body}`;
    const signature = createHmac('sha256', secret).update(content).digest('base64');
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'webhook-id': expect.stringMatching(/^evt_[0-9a-f]{32}$/),
      'webhook-timestamp': String(NOW / 1_000),
      'webhook-signature': `v1,${signature}`,
    });
    expect(logged).toEqual([]);
  });

  test('that never answers, or is not there, is given up after the last try, and the log says so', async () => {
    const { got, url } = await receiver(0);
    const slow = sender(url, [5], 100);
    const dead = sender(await deadUrl(), [5]);
    slow.webhook.send(event, NOW);
    dead.webhook.send(event, NOW);
    await vi.waitFor(() => expect([slow.logged.length, dead.logged.length]).toEqual([1, 1]), 5_000);
    expect(got).toHaveLength(2);
    expect(slow.logged[0]).toMatch(/given up/);
    expect(dead.logged[0]).toMatch(/ECONNREFUSED.*given up/);
  });

  test('that is gone is left alone; what cannot wait is told; the end gives up what waits', async () => {
    const { got, url } = await receiver(410);
    const gone = sender(url);
    gone.webhook.send(event, NOW);
    await vi.waitFor(() => expect(gone.logged).toHaveLength(1), 5_000);
    gone.webhook.send(event, NOW);
    const full = sender('http://127.0.0.1:1/hook', [60_000]);
    for (let sent = 0; sent <= MOST_WAITING; sent++) full.webhook.send(event, NOW);
    expect(full.logged).toEqual([expect.stringContaining('too many wait')]);
    full.webhook.close();
    await vi.waitFor(() => expect(full.logged).toHaveLength(1 + MOST_WAITING), 5_000);
    expect(got).toHaveLength(1);
  });
});

test('an address for events needs a secret to sign them with', () => {
  const url = 'https://hooks.example.com/a';
  expect(() => readConfig({ ALERT_WEBHOOK: url })).toThrow(/ALERT_WEBHOOK: needs ALERT_WEBHOOK_SECRET/);
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  expect(readConfig({ ALERT_WEBHOOK: url, ALERT_WEBHOOK_SECRET: secret }).webhook).toEqual({
    url,
    secret: Buffer.alloc(32, 7),
  });
  expect(readConfig({}).webhook).toBeUndefined();
});
