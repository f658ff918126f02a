/** Which answers are kept, how they are written behind calls, and how they are found again. */

import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { DECISIONS_AT_ONCE, type Decision } from '../src/core/decision.ts';
import type { Answer } from '../src/lookup.ts';
import type { Rank } from '../src/rank.ts';
import { createRecall, MOST_PENDING, recallingBeside } from '../src/recall.ts';
import { run, runJson } from './support/process.ts';
import { sharedService, temporaryFolder } from './support/service.ts';
import { storeAt } from './support/store.ts';

const NOW = Date.UTC(2026, 10, 15, 9, 30);
const DAY = 86_400_000;
const TOKEN = 'token-of-the-tests-0123456789abcdef';

const answerOf = (domain: string, reason = 'disposable') =>
  ({
    verdict: { domain, riskScore: reason === 'safe' ? 5 : 90, reason },
    snapshot: 'aa67',
    degraded: false,
  }) as Answer;

function world(log: 'off' | 'flagged' | 'all', days = 30) {
  const written: (readonly [readonly Decision[], number])[] = [];
  const trouble = { on: false };
  const errors: unknown[] = [];
  const store = {
    async writeDecisions(decisions: readonly Decision[], now: number, keptMs: number) {
      if (trouble.on) throw new Error('away');
      written.push([decisions, now - keptMs]);
      return false;
    },
  };
  const recall = createRecall({ store, clock: () => NOW, log, days, onError: error => errors.push(error) });
  onTestFinished(() => recall.close());
  return {
    recall,
    written,
    trouble,
    errors,
    domains: () => written.flatMap(([all]) => all.map(one => one.domain)),
  };
}

test('what the store had taken of a batch before it failed is not written twice', async () => {
  const { recall, trouble, domains, written } = world('all');
  const names = Array.from({ length: DECISIONS_AT_ONCE + 1 }, (_, at) => `name-${at}.com`);
  for (const name of names) recall.note!(answerOf(name), 'key_1');
  const push = written.push.bind(written);
  written.push = one => {
    trouble.on = true;
    return push(one);
  };
  await recall.flush();
  trouble.on = false;
  await recall.flush();
  expect(domains()).toEqual(names);
});

test.each([
  ['flagged', ['a.com']],
  ['all', ['a.com', 'b.com']],
] as const)('DECISION_LOG=%s keeps %j, in one batch, and forgets what is too old', async (log, kept) => {
  const { recall, written, domains } = world(log, 7);
  recall.note!(answerOf('a.com'), 'key_1');
  recall.note!(answerOf('b.com', 'safe'), 'key_1');
  expect(written).toEqual([]);
  await recall.flush();
  expect([domains(), written.length, written[0]![1]]).toEqual([kept, 1, NOW - 7 * DAY]);
  expect(written[0]![0][0]).toEqual({
    ...{ at: NOW, keyId: 'key_1', domain: 'a.com', score: 90, reason: 'disposable' },
    ...{ snapshot: 'aa67', degraded: false },
  });
});

test('where nothing is kept a call takes the very same way', () => {
  const rank = { note: () => {} } as unknown as Rank;
  expect(recallingBeside(rank, world('off').recall)).toBe(rank);
});

test('within a second by itself; old ones go within an hour also where nothing is kept', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const on = world('all');
  on.recall.note!(answerOf('a.com'), 'key_1');
  await vi.advanceTimersByTimeAsync(1_000);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(on.domains()).toEqual(['a.com']);
  expect(on.written).toHaveLength(1);
  const off = world('off');
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(off.written).toEqual([[[], NOW - 30 * DAY]]);
});

test('a store that is away loses nothing that there is room for, and the rest is counted', async () => {
  const { recall, trouble, errors, domains } = world('all');
  const room = (MOST_PENDING * 3) / 4;
  trouble.on = true;
  recall.note!(answerOf('first.com'), 'key_1');
  const writing = recall.flush();
  for (let left = room + 4; left > 0; left--) recall.note!(answerOf('more.com'), 'key_1');
  await writing;
  expect([errors.length, recall.dropped()]).toEqual([1, 5]);
  recall.note!(answerOf('of-others.com'), 'key_2');
  trouble.on = false;
  await recall.close();
  expect([domains().length, domains()[0], domains().at(-1)]).toEqual([
    room + 1,
    'first.com',
    'of-others.com',
  ]);
});

