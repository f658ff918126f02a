import { createHash } from 'node:crypto';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { buildCatalog, followFeeds, inTurns, makeNext, type Stored } from '../src/assemble.ts';
import { type AddedFeed, feedOf as feedOfAdded } from '../src/core/added-feed.ts';
import type { Catalog } from '../src/core/catalog.ts';
import type { AcceptedSnapshot, Feed, FeedSource } from '../src/core/feed.ts';
import { cleaning, textOf } from '../src/core/snapshot.ts';
import { allAtOnce, type Steps } from '../src/core/steps.ts';
import { PACKING } from '../src/feeds/pack.ts';
import { readTables } from '../src/feeds/tables.ts';
import { eventually } from './support/scale.ts';

const feedOf = (id: string): Feed => ({
  id,
  kind: 'disposable',
  family: 'broad',
  licence: 'MIT',
  origin: `list ${id}`,
  atLeast: 1,
});

function source(id: string, names: string[], version = '1.0.0'): FeedSource {
  return { feed: feedOf(id), read: async () => ({ version, names }) };
}

const build = (...feeds: FeedSource[]) => buildCatalog({ feeds, tables: () => readTables() }, () => {});

describe('building a catalog', () => {
  it('tells its progress feed by feed, up to the end', async () => {
    const told: unknown[] = [];
    const feeds = [source('a', ['a.com']), source('b', ['b.com'])];
    await buildCatalog({ feeds, tables: () => readTables() }, (...progress) => told.push(progress));
    expect(told).toEqual([
      ['a', 0, 2],
      ['b', 1, 2],
      ['catalog', 2, 2],
    ]);
  });

  it('gives the same generation for the same feeds and another one for a new version', async () => {
    const { generation } = await build(source('a', ['a.com']));
    expect(generation).toMatch(/^[0-9a-f]{12}$/);
    expect((await build(source('a', ['a.com']))).generation).toBe(generation);
    expect((await build(source('a', ['a.com'], '1.0.1'))).generation).not.toBe(generation);
    expect((await build(source('b', ['a.com']))).generation).not.toBe(generation);
  });

  it('finds its names by other chance each time, so that whoever writes a list cannot make them slow', async () => {
    const seeds = [0, 1].map(async () => {
      const { bytes } = (await build(source('a', ['a.com']))).snapshots[0]!.names;
      return Buffer.from(bytes.buffer, 4, 16).toString('hex');
    });
    expect(new Set(await Promise.all(seeds)).size).toBe(2);
  });

  it('fails whole when one feed is broken', async () => {
    await expect(build(source('a', ['a.com']), source('b', ['no name']))).rejects.toThrow(
      'list b: 0 usable names',
    );
  });

  it('fails when a feed names one of the largest mailbox providers', async () => {
    await expect(build(source('a', ['a.com', 'gmail.com']))).rejects.toThrow('list a names gmail.com');
  });

  it('fails when a table is broken, before any feed is read', async () => {
    const broken: FeedSource = { ...source('a', []), read: () => Promise.reject(new Error('read')) };
    const tables = async () => ({ ...(await readTables()), 'roles.txt': 'Not A Word' });
    await expect(buildCatalog({ feeds: [broken], tables }, () => {})).rejects.toThrow('data/roles.txt:1:');
  });
});

