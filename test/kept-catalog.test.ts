import { createHash, type Hash } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it, onTestFinished, vi } from 'vitest';
import { buildCatalog, followFeeds, makeNext, type Stored } from '../src/assemble.ts';
import type { Catalog } from '../src/core/catalog.ts';
import { lineage } from '../src/core/domain.ts';
import type { AcceptedSnapshot, Family, Feed, FeedKind } from '../src/core/feed.ts';
import { restoringCatalog } from '../src/core/folding.ts';
import { keepingNames } from '../src/core/gate.ts';
import { restoring, type Saved, saving } from '../src/core/saved.ts';
import { siblingsIn } from '../src/core/siblings.ts';
import { takeSnapshot, textOf } from '../src/core/snapshot.ts';
import { allAtOnce, type Steps } from '../src/core/steps.ts';
import { parseTables } from '../src/core/tables.ts';
import { openShelf } from '../src/feeds/shelf.ts';
import { readTables } from '../src/feeds/tables.ts';
import { eventually } from './support/scale.ts';
import { temporaryFolder } from './support/service.ts';

const feedOf = (id: string, kind: FeedKind, family: Family, more: Partial<Feed> = {}): Feed => ({
  ...{ id, kind, family, licence: 'MIT', origin: `list ${id}`, atLeast: 1 },
  ...more,
});
const LISTS: readonly (readonly [Feed, readonly string[]])[] = [
  [feedOf('seen', 'disposable', 'verified'), ['spam.com', 'x.mit.edu', 'sold.edu', 'farm.net']],
  [
    feedOf('broad', 'disposable', 'broad'),
    ['spam.com', 'burner.net', 'mit.edu', 'mail.mit.edu', 'a.farm.net'],
  ],
  [feedOf('turns', 'disposable', 'telemetry', { rotates: 2 }), ['spam.com', 'turned.org', 'a.farm.net']],
  [feedOf('free', 'free', 'broad'), ['webmail.org', 'spam.com']],
  [feedOf('also-free', 'free', 'broad'), ['webmail.org', 'other-mail.org']],
  [feedOf('register', 'academic', 'broad'), ['mit.edu', 'sold.edu']],
  [feedOf('used', 'popular', 'broad'), ['shop.com', 'burner.net', 'spam.com']],
  [feedOf('relays', 'relay', 'broad'), ['forward.me']],
];
const INSTALLED = feedOf('installed', 'disposable', 'broad');

function world(atLeast = 1) {
  const folder = temporaryFolder();
  const kept = new Map<string, AcceptedSnapshot>();
  const told: string[] = [];
  let reads = 0;
  const accept = (feed: Feed, names: readonly string[], acceptedAt = 1_000) => {
    const first = takeSnapshot(feed, { version: '1', names, dated: '2026-10-01' });
    const snapshot = keepingNames(takeSnapshot(feed, { version: '2', names }), first, 20_770);
    const { version, digest } = snapshot;
    const head = { feed: feed.id, version, digest, names: names.length, acceptedAt };
    kept.set(feed.id, { ...head, body: textOf(snapshot) });
  };
  for (const [feed, names] of LISTS) accept(feed, names);
  const shelfOf = (program = '1.0.0', at = folder) => ({ ...openShelf(at, program), atLeast });
  const storedAt = (shelf = shelfOf()): Stored => ({
    store: {
      addedFeeds: async () => [],
      snapshots: async () => [...kept.values()],
      snapshot: async feed => {
        reads++;
        return kept.get(feed);
      },
    },
    unpack: async body => body,
    onError: error => told.push((error as Error).message),
    shelf,
  });
  const installed = { feed: INSTALLED, read: async () => ({ version: '1', names: ['own.com'] }) };
  let tables = readTables;
  const sources = () => ({
    ...{ feeds: [installed], tables: () => tables(), updated: [...LISTS.map(([feed]) => feed), INSTALLED] },
  });

  /** A start, with how many lists it read. */
  async function start(stored = storedAt()) {
    const before = reads;
    const catalog = await buildCatalog(sources(), () => {}, stored);
    return { catalog, read: reads - before };
  }
  /** A server, until it has kept its catalog. */
  async function serve(stored = storedAt()) {
    let { catalog } = await start(stored);
    const server = followFeeds({
      ...{ sources: sources(), stored, catalog: () => catalog, everyMs: 3_600_000 },
      make: (current, unreadable) => makeNext(sources(), stored, current, unreadable),
      *adopting(next) {
        return () => {
          catalog = next;
        };
      },
    });
    onTestFinished(server.close);
    return { ...server, catalog: () => catalog };
  }
  const files = () => readdirSync(folder).sort();
  const fileOf = ({ generation }: Catalog) => `catalog-${generation}.names`;
  async function keepOne() {
    const { catalog, close } = await serve();
    await eventually('it is kept', () => files().includes(fileOf(catalog())));
    await close();
    return join(folder, fileOf(catalog()));
  }
  const edit = (file: string, text: string) => {
    tables = async () => ({ ...(await readTables()), [file]: text });
  };
  return { folder, told, accept, start, serve, keepOne, files, fileOf, storedAt, shelfOf, edit };
}

