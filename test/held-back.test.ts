/** From what callers really ask to a list that is held back, and what an operator does about it. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { AddedFeed } from '../src/core/added-feed.ts';
import { lastDays } from '../src/core/quota.ts';
import { freshFeeds } from '../src/feeds/fresh.ts';
import { PACKING } from '../src/feeds/pack.ts';
import { updateFeeds } from '../src/update.ts';
import { catalogOf } from './support/catalog.ts';
import { mx, startDns } from './support/dns.ts';
import { eventually } from './support/scale.ts';
import { startTestService, type TestService, temporaryFolder } from './support/service.ts';
import { FEW_TABLES } from './support/versions.ts';

const DAY = 86_400_000;
const TODAY = Date.parse('2026-11-16T12:00:00Z');
const TOKEN = 'a-token-of-an-operator-0123456789abcdef';
const REGULARS = Array.from({ length: 6 }, (_, at) => `regular${at}.com`);

test('what callers asked for on seven days holds a list back that would flag it, until an operator approves', async () => {
  const folder = temporaryFolder();
  const catalog = await catalogOf(['other.com']);
  const dns = await startDns(
    REGULARS.map(name => [name, { records: [mx(name, 10, 'mx.elsewhere.net')] }] as const),
  );
  onTestFinished(() => dns.close());
  const start = (now: number) =>
    startTestService({ folder, dns, catalog, clock: () => now, env: { ADMIN_TOKEN: TOKEN }, followMs: 20 });
  const reasonsOf = async (service: TestService, secret: string) => {
    const reasons = REGULARS.map(async name => {
      const response = await service.get(`/v1/public/domain/${name}`, secret);
      return ((await response.json()) as { reason: string }).reason;
    });
    return [...new Set(await Promise.all(reasons))].join();
  };
  const before = await start(TODAY - DAY);
  const { secret } = await before.key();
  // On six days before it was asked for the same; it takes one more.
  for (const day of lastDays(TODAY - 2 * DAY, 6))
    await before.store.keepAsked({ day, server: 'other', names: REGULARS.join(' ') }, '2026-11-01');
  expect(await reasonsOf(before, secret)).toBe('safe');
  await before.close();

  const service = await start(TODAY);
  const { store, base } = service;
  const list = join(folder, 'list.txt');
  writeFileSync(list, [...REGULARS, 'burner.com'].join('\n'));
  const added = { name: 'ours', place: list, kind: 'disposable', format: 'lines', verified: true } as const;
  const admin = async (method: string, path: string, sent?: object) => {
    const headers = {
      authorization: `Bearer ${TOKEN}`,
      'x-operator': 'Ada',
      'content-type': 'application/json',
    };
    const body = sent ? JSON.stringify(sent) : null;
    const response = await fetch(`${base}/admin/${path}`, { method, headers, body });
    return { status: response.status, body: (await response.json()) as Record<string, never> };
  };
  const update = async () => {
    const all: AddedFeed[] = await store.addedFeeds();
    const [done] = await updateFeeds(
      {
        ...{ store, installed: [], tables: async () => FEW_TABLES, catalog: async () => catalog },
        ...{ packing: PACKING, clock: () => TODAY, actor: { who: 'domain-risk', via: 'FEEDS_UPDATE' } },
        sources: freshFeeds(new Map(), all).filter(({ feed }) => feed.id === 'ours'),
      },
      { force: false, dryRun: false, progress: () => {} },
    );
    return done!.outcome;
  };
  await store.addFeed({ ...added, addedAt: TODAY }, 9, {
    at: TODAY,
    who: 'Ada',
    via: 'test',
    action: 'feed.add',
    subject: 'ours',
    detail: null,
  });
  const due = { name: 'feeds', holder: null, until: 0, dueAt: TODAY + DAY };
  await store.swapLease(due, undefined);

  expect(await update()).toBe('waiting');
  const { missing } = (await admin('GET', 'feeds')).body;
  expect(missing).toMatchObject([{ feed: 'ours', waiting: REGULARS }]);
  const problem = async () =>
    ((await admin('GET', 'feeds')).body.missing as { problem: string }[] | undefined)?.[0]?.problem;
  expect(await problem()).toMatch(/6 established names .* "feeds approve ours" takes it/);
  const rejected = { feed: 'ours', approved: false, domains: REGULARS };
  // What was looked at, and nothing else: other domains may wait by now.
  for (const act of ['approve', 'reject']) {
    expect(await admin('POST', `feeds/ours/${act}`)).toMatchObject({
      status: 422,
      body: { detail: 'name the domains of ours that you looked at, all that wait' },
    });
    for (const domains of [REGULARS.slice(1), [...REGULARS, 'more.com']])
      expect(await admin('POST', `feeds/ours/${act}`, { domains })).toMatchObject({
        status: 422,
        body: { detail: 'other domains of ours wait by now: look at them first' },
      });
  }
  const seen = { domains: REGULARS.toReversed() };
  expect(await admin('POST', 'feeds/ours/reject', seen)).toEqual({ status: 200, body: rejected });
  // Nobody waits any more, and what was rejected are no others.
  const others = Array.from({ length: 1_000 }, (_, at) => `more${at}.com`);
  expect(await admin('POST', 'feeds/ours/approve', { domains: others, take_back: true })).toMatchObject({
    ...{
      status: 422,
      body: { detail: expect.stringMatching(/^no version of ours waits, and what was decided/) },
    },
  });
  expect((await admin('POST', 'feeds/ours/reject')).status).toBe(404);
  // Nor is a decision undone by who looked before it was made, and is not told of it (2026-11-18).
  expect(await admin('POST', 'feeds/ours/approve', seen)).toMatchObject({
    status: 422,
    body: {
      detail:
        'an operator has rejected these domains of ours by now: look first; --take-back (over HTTP "take_back": true) takes that back',
    },
  });
  expect(await store.lease('feeds')).toEqual(due);
  const isRejected = /^it would flag 6 names that an operator rejected: "feeds approve ours" takes it all/;
  expect(await problem()).toMatch(isRejected);
  expect(await update()).toBe('refused');
  expect(await problem()).toMatch(isRejected);
  expect((await admin('POST', 'feeds/ours/approve', seen)).status).toBe(422);
  expect(await admin('POST', 'feeds/ours/approve', { ...seen, take_back: 1 })).toMatchObject({
    ...{ status: 422, body: { detail: 'take_back must be true or false' } },
  });
  expect(await reasonsOf(service, secret)).toBe('safe');

  const approved = { ...rejected, approved: true };
  expect(await admin('POST', 'feeds/ours/approve')).toEqual({ status: 200, body: approved });
  // Whoever looks next begins an update.
  expect(await store.lease('feeds')).toEqual({ ...due, dueAt: 0 });
  expect(await problem()).toBe('it would flag 6 names, which is approved: "feeds update ours" takes it');
  expect(await admin('POST', 'feeds/ours/reject', seen)).toMatchObject({
    ...{
      status: 422,
      body: { detail: expect.stringMatching(/^an operator has approved these domains of ours/) },
    },
  });
  const takesBack = { domains: REGULARS, take_back: true };
  expect(await admin('POST', 'feeds/ours/reject', takesBack)).toEqual({ status: 200, body: rejected });
  expect(await admin('POST', 'feeds/ours/approve', takesBack)).toEqual({ status: 200, body: approved });
  // Nobody has fetched it yet: what was approved may be approved again, which fetches it, by an older page too.
  expect(await admin('POST', 'feeds/ours/approve', seen)).toEqual({ status: 200, body: approved });
  await store.swapLease(due, { ...due, dueAt: 0 });
  expect(await admin('POST', 'feeds/ours/approve')).toEqual({ status: 200, body: approved });
  expect(await store.lease('feeds')).toEqual({ ...due, dueAt: 0 });
  expect(await update()).toBe('accepted');
  expect((await admin('POST', 'feeds/ours/approve')).status).toBe(404);
  await eventually('the service follows', async () => (await reasonsOf(service, secret)) === 'disposable');
  expect((await store.audit(7)).map(({ action, who }) => [action, who])).toEqual([
    ['feed.update', 'domain-risk'],
    ...['approve', 'approve', 'approve', 'reject', 'approve', 'reject'].map(act => [`feed.${act}`, 'Ada']),
  ]);

  // What no update would take is not approved.
  writeFileSync(list, [...REGULARS, 'burner.com', 'later.com'].join('\n'));
  expect((await admin('POST', 'feeds/ours/rollback')).status).toBe(200);
  expect(await update()).toBe('held');
  expect(await admin('POST', 'feeds/ours/approve')).toMatchObject({
    status: 422,
    body: { detail: 'ours was rolled back, and updates leave it alone: undo that first' },
  });
});