/** What is installed (`a` and `b`), what updates may bring (`c` too), and a store for it. */
function world() {
  const kept = new Map<string, AcceptedSnapshot>();
  const added: AddedFeed[] = [];
  const told: string[] = [];
  let reads = 0;
  const stored: Stored = {
    store: {
      addedFeeds: async () => [...added],
      snapshots: async () => [...kept.values()],
      snapshot: async feed => {
        reads++;
        return kept.get(feed);
      },
    },
    unpack: PACKING.unpack,
    onError: error => told.push((error as Error).message),
  };
  const sources = {
    feeds: [source('a', ['a.com']), source('b', ['b.com'])],
    tables: () => readTables(),
    updated: ['a', 'b', 'c'].map(id => ({ ...feedOf(id), origin: `https://${id}` })),
  };

  async function accept(feed: string, names: string[], acceptedAt = 1_000): Promise<void> {
    const snapshot = allAtOnce(cleaning(feedOf(feed), { version: 'new', names }));
    const body = await PACKING.pack(textOf(snapshot));
    const { digest } = snapshot;
    kept.set(feed, { feed, version: 'new', digest, names: names.length, acceptedAt, body });
  }
  const spoil = (feed: string) =>
    kept.set(feed, { ...kept.get(feed)!, body: 'bm8gZ3ppcA==', digest: 'other' });

  async function follow(everyMs = 3_600_000) {
    let catalog = await buildCatalog(sources, () => {}, stored);
    const { check, close } = followFeeds({
      sources,
      stored,
      catalog: () => catalog,
      everyMs,
      make: (current, unreadable) => makeNext(sources, stored, current, unreadable),
      *adopting(next) {
        return () => {
          catalog = next;
        };
      },
    });
    onTestFinished(close);
    return { check, catalog: () => catalog };
  }
  return { kept, added, told, stored, sources, accept, spoil, follow, reads: () => reads };
}

const namesOf = (catalog: Catalog) => [...catalog.disposableNames()].sort();

describe('what updates brought', () => {
  it('takes the place of what is installed, with feeds that only updates bring', async () => {
    const { accept, stored, sources, told } = world();
    await accept('a', ['a2.com', 'a3.com']);
    await accept('c', ['c.com']);
    const catalog = await buildCatalog(sources, () => {}, stored);
    expect(namesOf(catalog)).toEqual(['a2.com', 'a3.com', 'b.com', 'c.com']);
    expect(
      catalog.status.map(({ feed, version, names, updatedAt }) => [feed.origin, version, names, updatedAt]),
    ).toEqual([
      ['https://a', 'new', 2, 1_000],
      ['list b', '1.0.0', 1, null],
      ['https://c', 'new', 1, 1_000],
    ]);
    expect(told).toEqual([]);
  });

  it('does not stop a start when it cannot be read: what is installed stands in', async () => {
    const { accept, spoil, stored, sources, told } = world();
    for (const feed of ['a', 'c']) {
      await accept(feed, ['x.com']);
      spoil(feed);
    }
    expect(namesOf(await buildCatalog(sources, () => {}, stored))).toEqual(['a.com', 'b.com']);
    expect(told).toEqual(['a', 'c'].map(id => expect.stringContaining(`the stored snapshot of ${id}`)));
  });

  it.each([`${'x'.repeat(254)}.com`, 'b\u00fccher.com'])('is not used where it holds %s', async name => {
    const { kept, stored, sources, told } = world();
    const snapshot = allAtOnce(cleaning(feedOf('a'), { version: 'new', names: ['a2.com'] }));
    const body = textOf({ ...snapshot, names: [name] });
    const digest = createHash('sha256').update(body).digest('hex');
    const head = { feed: 'a', version: 'new', digest, names: 1, acceptedAt: 1_000 };
    kept.set('a', { ...head, body: await PACKING.pack(body) });
    expect(namesOf(await buildCatalog(sources, () => {}, stored))).toEqual(['a.com', 'b.com']);
    expect(told).toEqual([expect.stringContaining('the stored snapshot of a cannot be used: a name is')]);
  });

  it('by force may name a canary, which the tables protect all the same', async () => {
    const { accept, stored, sources } = world();
    await accept('a', ['a2.com', 'gmail.com']);
    const catalog = await buildCatalog(sources, () => {}, stored);
    expect(catalog.listed(['gmail.com']).hits).toEqual([]);
    expect(catalog.status[0]).toMatchObject({ names: 1, dropped: { protected: 1 } });
  });
});

const own = (name: string, kind: AddedFeed['kind'] = 'disposable'): AddedFeed => ({
  ...{ name, place: `https://lists.example/${name}?token=secret`, kind, format: 'lines' },
  ...{ verified: false, addedAt: 1 },
});