const siblingsOf = (catalog: Catalog) => allAtOnce(siblingsIn(catalog));
const savedOf = (catalog: Catalog) => allAtOnce(saving(catalog.folded, siblingsOf(catalog)));

const ASKED = LISTS.flatMap(([, names]) => [...names, ...names.map(name => `x.${name}`)]);

/** All that a catalog says. */
const said = (catalog: Catalog) => ({
  generation: catalog.generation,
  names: [...catalog.disposableNames()],
  size: catalog.size,
  listings: ASKED.map(name => catalog.listed(lineage(name))),
  status: catalog.status,
  agreed: catalog.mostAgreed(100),
  innocent: [...catalog.innocentNames()].sort(),
  panel: [...catalog.panelNames()],
  free: ASKED.map(name => [catalog.isFree(name), catalog.isSurelyFree(name), catalog.isGuarded(name)]),
  relay: catalog.relay(['forward.me']),
  siblings: [...siblingsOf(catalog)],
  protected: ASKED.map(name => [catalog.isProtected(name), catalog.typoOf(name)]),
  snapshots: catalog.snapshots.map(({ names, ...rest }) => ({ ...rest, names: [...names] })),
});

it('what a server kept is what the next start has, which reads no list for it', async () => {
  const { keepOne, start, storedAt } = world();
  const made = await start({ ...storedAt(), shelf: undefined });
  const path = await keepOne();
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const next = await start();
  expect([made.read, next.read]).toEqual([LISTS.length, 0]);
  // A registered name of which two families name one below it; found in the lists once.
  expect([...siblingsOf(made.catalog)]).toEqual([['farm.net', ['a.farm.net']]]);
  const walked = vi.spyOn(next.catalog, 'walkingDeep');
  expect(said(next.catalog)).toEqual(said(made.catalog));
  expect(walked).not.toHaveBeenCalled();
});

it('a server follows from what was kept, and keeps the next one in its place', async () => {
  const { keepOne, serve, accept, files, fileOf, start } = world();
  await keepOne();
  const server = await serve();
  accept(LISTS[1]![0], ['burner2.net'], 2_000);
  expect(await server.check()).toBe(true);
  expect([...server.catalog().disposableNames()]).toContain('burner2.net');
  await eventually('only the next one is there', () => files().join() === fileOf(server.catalog()));
  const next = await start();
  expect(next.read).toBe(0);
  expect(said(next.catalog)).toEqual(said(server.catalog()));
});