const shared = sharedService({ env: { ADMIN_TOKEN: TOKEN, DECISION_LOG: 'all' } });
interface Shown {
  readonly log: string;
  readonly decisions: readonly (Record<string, unknown> & { readonly domain: string })[];
  readonly next: string | null;
}
const find = async (query: string): Promise<Shown> =>
  (await (await shared().get(`/admin/decisions?${query}`, TOKEN)).json()) as Shown;
const domainsOf = ({ decisions }: Shown) => decisions.map(({ domain }) => domain);

test('every way of asking leaves its decisions, never an address, found by domain, key and time, page by page', async () => {
  const { key, get, base, store } = shared();
  const { key: record, secret } = await key({ name: 'signup' });
  await get('/v1/public/domain/mailinator.com', secret);
  await get('/v1/check/info-q7zx9k@yopmail.com', secret);
  await fetch(`${base}/v1/public/domains`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ domains: ['gmail.com', 'not valid', 'mailinator.com'] }),
  });
  await get('/v1/public/domain/mailinator.com', 'drk_none');
  await vi.waitFor(async () => expect((await find('')).decisions).toHaveLength(4), { timeout: 20_000 });

  const all = await find('');
  expect(all).toMatchObject({ log: 'all', next: null });
  expect(JSON.stringify(all)).not.toContain('q7zx9k');
  const [gmail] = (await find('domain=GMAIL.com')).decisions;
  expect(gmail).toEqual({
    at: expect.stringMatching(/^\d{4}-.*Z$/),
    ...{ key: record.id, key_name: 'signup', domain: 'gmail.com', reason: 'safe', degraded: false },
    ...{ risk_score: expect.any(Number), snapshot: expect.any(String) },
  });
  for (const by of [record.id, 'signup']) expect((await find(`key=${by}`)).decisions).toHaveLength(4);
  const unknown = await shared().get('/admin/decisions?key=nobody', TOKEN);
  expect([unknown.status, await unknown.text()]).toEqual([422, expect.stringContaining('/admin/keys')]);
  // The console asks all the time, and there may be many keys.
  const listed = vi.spyOn(store, 'listKeys').mockRejectedValue(new Error('all keys were read'));
  expect((await find('key=signup')).decisions).toHaveLength(4);
  listed.mockRestore();
  expect(domainsOf(await find('since=2099-01-01'))).toEqual([]);
  const first = await find('domain=mailinator.com&limit=1');
  const second = await find(`domain=mailinator.com&limit=1&before=${first.next}`);
  expect([domainsOf(first), domainsOf(second)]).toEqual([['mailinator.com'], ['mailinator.com']]);
  expect((await find(`domain=mailinator.com&before=${second.next}`)).decisions).toEqual([]);
  for (const query of ['domain=a@b.com', 'since=tuesday', 'before=x', 'limit=1001'])
    expect((await get(`/admin/decisions?${query}`, TOKEN)).status).toBe(422);
  expect(await store.decisions({ since: 0, most: 9 })).toHaveLength(4);
});

test('the command finds them, and says where none are kept', async () => {
  const folder = temporaryFolder();
  const store = await storeAt(join(folder, 'domain-risk.db'));
  const one = {
    keyId: 'key_gone',
    score: 90,
    reason: 'disposable',
    snapshot: 'aa67',
    degraded: true,
  } as const;
  await store.writeDecisions([{ ...one, at: NOW, domain: 'a.com' }], 10, 10);
  await store.writeDecisions([{ ...one, at: Date.now(), domain: 'b.com' }], 10, 10);
  await store.close();
  const rows = await runJson<{ domain: string }[]>(['decisions', '--since', '1h'], { folder });
  expect(rows).toMatchObject([{ domain: 'b.com', key: 'key_gone', key_name: null, degraded: true }]);
  const none = await run(['decisions', '--domain', 'c.com'], { folder });
  expect([none.code, none.stdout, none.stderr]).toEqual([
    0,
    '',
    expect.stringContaining('kept by servers that run with DECISION_LOG=flagged or all'),
  ]);
});