describe('lists that an operator added', () => {
  it('count with the others, of every kind, and protected names are on no list', async () => {
    const { accept, added, stored, sources } = world();
    added.push(own('mine'), own('spared', 'protected'), own('b'));
    await accept('mine', ['mine.com', 'a.com', 'spared.com']);
    await accept('spared', ['spared.com', 'b.com']);
    const catalog = await buildCatalog(sources, () => {}, stored);
    expect(['mine.com', 'a.com', 'spared.com', 'b.com'].map(name => catalog.isProtected(name))).toEqual([
      ...[false, false, true, true],
    ]);
    expect(catalog.listed(['mine.com']).hits.map(({ feed }) => feed)).toEqual(['mine']);
    expect(catalog.listed(['spared.com']).hits).toEqual([]);
    const [mine] = catalog.status.filter(({ feed }) => feed.id === 'mine');
    expect(mine!.feed).toEqual(feedOfAdded(own('mine')));
    expect(mine!.feed).toMatchObject({ family: 'broad', origin: 'https://lists.example/mine' });
    expect(catalog.status.filter(({ feed }) => feed.id === 'b')).toMatchObject([
      { feed: { kind: 'disposable' } },
    ]);
  });

  it('are followed when they come, when they become another kind, and when they are gone', async () => {
    const { accept, added, kept, follow } = world();
    const { check, catalog } = await follow();
    const before = catalog().generation;
    added.push(own('mine'));
    expect(await check()).toBe(false);
    await accept('mine', ['mine.com']);
    expect(await check()).toBe(true);
    expect(namesOf(catalog())).toEqual(['a.com', 'b.com', 'mine.com']);
    const asDisposable = catalog().generation;

    added.splice(0, 1, own('mine', 'protected'));
    expect(await check()).toBe(true);
    expect(namesOf(catalog())).toEqual(['a.com', 'b.com']);
    expect(catalog().isProtected('mine.com')).toBe(true);
    expect(catalog().generation).not.toBe(asDisposable);
    expect(await check()).toBe(false);

    added.splice(0, 1);
    kept.delete('mine');
    expect(await check()).toBe(true);
    expect(catalog().isProtected('mine.com')).toBe(false);
    expect(catalog().generation).toBe(before);
    expect(await check()).toBe(false);
  });
});