it.each<[string, (bytes: Buffer) => Buffer]>([
  ['empty', () => Buffer.alloc(0)],
  ['cut in its head', bytes => bytes.subarray(0, 100)],
  ['cut', bytes => bytes.subarray(0, -1)],
  ['longer', bytes => Buffer.concat([bytes, Buffer.alloc(1)])],
  ['changed in one bit', bytes => Buffer.from(bytes.with(-20, bytes.at(-20)! ^ 1))],
  ['no JSON', bytes => Buffer.concat([Buffer.alloc(1_024, 'x'), bytes.subarray(1_024)])],
  [
    'of parts that are none',
    bytes => Buffer.from(bytes.toString('latin1').replace('"parts":[', '"parts":[-'), 'latin1'),
  ],
])('a file that is %s is not used, not told of, and replaced', async (_, spoil) => {
  const { keepOne, start, serve, told } = world();
  const path = await keepOne();
  writeFileSync(path, spoil(readFileSync(path)));
  const { catalog, read } = await start();
  expect(read).toBe(LISTS.length);
  const { ino } = statSync(path);
  const server = await serve();
  await eventually('there is another one', () => statSync(path).ino !== ino);
  await server.close();
  const next = await start();
  expect([next.read, told]).toEqual([0, []]);
  expect(said(next.catalog)).toEqual(said(catalog));
});

it('of another version of the program, other tables or a list that was accepted again it is not used', async () => {
  const { keepOne, start, storedAt, shelfOf, accept, edit } = world();
  await keepOne();
  expect((await start(storedAt(shelfOf('1.0.1')))).read).toBe(LISTS.length);
  expect((await start()).read).toBe(0);
  accept(...LISTS[0]!, 2_000);
  const again = await start();
  expect([again.read, again.catalog.status[1]!.updatedAt]).toEqual([LISTS.length, 2_000]);
  accept(...LISTS[0]!);
  edit('roles.txt', 'noreply');
  expect((await start()).read).toBe(LISTS.length);
});

it('a catalog of few stored names is not kept, and nothing is where there is no folder', async () => {
  const { serve, files, told } = world(1_000);
  await (await serve()).close();
  expect(files()).toEqual([]);
  const other = world();
  const server = await other.serve(other.storedAt(other.shelfOf('1.0.0', join(other.folder, 'none'))));
  await server.close();
  expect([told, other.told, other.files()]).toEqual([[], [], []]);
});

it('a server that ends meanwhile leaves nothing half written', async () => {
  const { serve, files, told } = world();
  await (await serve()).close();
  expect([files(), told]).toEqual([[], []]);
});

it('what is written is hashed in small steps, all of which stand in the row of long work', async () => {
  const { folder } = world();
  const hashed = vi.spyOn(Object.getPrototypeOf(createHash('sha256')) as Hash, 'update');
  onTestFinished(() => hashed.mockRestore());
  const shared = (length: number) => new Uint8Array(new SharedArrayBuffer(length)).fill(length % 251);
  const [text, days] = [shared(100_000), shared(8)];
  const saved: Saved = { text, days, disposable: shared(1_000_000).buffer, panel: shared(0).buffer };
  let inStep = 0;
  const inTurns = async <T>(steps: Steps<T>): Promise<T> => {
    for (;;) {
      const before = hashed.mock.calls.length;
      const { done, value } = steps.next();
      const some = hashed.mock.calls.slice(before).map(([piece]) => (piece as unknown as Uint8Array).length);
      expect(some.reduce((sum, length) => sum + length, 0)).toBeLessThanOrEqual(65_536);
      inStep += some.length;
      if (done) return value;
    }
  };
  await openShelf(folder, '1').write('0123456789ab', saved, new AbortController().signal, inTurns);
  expect([inStep, hashed.mock.calls.length]).toEqual([19, 19]);
  expect(await openShelf(folder, '1').read('0123456789ab')).toEqual(saved);
});

