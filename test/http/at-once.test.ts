import { EventEmitter } from 'node:events';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Call } from '../../src/http/call.ts';
import { changesBytes, changesEtag, prepare } from '../../src/http/changes-page.ts';
import { changesEndpoint } from '../../src/http/endpoints/changes.ts';
import { filterEndpoint } from '../../src/http/endpoints/filter.ts';
import { topEndpoint } from '../../src/http/endpoints/top.ts';
import { usageEndpoint } from '../../src/http/endpoints/usage.ts';
import type { LongWork } from '../../src/http/turns.ts';

const senderOf = ({ head, connection }: Call) => ({
  key: head.authorization,
  network: (connection as unknown as { network: string }).network,
});

/** What a caller saw, and what became of its call. */
function calling(
  endpoint: (call: Call) => void,
  authorization: string,
  network = 'n',
  takeTurns?: (work: LongWork) => void,
) {
  const res = Object.assign(new EventEmitter(), {
    status: 0,
    writeHead(status: number) {
      res.status = status;
    },
    write: () => true,
    end() {},
  });
  const call = {
    ...{ req: { method: 'GET' }, res, head: { authorization }, quota: [], requestId: 'r' },
    ...{ target: { query: '' }, connection: { sends: () => true, network, takeTurns }, finished() {} },
  } as unknown as Call;
  endpoint(call);
  return { res, end: () => call.finished(call, 200) };
}

test.each([
  ['changes', changesEndpoint],
  ['filter', filterEndpoint],
])(
  'of one caller a few calls for %s are worked on at a time: more are 503 and not counted, others are let in',
  (_, make) => {
    let counted = 0;
    const endpoint = make({ doors: { spend: () => counted++, senderOf }, changes: {}, filters: {} } as never);
    const first = calling(endpoint, 'Bearer a');
    for (let more = 0; more < 31; more++) expect(calling(endpoint, 'Bearer a').res.status).toBe(0);
    expect(counted).toBe(32);
    expect(calling(endpoint, 'Bearer a').res.status).toBe(503);
    expect(counted).toBe(32);
    expect(calling(endpoint, 'Bearer b').res.status).toBe(0);
    first.end();
    first.end();
    expect(calling(endpoint, 'Bearer a').res.status).toBe(0);
    expect(calling(endpoint, 'Bearer a').res.status).toBe(503);
  },
);

test('one network that sends a key keeps out no other that does, and two of them together have few more than one', () => {
  const endpoint = changesEndpoint({ doors: { spend() {}, senderOf }, changes: {} } as never);
  const from = (network: string) => calling(endpoint, 'Bearer web', network).res.status;
  expect(Array.from({ length: 40 }, () => from('a')).filter(status => status === 0)).toHaveLength(32);
  expect(Array.from({ length: 40 }, () => from('b')).filter(status => status === 0)).toHaveLength(16);
  expect([from('a'), from('b'), from('c')]).toEqual([503, 503, 0]);
});

test('however many networks send a key, each may have one call, up to a number that they have in all', () => {
  const endpoint = changesEndpoint({ doors: { spend() {}, senderOf }, changes: {} } as never);
  const from = (network: string) => calling(endpoint, 'Bearer web', network).res.status;
  const many = Array.from({ length: 130 }, (_, at) => from(`${at}`));
  expect([many.filter(status => status === 0).length, many.at(-1)]).toEqual([128, 503]);
  expect(from('0')).toBe(503);
});

test('of one caller a few calls for its usage are worked on at a time', () => {
  let entered = 0;
  const enter = () => {
    entered++;
    return new Promise(() => {});
  };
  const endpoint = usageEndpoint({ doors: { enter, senderOf }, admit: {} } as never);
  const calls = Array.from({ length: 9 }, () => calling(call => void endpoint(call), 'Bearer a'));
  expect([entered, calls[7]!.res.status, calls[8]!.res.status]).toEqual([8, 0, 503]);
  calls[0]!.end();
  expect(calling(call => void endpoint(call), 'Bearer a').res.status).toBe(0);
});

