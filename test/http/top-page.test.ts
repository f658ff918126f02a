import { expect, test } from 'vitest';
import type { Call } from '../../src/http/call.ts';
import { topEndpoint } from '../../src/http/endpoints/top.ts';
import { TopPage } from '../../src/http/top-page.ts';
import type { LongWork } from '../../src/http/turns.ts';
import type { TopDomain } from '../../src/rank.ts';

const rows = (count: number, flags = 0): TopDomain[] =>
  Array.from({ length: count }, (_, at) => ({
    ...{ domain: `d${at}.com`, riskScore: 90, reason: 'disposable', flags },
  }));
const parsed = (page: TopPage, length: number) =>
  JSON.parse(page.begin(length).toString() + page.end(length)) as { domains: unknown[]; count: number };

test('every length is a part of the same bytes', () => {
  const page = new TopPage(rows(1_000), false);
  const all = parsed(page, 1_000);
  expect(all.count).toBe(1_000);
  for (const length of [0, 1, 99, 100, 101, 999]) {
    expect(parsed(page, length)).toEqual({ domains: all.domains.slice(0, length), count: length });
    expect(page.begin(length).buffer).toBe(page.begin(1_000).buffer);
  }
  expect(parsed(new TopPage([], true), 0)).toEqual({ domains: [], count: 0 });
  expect(parsed(new TopPage(rows(1, 2), true), 1).domains).toEqual([
    { domain: 'd0.com', risk_score: 90, reason: 'disposable', flags: 2, source: 'observed' },
  ]);
});

test('a tag stands for what the rows say and how many they are: the same from every server, and for as long as that holds', () => {
  const page = new TopPage(rows(250), false);
  const tags = [0, 1, 2, 100, 101, 200, 250].map(length => page.etag(length));
  expect(new Set(tags).size).toBe(tags.length);
  for (const tag of tags) expect(tag).toMatch(/^"[\w-]{22}-\d+"$/);
  const changed = rows(250).with(150, rows(1)[0]!);
  for (const [other, same] of [
    [new TopPage(rows(250), false), [0, 1, 100, 101, 250]],
    [new TopPage(rows(1_000), false), [0, 1, 100, 200]],
    [new TopPage(changed, false), [0, 1, 100]],
    [new TopPage(rows(250, 1), false), [0, 1, 100, 101, 250]],
    [new TopPage(rows(250), true), [0]],
  ] as const) {
    const equal = [0, 1, 100, 101, 200, 250].filter(length => other.etag(length) === page.etag(length));
    expect(equal).toEqual(expect.arrayContaining([...same]));
  }
  for (const other of [new TopPage(changed, false), new TopPage(rows(250), true)])
    expect(other.etag(250)).not.toBe(page.etag(250));
});

/** Nobody else waits. */
const CONNECTION = { sends: () => true, takeTurns: (work: LongWork) => void work.step() };

test('who asks for a thousand lengths of a list, explained or not, has each row of it written twice', async () => {
  let written = 0;
  const counted = rows(1_000).map(row => ({
    ...row,
    get domain() {
      written++;
      return row.domain;
    },
  }));
  const list = { rows: counted, length: (limit: number) => limit };
  const served: Promise<void>[] = [];
  const endpoint = topEndpoint({
    doors: { spend: (_: Call, serve: () => Promise<void>) => served.push(serve()) },
    rank: { top: async () => list },
  } as never);
  const finished: number[] = [];
  const res = { writeHead() {}, write: (_: Buffer, then?: () => void) => then?.(), end() {} };
  for (let limit = 1; limit <= 1_000; limit++) {
    endpoint({
      ...{ req: { method: 'GET' }, res, head: {}, quota: [], requestId: 'r' },
      target: { query: `limit=${limit}&explain=${limit % 2 === 0}` },
      connection: CONNECTION,
      finished: (_: Call, status: number) => finished.push(status),
    } as never);
  }
  await Promise.all(served);
  expect(finished).toEqual(Array(1_000).fill(200));
  expect(written).toBe(2_000);
});

test('a list is written in one turn and sent in another, to those who find it written at once', async () => {
  const list = { rows: rows(1), length: (limit: number) => Math.min(limit, 1) };
  const served: Promise<void>[] = [];
  const endpoint = topEndpoint({
    doors: { spend: (_: Call, serve: () => Promise<void>) => served.push(serve()) },
    rank: { top: async () => list },
  } as never);
  const sent: string[] = [];
  const ask = (who: string) =>
    endpoint({
      ...{ req: { method: 'HEAD' }, res: { writeHead() {}, end() {} }, head: {}, quota: [], requestId: 'r' },
      ...{ target: { query: '' }, connection: CONNECTION, finished: () => sent.push(who) },
    } as never);
  ask('first');
  setImmediate(() => sent.push('a turn'));
  await Promise.all(served);
  ask('second');
  setImmediate(() => sent.push('a turn'));
  await Promise.all(served);
  expect(sent).toEqual(['a turn', 'first', 'second']);
});