it('that it cannot be written is told, and the server goes on', async () => {
  const { serve, told, storedAt, shelfOf } = world();
  const shelf = { ...shelfOf(), write: () => Promise.reject(new Error('no space left')) };
  const { close, catalog } = await serve(storedAt(shelf));
  await close();
  expect(told).toEqual(['the catalog could not be kept for the next start: no space left']);
  expect(catalog().size).toBe(8);
});

it('on its way to another thread all of it is in shared memory, and is read there', async () => {
  const { start } = world();
  const saved = savedOf((await start()).catalog);
  for (const { buffer } of [saved.text, saved.days]) expect(buffer).toBeInstanceOf(SharedArrayBuffer);
  const feeds = new Map([...LISTS.map(([feed]) => feed), INSTALLED].map(feed => [feed.id, feed]));
  const { snapshots } = allAtOnce(restoring(saved, feeds));
  for (const { since, last = since } of snapshots)
    expect([since.buffer, last.buffer]).toEqual([saved.days.buffer, saved.days.buffer]);
});

it.each<[string, string | RegExp, string]>([
  ['a feed that is none', '"id":"seen"', '"id":"other"'],
  ['more names than fit', '"names":4,', '"names":4000,'],
  ['more bytes than there are', /"bytes":\d+/, '"bytes":100000'],
  ['fewer than none', '"vetoed":0', '"vetoed":-1'],
  ['a number that is none', '"acceptedAt":1000', '"acceptedAt":"1000"'],
  ['half a day', /"since":\[\d+,false/, '"since":[3,false'],
  ['a word of a feed that is none', /"namings":\[\[\],\[\[\d+/, '"namings":[[],[[99'],
  ['a day that is none', /"namings":\[\[\],\[\[(\d+),\d+/, '"namings":[[],[[$1,1e12'],
  ['a set that is none', '"set":"free"', '"set":"other"'],
  [
    'a domain with no names below it',
    '"siblings":[["farm.net",["a.farm.net"]]]',
    '"siblings":[["farm.net"]]',
  ],
  ['no JSON', '{"set":"free"', '{"set":"free'],
])('a whole file with %s is refused', async (_, from, to) => {
  const { start } = world();
  const saved = savedOf((await start()).catalog);
  const feeds = new Map([...LISTS.map(([feed]) => feed), INSTALLED].map(feed => [feed.id, feed]));
  const text = Buffer.from(saved.text).toString('utf8');
  expect(text.replace(from, to)).not.toBe(text);
  expect(() => allAtOnce(restoring(saved, feeds))).not.toThrow();
  const changed = { ...saved, text: Buffer.from(text.replace(from, to)) };
  expect(() => allAtOnce(restoring(changed, feeds))).toThrow();
});

it('whatever a whole file holds, it is refused or answers are given', async () => {
  const tables = parseTables(await readTables());
  const { start } = world();
  const saved = savedOf((await start()).catalog);
  const feeds = new Map([...LISTS.map(([feed]) => feed), INSTALLED].map(feed => [feed.id, feed]));
  const spoilt = (bytes: Uint8Array, changes: readonly (readonly [number, number])[]) => {
    const shared = new SharedArrayBuffer(bytes.length);
    const copy = new Uint8Array(shared);
    copy.set(bytes);
    for (const [at, byte] of changes) if (copy.length > 0) copy[at % copy.length] = byte;
    return shared;
  };
  const changes = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 5 });
  fc.assert(
    fc.property(changes, changes, changes, changes, (text, names, panel, days) => {
      const spoiled: Saved = {
        text: new Uint8Array(spoilt(saved.text, text)),
        disposable: spoilt(new Uint8Array(saved.disposable), names),
        panel: spoilt(new Uint8Array(saved.panel), panel),
        days: new Uint8Array(spoilt(saved.days, days)),
      };
      let restored: Catalog;
      try {
        restored = allAtOnce(restoringCatalog(allAtOnce(restoring(spoiled, feeds)), tables, 'g'));
      } catch {
        return;
      }
      said(restored);
    }),
  );
});