const list = { rows: [], length: () => 0 };
test.each([
  [
    'a filter',
    filterEndpoint,
    { filters: { current: async () => ({ bytes: Buffer.from('x'), etag: '"x"' }) } },
  ],
  ['a ranking', topEndpoint, { rank: { top: async () => list } }],
])('%s that many may have waited for goes to each of them in a turn of its own', async (_, make, parts) => {
  const doors = { senderOf, spend: (_: Call, go: () => unknown) => void go() };
  const endpoint = make({ ...parts, doors } as never);
  const works: LongWork[] = [];
  const takeTurns = (work: LongWork) => void works.push(work);
  const calls = ['a', 'a', 'b'].map(key => calling(endpoint, `Bearer ${key}`, 'n', takeTurns));
  await vi.waitFor(() => expect(works).toHaveLength(3));
  expect(calls.map(({ res }) => res.status)).toEqual([0, 0, 0]);
  works[1]!.step();
  expect(calls.map(({ res }) => res.status).sort()).toEqual([0, 0, 200]);
});

test('a page is made of parts of portions, and its tag tells what it says', () => {
  const row = (id: number) => ({
    ...{ id, domain: `d${id}.com`, change: 'flagged' as const, at: 0, feeds: ['é'] },
  });
  const first = { rows: [row(1), row(2), row(3)] };
  const page = {
    pieces: [
      { portion: first, from: 2, to: 3 },
      { portion: { rows: [row(4)] }, from: 0, to: 1 },
    ],
    ...{ cursor: { id: 4, at: 9 }, more: true },
  };
  const at = '1970-01-01T00:00:00Z';
  expect(JSON.parse(changesBytes(page).toString())).toEqual({
    changes: [3, 4].map(id => ({ domain: `d${id}.com`, change: 'flagged', at, feeds: ['é'] })),
    ...{ cursor: 'c4.9', more: true },
  });
  const none = { pieces: [{ portion: first, from: 1, to: 1 }], cursor: { id: 2, at: 0 }, more: false };
  expect(JSON.parse(changesBytes(none).toString())).toEqual({ changes: [], cursor: 'c2.0', more: false });
  // Another server has read the same.
  expect(changesEtag(structuredClone(page))).toBe(changesEtag(page));
  const others = [none, { ...page, more: false }, { ...page, pieces: page.pieces.slice(1) }];
  const changed = structuredClone(page);
  Object.assign(changed.pieces[0]!.portion.rows[2]!, { change: 'cleared' });
  const tags = new Set([page, changed, ...others].map(one => changesEtag(one)));
  expect(tags.size).toBe(5);
});

test('the bytes of one portion are made in a turn', async () => {
  const made: number[] = [];
  let turns = 0;
  const portion = () => ({
    get rows() {
      made.push(turns);
      return [];
    },
  });
  const page = {
    pieces: [portion(), portion(), portion()].map(one => ({ portion: one, from: 0, to: 0 })),
    ...{ cursor: { id: 1, at: 0 }, more: false },
  };
  const turn = () => {
    turns++;
    if (turns < 9) setImmediate(turn);
  };
  setImmediate(turn);
  await prepare(page);
  await prepare(page);
  expect([made.length, new Set(made).size]).toEqual([3, 3]);
});

test('the moment of an update is written once for all that it changed', async () => {
  const row = (id: number, at: number) => ({
    ...{ id, domain: `d${id}.com`, change: 'flagged' as const, at, feeds: [] },
  });
  const portion = { rows: Array.from({ length: 250 }, (_, id) => row(id, id < 100 ? 1_000 : 2_000)) };
  const page = { pieces: [{ portion, from: 99, to: 101 }], cursor: { id: 101, at: 2_000 }, more: false };
  const written = vi.spyOn(Date.prototype, 'toISOString');
  onTestFinished(() => written.mockRestore());
  await prepare(page);
  expect(written).toHaveBeenCalledTimes(2);
  const { changes } = JSON.parse(changesBytes(page).toString()) as { changes: { at: string }[] };
  expect(changes.map(({ at }) => at)).toEqual(['1970-01-01T00:00:01Z', '1970-01-01T00:00:02Z']);
});