describe('a running server', () => {
  it('follows what is accepted, as a server that starts afterwards does', async () => {
    const { accept, follow } = world();
    const early = await follow();
    const { generation } = early.catalog();
    expect(await early.check()).toBe(false);
    await accept('a', ['a2.com']);
    await accept('c', ['c.com']);
    expect(await early.check()).toBe(true);
    expect(namesOf(early.catalog())).toEqual(['a2.com', 'b.com', 'c.com']);
    expect(early.catalog().generation).not.toBe(generation);
    const late = await follow();
    expect(late.catalog().generation).toBe(early.catalog().generation);
  });

  it('reads a snapshot once, and what did not change never again', async () => {
    const { accept, follow, reads } = world();
    const server = await follow();
    await accept('a', ['a2.com']);
    await accept('b', ['b2.com']);
    await server.check();
    const catalog = server.catalog();
    expect([await server.check(), await server.check(), reads()]).toEqual([false, false, 2]);
    await accept('b', ['b3.com'], 2_000);
    expect([await server.check(), reads()]).toEqual([true, 3]);
    expect(namesOf(catalog)).toEqual(['a2.com', 'b2.com']);
    expect(namesOf(server.catalog())).toEqual(['a2.com', 'b3.com']);
  });

  it('takes an update that says what is installed for an update, once', async () => {
    const { accept, follow, reads } = world();
    const server = await follow();
    await accept('a', ['a.com']);
    await server.check();
    await server.check();
    expect(reads()).toBe(1);
    expect(server.catalog().status[0]).toMatchObject({ updatedAt: 1_000 });
  });

  it('goes back to what is installed when an update is removed', async () => {
    const { accept, kept, follow } = world();
    const before = (await follow()).catalog().generation;
    await accept('a', ['a2.com']);
    await accept('c', ['c.com']);
    const server = await follow();
    kept.clear();
    expect(await server.check()).toBe(true);
    expect(namesOf(server.catalog())).toEqual(['a.com', 'b.com']);
    expect(server.catalog().generation).toBe(before);
  });

  it('keeps what it has when a snapshot cannot be read, tells it once, and follows the next one', async () => {
    const { accept, spoil, told, follow } = world();
    await accept('a', ['a2.com']);
    const server = await follow();
    const catalog = server.catalog();
    spoil('a');
    expect([await server.check(), await server.check(), told.length]).toEqual([false, false, 1]);
    expect(server.catalog()).toBe(catalog);
    await accept('a', ['a3.com']);
    expect(await server.check()).toBe(true);
    expect(namesOf(server.catalog())).toEqual(['a3.com', 'b.com']);
  });

  it('looks by itself, tells of a store that fails, and goes on looking', async () => {
    const { accept, stored, told, follow } = world();
    const server = await follow(5);
    const { snapshots } = stored.store;
    Object.assign(stored.store, { snapshots: () => Promise.reject(new Error('the store is away')) });
    await eventually('it is told', () => told.includes('the store is away'));
    Object.assign(stored.store, { snapshots });
    await accept('a', ['a2.com']);
    await eventually('it follows', () => namesOf(server.catalog()).includes('a2.com'));
  });

  it('lets others have their turn while it builds', async () => {
    const { accept, follow } = world();
    const server = await follow();
    await accept(
      'a',
      Array.from({ length: 100_000 }, (_, at) => `n${at}.com`),
    );
    let longest = 0;
    let last = performance.now();
    let isDone = false;
    const next = () => {
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
      if (!isDone) setImmediate(next);
    };
    next();
    const startedAt = performance.now();
    await server.check();
    const took = performance.now() - startedAt;
    isDone = true;
    await new Promise(setImmediate);
    expect(server.catalog().size).toBe(100_001);
    // Folding it in one go would be most of it.
    expect(longest).toBeLessThan(took / 2);
  });
});

it.each([
  ['nobody else has anything to do', 0, 20],
  ['others take a millisecond a turn', 1, 20],
  ['others take three', 3, 7],
  ['others take a hundred', 100, 5],
])(
  'long work of 10 ms, where %s, is done in about as many turns as nobody notices',
  async (_, others, turns) => {
    let now = 0;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
    onTestFinished(() => clock.mockRestore());
    let taken = 0;
    let isDone = false;
    const everybodyElse = () => {
      taken++;
      now += others;
      if (!isDone) setImmediate(everybodyElse);
    };
    function* steps(): Steps<void> {
      for (let at = 0; at < 80; at++) {
        now += 1 / 8;
        yield;
      }
    }
    setImmediate(everybodyElse);
    await inTurns(steps());
    isDone = true;
    expect(Math.abs(taken - turns)).toBeLessThanOrEqual(2);
  },
);

it('what is done with the result of long work begins in a turn of its own', async () => {
  let turns = 0;
  const work = inTurns(
    (function* (): Steps<number> {
      setImmediate(() => turns++);
      return turns;
    })(),
  );
  expect([await work, turns]).toEqual([0, 1]);
});

it('works that are long at the same time have turns of their own, so that together they hold calls no longer than one', async () => {
  let turn = 0;
  let isOver = false;
  const next = () => {
    turn++;
    if (!isOver) setImmediate(next);
  };
  next();
  const workedIn: number[] = [];
  function* working(): Steps<void> {
    for (let step = 0; step < 5; step++) {
      workedIn.push(turn);
      // Longer than a turn: the next step is not taken in this one.
      for (const until = performance.now() + 2; performance.now() < until; );
      yield;
    }
  }
  await Promise.all([working(), working(), working()].map(inTurns));
  isOver = true;
  expect(workedIn).toHaveLength(15);
  expect(new Set(workedIn).size).toBe(15);
});
