import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { buildCatalog } from '../src/assemble.ts';
import type { Act } from '../src/core/audit.ts';
import { dayAt, dayText } from '../src/core/days.ts';
import { type Feed, FeedError, type FeedSource, type FreshSource, type RawFeed } from '../src/core/feed.ts';
import { canariesOf } from '../src/core/folding.ts';
import type { Lease } from '../src/core/lease.ts';
import { type Store, StoreUnavailable } from '../src/core/ports.ts';
import { reading } from '../src/core/snapshot.ts';
import { allAtOnce } from '../src/core/steps.ts';
import { parseTables, type TableTexts } from '../src/core/tables.ts';
import { PACKING } from '../src/feeds/pack.ts';
import { readTables } from '../src/feeds/tables.ts';
import { actsOnFeeds } from '../src/operate/feeds.ts';
import { waitingIn } from '../src/update/what-if.ts';
import { type UpdateParts, updateFeeds } from '../src/update.ts';
import { ACT } from './support/act.ts';
import { catalogOf } from './support/catalog.ts';
import { temporaryFolder } from './support/service.ts';
import { storeAt } from './support/store.ts';
import { FEW_TABLES, forgetVersions } from './support/versions.ts';

const many = (count: number, prefix = 'n') => Array.from({ length: count }, (_, at) => `${prefix}${at}.com`);
const DAY = 86_400_000;
const FIRST = Date.parse('2026-11-01T12:00:00Z');

let store: Store;
const ends: (() => void | Promise<void>)[] = [];
beforeAll(async () => {
  const folder = temporaryFolder(end => void ends.push(end));
  store = await storeAt(join(folder, 'domain-risk.db'), end => void ends.unshift(end));
});
afterAll(async () => {
  for (const end of ends) await end();
});

let feed: Feed;
let count = 0;
beforeEach(() => {
  const id = `list-${count++}`;
  feed = { id, kind: 'disposable', family: 'broad', licence: 'MIT', origin: `list ${id}`, atLeast: 10 };
});

type Read = RawFeed | FeedError | readonly string[];
const source = (read: Read, of = feed): FeedSource => ({
  feed: of,
  read: async () => {
    if (read instanceof FeedError) throw read;
    return 'names' in read ? read : { version: 'new', names: read };
  },
});

interface Options {
  force?: boolean;
  dryRun?: boolean;
  evenHeld?: boolean;
  now?: number;
  installed?: FeedSource[];
  store?: UpdateParts['store'];
  /** What the disposable feeds in use name. */
  listed?: readonly string[];
  /** What the popularity list in use names. */
  popular?: readonly string[];
  catalog?: UpdateParts['catalog'];
  comingMs?: number;
  notBefore?: number;
  tables?: TableTexts;
  /** What earlier updates saw of the clock; where left out, they ran every day until now. */
  looks?: Lease[];
}

function ranUntil(now: number): Lease[] {
  return [{ name: 'feeds.clock', holder: null, until: now - DAY, dueAt: now - DAY }];
}

function looking(looks: Lease[]): Pick<Store, 'lease' | 'swapLease'> {
  return { lease: async () => looks[0], swapLease: async look => looks.splice(0, 1, look).length < 2 };
}

function updateAll(sources: readonly FreshSource[], options: Options = {}) {
  const {
    force = false,
    dryRun = false,
    evenHeld = false,
    now = FIRST,
    installed = [source(many(100))],
  } = options;
  return updateFeeds(
    {
      store: { ...(options.store ?? store), ...looking(options.looks ?? ranUntil(now)) },
      sources,
      installed,
      tables: async () => options.tables ?? FEW_TABLES,
      catalog: options.catalog ?? (() => catalogOf(options.listed ?? [], { popular: options.popular ?? [] })),
      packing: PACKING,
      clock: () => now,
      actor: { who: 'op', via: 'test' },
      ...(options.comingMs === undefined ? {} : { comingMs: options.comingMs }),
      ...(options.notBefore === undefined ? {} : { notBefore: options.notBefore }),
    },
    { force, dryRun, evenHeld, progress: () => {} },
  );
}
const update = async (read: Read, options?: Options) => (await updateAll([source(read)], options))[0]!;

async function stored(of = feed) {
  const accepted = await store.snapshot(of.id);
  if (!accepted) return undefined;
  const text = await PACKING.unpack(accepted.body);
  return allAtOnce(reading(of, text, accepted.digest, accepted.acceptedAt));
}
const acts = async (): Promise<Act[]> =>
  (await store.audit(1_000)).filter(act => act.subject === feed.id).reverse();

it("a short list of an operator's own may change by twenty names at once, a known one by its share only", async () => {
  const own: Feed = { ...feed, atLeast: 1, isOwn: true };
  const added = { place: '/ours', kind: 'disposable', format: 'lines', verified: false, addedAt: 0 } as const;
  await store.addFeed({ name: own.id, ...added }, 1, ACT);
  const read = (count: number, of: Feed) => updateAll([source(many(count, 'x'), of)], { installed: [] });
  expect((await read(3, own))[0]!.outcome).toBe('accepted');
  expect((await read(23, own))[0]!.outcome).toBe('accepted');
  expect((await read(44, own))[0]).toMatchObject({
    outcome: 'refused',
    problems: [expect.stringMatching(/more than 50 %/)],
  });
  expect((await read(3, { ...own, isOwn: undefined } as unknown as Feed))[0]!.outcome).toBe('refused');
  expect((await read(0, own))[0]).toMatchObject({
    outcome: 'refused',
    problems: ['it holds no usable name'],
  });
});

it("a list of an operator's own that was removed while it was fetched leaves no trouble behind", async () => {
  const noted = async () => (await store.feedChecks()).filter(one => one.feed === feed.id).length;
  const failing = (of: Feed) => updateAll([source(new FeedError('no network'), of)], { installed: [] });
  await addOwn(feed.id, 1);
  await updateAll([removing({ ...source(new FeedError('no network')), addedAt: 1 })], { installed: [] });
  expect(await noted()).toBe(0);
  await failing(feed);
  expect(await noted()).toBe(1);
  const own: Feed = { ...feed, id: 'removed', isOwn: true };
  await addOwn(own.id, 1);
  const [updated] = await updateAll([removing({ ...source(many(1_000), own), addedAt: 1 })], {
    installed: [],
  });
  expect([updated!.outcome, await stored(own)]).toEqual(['overtaken', undefined]);
});

const OWN = { place: '/ours', kind: 'disposable', format: 'lines', verified: false } as const;
const addOwn = (name: string, addedAt: number) => store.addFeed({ ...OWN, name, addedAt }, 50, ACT);
/** Its operator takes it out while it is read. */
const removing = (one: FreshSource): FreshSource => ({
  ...one,
  async read() {
    await store.removeFeed(one.feed.id, ACT);
    return one.read();
  },
});

describe("a list of an operator's own that was removed and added again from another place during an update", () => {
  const own = (): Feed => ({ ...feed, atLeast: 1, isOwn: true });
  const readAgain = async () => {
    await store.removeFeed(feed.id, ACT);
    await addOwn(feed.id, 2);
    const added: FreshSource = { ...source(many(30, 'new'), own()), addedAt: 2 };
    expect(await updateAll([added], { installed: [] })).toMatchObject([{ outcome: 'accepted' }]);
  };

  it('is not read from the old place by an update that comes to it later', async () => {
    await addOwn(feed.id, 1);
    const slow: FreshSource = {
      feed: { ...feed, id: `${feed.id}-slow` },
      read: async () => {
        await readAgain();
        return { version: 'new', names: many(30) };
      },
    };
    let reads = 0;
    const old: FreshSource = {
      ...{ feed: own(), addedAt: 1 },
      read: async () => {
        reads++;
        return { version: 'old', names: many(30, 'old') };
      },
    };
    const [, later] = await updateAll([slow, old], { installed: [] });
    expect([later!.outcome, reads]).toEqual(['overtaken', 0]);
    expect((await stored(own()))!.names[0]).toMatch(/^new/);
    const [check] = (await store.feedChecks()).filter(one => one.feed === feed.id);
    expect(check).toMatchObject({ problem: null, added: 30 });
  });

  it.each([0, 30])('is not replaced by what was read before that, with %s names then', async count => {
    await addOwn(feed.id, 1);
    if (count > 0) await updateAll([{ ...source(many(count, 'old'), own()), addedAt: 1 }], { installed: [] });
    const old: FreshSource = {
      ...{ feed: own(), addedAt: 1 },
      read: async () => {
        await store.removeFeed(feed.id, ACT);
        await addOwn(feed.id, 2);
        return { version: 'old', names: many(31, 'old') };
      },
    };
    expect(await updateAll([old], { installed: [] })).toMatchObject([{ outcome: 'overtaken' }]);
    expect(await stored(own())).toBeUndefined();
  });
});

it.each(['popular', 'relay', 'academic', 'free', 'protected'] as const)(
  'a list of kind %s that clears what a disposable feed names is refused, unless it is forced',
  async kind => {
    const listed = many(60, 'burner');
    const largest = [
      'gmail.com',
      'outlook.com',
      'yahoo.com',
      'icloud.com',
      'hotmail.com',
      'gmx.com',
      'web.de',
    ];
    const more = ['aol.com', 'mail.ru', 'qq.com', '163.com', 'yandex.ru', 'live.com', 'msn.com'];
    const read = [...largest, ...more, ...many(1_000), ...listed];
    const of = { ...feed, kind };
    const options = { listed, installed: [] };
    const [done] = await updateAll([source(read, of)], options);
    expect(done).toMatchObject({
      outcome: 'refused',
      problems: [expect.stringMatching(/60 of its 1074 names/)],
    });
    expect(await stored(of)).toBeUndefined();
    const [forced] = await updateAll([source(read, of)], { ...options, force: true });
    expect(forced!.outcome).toBe('forced');
    const [clean] = await updateAll([source(read.slice(0, -60), { ...of, id: `${of.id}-clean` })], options);
    expect(clean).toMatchObject({ outcome: 'accepted', problems: [] });
  },
);

it('a list of protected names that clears what verified lists have is refused, unless it is forced', async () => {
  const of: Feed = { ...feed, kind: 'protected', atLeast: 1, isOwn: true };
  const verified = many(6, 'burner');
  const options = { catalog: () => catalogOf([], { verified }), installed: [] };
  const read = async (names: readonly string[], force = false) =>
    (await updateAll([source([...many(2_000, 'customer'), ...names], of)], { ...options, force }))[0]!;
  await addOwn(of.id, 1);
  expect((await read(verified.slice(0, 5))).outcome).toBe('accepted');
  expect(await read(verified)).toMatchObject({
    outcome: 'refused',
    problems: [expect.stringMatching(/^6 of its 2006 names .* disposable \(burner/)],
  });
  // One below a listed name is listed, too.
  expect((await read([...verified.slice(0, 5), 'mail.burner5.com'])).outcome).toBe('refused');
  expect((await read(verified, true)).outcome).toBe('forced');
});

it('a disposable list that names what many people use, or what our tables know, is refused', async () => {
  const used = many(6, 'used');
  const ours = ['a1.net', 'sunrise.ch', 'plus.net', 'vivaldi.net', 'outlook.de'];
  const tables = await readTables();
  const done = await update([...many(100), ...used, ...ours], { popular: used, tables });
  expect(done).toMatchObject({
    outcome: 'refused',
    problems: [expect.stringMatching(/11 of its 111 names .* innocent \(used0\.com/)],
  });
  expect(await update([...many(100), ...used, ...ours], { tables })).toMatchObject({ outcome: 'accepted' });
});

it('a disposable list is held against the popularity list of the same update', async () => {
  const used = many(11, 'used');
  const popular: Feed = { ...feed, id: `${feed.id}-popular`, kind: 'popular' };
  const largest = [...canariesOf(parseTables(await readTables()))];
  const sources = [source([...many(100), ...used]), source([...largest, ...used], popular)];
  const catalog = async () => {
    const brought = (await stored(popular))?.names.filter(name => name.startsWith('used'));
    return catalogOf([], { popular: brought ?? [] });
  };
  const done = await updateAll(sources, { catalog });
  expect(done.map(one => [one.feed, one.outcome])).toEqual([
    [feed.id, 'refused'],
    [popular.id, 'accepted'],
  ]);
});

it('a disposable list brings no more innocents in a month by telling old days, by others every day, or behind what was forced', async () => {
  feed = { ...feed, family: 'verified' };
  const used = many(400, 'used');
  const on = (day: number, names: readonly string[], force = false) => {
    const since = new Map(names.map(name => [name, '2020-01-01']));
    const read = { version: 'new', names: [...many(100), ...names], since };
    return update(read, { popular: used, now: FIRST + day * DAY, force });
  };
  const brought = new Set<string>();
  for (let day = 0; day < 30; day++) {
    const others = used.slice(10 * day, 10 * day + 10);
    if ((await on(day, others)).outcome === 'accepted') for (const name of others) brought.add(name);
  }
  expect([...brought]).toEqual(used.slice(0, 10));

  expect(await on(30, used.slice(0, 40), true)).toMatchObject({ outcome: 'forced' });
  let most = 40;
  for (let day = 31; day < 60; day++)
    if ((await on(day, used.slice(0, most + 5))).outcome === 'accepted') most += 5;
  expect(most).toBe(50);
});

it('a popularity list may exchange a fifth of its names in a month, in however many updates', async () => {
  const popular: Feed = { ...feed, id: `${feed.id}-popular`, kind: 'popular' };
  const largest = [...canariesOf(parseTables(await readTables()))];
  const used = many(500, 'used');
  const on = async (day: number, count: number, more: Options = {}) => {
    const names = [...largest, ...used.slice(count), ...many(count, 'stranger')];
    const options = { installed: [], now: FIRST + day * DAY, ...more };
    return (await updateAll([source(names, popular)], options))[0]!.outcome;
  };
  expect(await on(0, 0)).toBe('accepted');
  expect(await on(1, 60)).toBe('accepted');
  expect(await on(2, 100)).toBe('accepted');
  // Nor does one look at a clock that is ahead make a month.
  expect(await on(40, 101, { looks: ranUntil(FIRST + 3 * DAY) })).toBe('accepted');
  expect(await on(3, 160)).toBe('refused');
  expect(await on(3, 500)).toBe('refused');
  expect(await on(33, 160)).toBe('accepted');
});

it('a list that loses its names in small steps is held against the installed one', async () => {
  expect(await update(many(81))).toMatchObject({ outcome: 'accepted' });
  expect(await update(many(70))).toMatchObject({
    outcome: 'refused',
    problems: ['70 names, more than 20 % fewer than 100'],
  });
});

describe('an update of a feed', () => {
  it('is stored with its digest, its day and an act, and tells what changed', async () => {
    const done = await update([...many(110), 'co.uk', 'n0.com']);
    expect(done).toEqual({
      feed: feed.id,
      outcome: 'accepted',
      before: { version: 'new', names: 100 },
      after: { version: 'new', names: 110 },
      dropped: { malformed: 0, suffix: 1, specialUse: 0, duplicate: 1 },
      flips: [],
      decided: [],
      waiting: null,
      problems: [],
      turnover: { added: 10, removed: 0 },
      tag: null,
      fallback: null,
    });
    expect(await stored()).toMatchObject({ version: 'new', names: many(110), acceptedAt: FIRST });
    expect(await acts()).toEqual([
      {
        who: 'op',
        via: 'test',
        at: FIRST,
        action: 'feed.update',
        subject: feed.id,
        detail: `new with 100 names → new with 110 names from list ${feed.id}`,
      },
    ]);
  });

  it.each<[string, () => Read, 'refused' | 'failed', RegExp]>([
    ['empty', () => [], 'refused', /no usable name/],
    ['a fifth smaller', () => many(79), 'refused', /20 % fewer/],
    ['half as large again', () => many(151), 'refused', /50 % more/],
    ['naming gmail.com', () => [...many(100), 'gmail.com'], 'refused', /gmail\.com/],
    ['of unusable lines', () => [...many(97), ...many(3).map(name => `* ${name}`)], 'refused', /1 %/],
    [
      'a web page',
      () => new FeedError('a web page,\u001b[2J\nnot a list'),
      'failed',
      /^a web page, \[2J not a/,
    ],
  ])('that is %s changes nothing', async (_, read, outcome, why) => {
    for (const before of [undefined, 'an earlier one']) {
      if (before) await update(many(99));
      const was = await store.snapshot(feed.id);
      const done = await update(read());
      expect(done).toMatchObject({ outcome, problems: [expect.stringMatching(why)] });
      expect(await store.snapshot(feed.id)).toEqual(was);
      expect(was === undefined).toBe(before === undefined);
    }
    expect(await acts()).toHaveLength(1);
  });

  it('that is as the installed one still takes the place of a stored one that cannot be read', async () => {
    await update(many(110));
    const broken = { ...(await store.snapshot(feed.id))!, body: 'broken' };
    const act = (await acts())[0]!;
    expect(await store.acceptSnapshot(broken, broken.digest, act)).toBe(true);
    expect(await update(many(100))).toMatchObject({ outcome: 'accepted' });
    expect((await stored())?.names).toHaveLength(100);
    expect(await update(many(100))).toMatchObject({ outcome: 'unchanged' });
  });

  it('that is refused or failed stops no other', async () => {
    const others = ['a', 'b'].map(name => ({ ...feed, id: `${feed.id}-${name}` }));
    const done = await updateAll([
      source(many(5)),
      source(many(100), others[0]),
      source(new FeedError('gone')),
      source(many(100), others[1]),
    ]);
    expect(done.map(({ outcome }) => outcome)).toEqual(['refused', 'accepted', 'failed', 'accepted']);
    for (const other of others) expect(await stored(other)).toBeDefined();
  });

  it.each([
    ['full', new StoreUnavailable('database or disk is full'), undefined],
    ['faulty', new TypeError('not a function'), expect.any(TypeError)],
  ])(
    'that a %s store does not take stops no other, and is told of as soon as it can be',
    async (_, error, fault) => {
      let isAway = false;
      const failing: UpdateParts['store'] = {
        ...store,
        async acceptSnapshot(snapshot, ...rest) {
          isAway = snapshot.feed === feed.id;
          if (isAway) throw error;
          return store.acceptSnapshot(snapshot, ...rest);
        },
        async noteCheck(...check) {
          if (isAway) throw error;
          return store.noteCheck(...check);
        },
      };
      const behind = { ...feed, id: `${feed.id}-behind` };
      const sources = [source(many(110)), source(many(110), behind)];
      const done = await updateAll(sources, { store: failing });
      expect(done.map(({ outcome }) => outcome)).toEqual(['failed', 'accepted']);
      expect(done[0]!.fault).toEqual(fault);
      // What is in use stays, and is told so: a list looked as if it were gone (2026-11-18).
      expect(done[0]).toMatchObject({ before: { names: 100 }, after: null });
      const noted = (await store.feedChecks()).filter(check => [feed.id, behind.id].includes(check.feed));
      expect(noted.map(({ problem }) => problem)).toEqual([
        `it could not be compared or stored: ${error.message}`,
        null,
      ]);
    },
  );

  it('that never comes stops no other', async () => {
    const held = { feed, read: () => new Promise<never>(() => {}) };
    const behind = { ...feed, id: `${feed.id}-behind` };
    const done = await updateAll([held, source(many(110), behind)], { comingMs: 20 });
    expect(done.map(({ outcome }) => outcome)).toEqual(['failed', 'accepted']);
    expect(done[0]!.problems).toEqual(['it did not come within 0.02 s']);
    const noted = (await store.feedChecks()).find(check => check.feed === feed.id);
    expect(noted?.problem).toBe('it did not come within 0.02 s');
  });

  it('by force takes what is implausible and says so in the audit, never what cannot be read', async () => {
    const done = await update([...many(5), 'gmail.com'], { force: true });
    expect(done.outcome).toBe('forced');
    expect((await stored())?.names).toHaveLength(6);
    expect(await acts()).toMatchObject([
      { action: 'feed.force', detail: expect.stringMatching(/fewer than 100; .*names gmail\.com/) },
    ]);
    expect(await update(new FeedError('gone'), { force: true })).toMatchObject({ outcome: 'failed' });
    expect(await update(many(7), { force: true })).toMatchObject({ outcome: 'forced' });
    expect((await acts()).map(({ action }) => action)).toEqual(['feed.force', 'feed.force']);
  });

  it('that says the same in another order is none', async () => {
    expect(await update(many(100).reverse())).toMatchObject({ outcome: 'unchanged' });
    expect(await stored()).toBeUndefined();
    await update(many(101));
    const was = await store.snapshot(feed.id);
    expect(await update(many(101).reverse(), { now: FIRST + DAY })).toMatchObject({ outcome: 'unchanged' });
    expect(await store.snapshot(feed.id)).toEqual(was);
  });

  it('as a dry run tells the same and changes nothing', async () => {
    expect(await update(many(110), { dryRun: true })).toMatchObject({ outcome: 'accepted' });
    expect(await update(many(1), { dryRun: true })).toMatchObject({ outcome: 'refused' });
    expect(await stored()).toBeUndefined();
    expect(await acts()).toEqual([]);
  });

  it('at the same moment as another one stands back', async () => {
    const slow: FeedSource = {
      feed,
      read: async () => {
        await update(many(105));
        return { version: 'late', names: many(110) };
      },
    };
    expect(await updateAll([slow])).toMatchObject([{ outcome: 'overtaken' }]);
    expect((await stored())?.names).toHaveLength(105);
    expect(await acts()).toHaveLength(1);
  });

  it('that others came between again and again has failed, and is not told to be fresh', async () => {
    const busy = { ...store, acceptSnapshot: async () => false };
    expect(await update(many(101), { store: busy })).toMatchObject({
      ...{ outcome: 'failed', before: { names: 100 } },
      problems: [expect.stringMatching(/^other updates came between 20 times/)],
    });
    const [check] = (await store.feedChecks()).filter(one => one.feed === feed.id);
    expect(check).toMatchObject({ checkedAt: null, trouble: 'failed' });
  });

  it('takes the place of a stored one that cannot be read', async () => {
    await update(many(105));
    const was = (await store.snapshot(feed.id))!;
    const act: Act = { who: 'op', via: 'test', at: 1, action: 'feed.update', subject: feed.id, detail: null };
    await store.acceptSnapshot({ ...was, body: 'bm8gZ3ppcA==' }, was.digest, act);
    expect(await update(many(110))).toMatchObject({ outcome: 'accepted', before: { names: 100 } });
    expect((await stored())?.names).toHaveLength(110);
  });

  it('of a rotating list keeps what it showed on three days, and no other', async () => {
    feed = { ...feed, rotates: 100 };
    const options = (day: number) => ({ installed: [], now: FIRST + day * DAY });
    expect(await update(many(100, 'a'), options(0))).toMatchObject({ outcome: 'accepted', before: null });
    for (const day of [1, 2])
      expect(await update([...many(50, 'a'), ...many(50, 'b')], options(day))).toMatchObject({
        outcome: 'accepted',
        after: { names: 100 },
      });
    expect(await update(many(200, 'c'), options(3))).toMatchObject({ outcome: 'refused' });
    expect(await update(many(120, 'd'), options(4))).toMatchObject({
      outcome: 'accepted',
      before: { names: 100 },
      after: { names: 170 },
    });
    const { names, since } = (await stored())!;
    expect(names).toHaveLength(170);
    const days = ['a0', 'a99', 'b0', 'd0'].map(name => since[names.indexOf(`${name}.com`)] ?? 0);
    expect(days.map(dayText)).toEqual(['2026-11-01', null, null, '2026-11-05']);
  });

  it('tells since when it names what it did not name before', async () => {
    await update(many(110), { now: FIRST });
    await update(many(120), { now: FIRST + DAY });
    const { since } = (await stored())!;
    expect([since[0]!, since[105]!, since[115]!].map(dayText)).toEqual([null, '2026-11-01', '2026-11-02']);
  });
});

it('a package in place of an address that fails is taken where it is newer, and tells so; an older one is not', async () => {
  const fallback = 'npm package x, since https://lists.example/x: answered 503';
  const packaged = (version: string, count: number, releasedAt: number | null) =>
    update({ version, names: many(count), releasedAt, fallback }, { now: FIRST + 5 * DAY, installed });
  const installed = [source({ version: '1.26.0', names: many(100) })];
  const noted = async () => (await store.feedChecks()).find(one => one.feed === feed.id)?.fallback;
  for (const version of ['1.9.7', '1.20.0', '0.30.0'])
    expect(await packaged(version, 90, FIRST + 5 * DAY)).toMatchObject({
      outcome: 'failed',
      problems: [`${fallback}; its version ${version} is older than the one in use`],
    });
  for (const version of ['1.26.0', '1.26.10', '1.100.0', '2.0.0', '2.0', 'next'])
    expect(
      (await updateAll([source({ version, names: many(101), fallback })], { installed, dryRun: true }))[0],
    ).toMatchObject({ outcome: 'accepted' });
  expect(await packaged('1.26.1', 101, null)).toMatchObject({ outcome: 'accepted', fallback });
  expect(await noted()).toBe(fallback);
  expect((await acts()).at(-1)?.detail).toContain(`from ${fallback}`);
  expect((await packaged('1.26.1', 101, FIRST)).outcome).toBe('unchanged');
  // Of two releases the number tells: a mirror has one days after it was published.
  expect((await packaged('1.26.0', 102, FIRST + 6 * DAY)).outcome).toBe('failed');
  expect((await packaged('1.27.0', 102, FIRST - 9 * DAY)).outcome).toBe('accepted');
  // Of one beside what came from the address, the day.
  const minute = { version: '2026-11-06T12:00Z', names: many(103) };
  expect((await update(minute, { now: FIRST + 5 * DAY })).outcome).toBe('accepted');
  for (const releasedAt of [null, FIRST + 5 * DAY])
    expect(await packaged('2.0.0', 102, releasedAt)).toMatchObject({
      outcome: 'failed',
      problems: [`${fallback}; its version 2.0.0 is older than the one in use`],
    });
  expect(await packaged('2.0.0', 102, FIRST + 6 * DAY)).toMatchObject({ outcome: 'accepted' });
  expect((await update(many(103), { now: FIRST + 7 * DAY })).fallback).toBeNull();
  expect(await noted()).toBeNull();
});

it('a release of a package that is older than the one in use, the bundled one included, is refused unless it is forced', async () => {
  const installed = [source({ version: '0.1.2', names: many(100) })];
  const release = async (version: string, count: number, force = false) => {
    const { outcome, problems } = await update({ version, names: many(count) }, { installed, force });
    return [outcome, ...problems];
  };
  const older = (version: string, than: string) =>
    `its version ${version} is older than ${than}, which is in use`;
  expect(await release('0.1.1', 90)).toEqual(['refused', older('0.1.1', '0.1.2')]);
  expect(await release('0.1.10', 101)).toEqual(['accepted']);
  expect(await release('0.1.9', 102)).toEqual(['refused', older('0.1.9', '0.1.10')]);
  expect(await release('0.1.9', 102, true)).toEqual(['forced', older('0.1.9', '0.1.10')]);
  expect(await release('0.1.9', 102)).toEqual(['unchanged']);
  expect(await release('next', 103)).toEqual(['accepted']);
  expect(await release('0.1.9', 104)).toEqual(['accepted']);
});

describe('what became of a feed is kept', () => {
  const checkOf = async () => (await store.feedChecks()).find(check => check.feed === feed.id);

  it('with what came and went, also where there was nothing new, and where it failed', async () => {
    await update([...many(98), 'x.com', 'y.com', 'z.com']);
    const changed = { feed: feed.id, triedAt: FIRST, checkedAt: FIRST, added: 3, removed: 2, problem: null };
    expect(await checkOf()).toMatchObject(changed);
    await update([...many(98), 'x.com', 'y.com', 'z.com'], { now: FIRST + DAY });
    const unchanged = { ...changed, triedAt: FIRST + DAY, checkedAt: FIRST + DAY };
    expect(await checkOf()).toMatchObject(unchanged);
    await update(new FeedError('no\u001b network'), { now: FIRST + 2 * DAY });
    const failed = { ...unchanged, triedAt: FIRST + 2 * DAY, problem: 'no  network' };
    expect(await checkOf()).toMatchObject(failed);
    await update(['gmail.com', ...many(99)], { now: FIRST + 3 * DAY });
    expect((await checkOf())?.problem).toMatch(/^it names gmail.com/);
    await update(['gmail.com', ...many(99)], { now: FIRST + 4 * DAY, force: true });
    expect(await checkOf()).toMatchObject({ checkedAt: FIRST + 4 * DAY, problem: null });
  });

  it('but not of a dry run', async () => {
    expect(await update(many(101), { dryRun: true })).toMatchObject({ turnover: { added: 1, removed: 0 } });
    expect(await checkOf()).toBeUndefined();
  });
});

describe('what a new version would change for names that were asked here lately', () => {
  const regulars = many(8, 'regular');
  const actor = { who: 'op', via: 'test' };
  const asked = async (day: string, ...names: string[]) =>
    store.keepAsked({ day, server: 's', names: names.join(' ') }, '2026-10-01');
  beforeAll(async () => {
    for (let day = 25; day < 31; day++) await asked(`2026-10-${day}`, ...regulars, 'for-six-days.com');
    await asked('2026-10-31', ...regulars, 'yesterday.com', '!n0.com', '!by-its-host.com');
  });
  const verified = () => ({ ...feed, family: 'verified' }) as const;
  const catalog = () =>
    buildCatalog({ feeds: [source(many(100), verified())], tables: () => readTables() }, () => {});
  const tryAll = async (names: readonly string[], options: Options = {}) => {
    const installed = [source(many(100), verified())];
    return (await updateAll([source(names, verified())], { catalog, installed, ...options }))[0]!;
  };
  const check = async () => (await store.feedChecks()).find(one => one.feed === feed.id);

  it('is told by a dry run, both ways, and changes nothing', async () => {
    const names = [
      ...many(100).slice(1),
      'regular0.com',
      'for-six-days.com',
      'yesterday.com',
      'by-its-host.com',
      'nobody-asked.com',
    ];
    const done = await tryAll(names, { dryRun: true });
    expect(done).toMatchObject({ outcome: 'accepted', waiting: null });
    expect(done.flips).toEqual([
      { domain: 'regular0.com', change: 'flagged', isEstablished: true },
      { domain: 'yesterday.com', change: 'flagged', isEstablished: false },
      { domain: 'n0.com', change: 'cleared', isEstablished: false },
      { domain: 'for-six-days.com', change: 'flagged', isEstablished: false },
    ]);
    expect(await check()).toBeUndefined();
  });

  it('is told of a list of protected names, which clears what a verified list has', async () => {
    const guard: Feed = { ...feed, id: `${feed.id}-guard`, kind: 'protected' };
    const options = { catalog, installed: [], dryRun: true };
    const [done] = await updateAll([source([...many(20, 'good'), 'n0.com'], guard)], options);
    expect(done).toMatchObject({
      outcome: 'accepted',
      flips: [{ domain: 'n0.com', change: 'cleared', isEstablished: false }],
    });
  });

  it('leaves out what an operator decided, and counts names below a listed one', async () => {
    const allow = {
      domain: 'regular1.com',
      action: 'allow',
      below: false,
      note: null,
      author: null,
    } as const;
    await store.setOverride(
      { ...allow, createdAt: 1, expiresAt: null },
      { ...actor, at: 1, action: 'override.set', subject: 'x', detail: null },
    );
    await asked('2026-10-24', 'mail.parent.com');
    const { flips } = await tryAll([...many(100), 'regular1.com', 'parent.com'], { dryRun: true });
    expect(flips!.map(({ domain }) => domain)).toEqual(['mail.parent.com']);
    await store.removeOverride('regular1.com', {
      ...actor,
      at: 1,
      action: 'override.remove',
      subject: 'x',
      detail: null,
    });
  });

  it.each([false, true])(
    'is told against what the lists before it in the same update have brought (dry run: %s)',
    async dryRun => {
      const guard: Feed = { ...feed, id: `${feed.id}-guard`, kind: 'protected' };
      const lists = [source(many(100), verified()), source([...many(100, 'good'), ...regulars], guard)];
      const both = () => buildCatalog({ feeds: lists, tables: () => readTables() }, () => {});
      const named = source([...many(100), ...regulars], verified());
      const dropped = source(many(100, 'good'), guard);
      const options = { catalog: both, installed: lists, dryRun };
      // Each alone is harmless or held back; together they flagged all eight (2026-11-17).
      expect(await updateAll([named, dropped], options)).toMatchObject([
        { outcome: 'accepted', flips: [] },
        { outcome: 'waiting', waiting: regulars },
      ]);
    },
  );

  it('is held back where lists that are updated at once would together flag more than five', async () => {
    const lists = [0, 1, 2, 3].map(at => ({ ...verified(), id: `${feed.id}-${at}` }));
    const installed = lists.map((list, at) => source(many(100, `n${at}x`), list));
    const unpack = { store, unpack: PACKING.unpack, onError: () => {} };
    const all = () => buildCatalog({ feeds: installed, tables: () => readTables() }, () => {}, unpack);
    // All have read what is in use before one of them is taken.
    const { promise, resolve } = Promise.withResolvers<void>();
    let ready = 0;
    const together: UpdateParts['store'] = {
      ...store,
      async acceptSnapshot(...args) {
        if (++ready === lists.length) resolve();
        await promise;
        return store.acceptSnapshot(...args);
      },
    };
    const done = await Promise.all(
      lists.map((list, at) =>
        updateAll([source([...many(100, `n${at}x`), ...regulars.slice(2 * at, 2 * at + 2)], list)], {
          ...{ catalog: all, installed, store: together },
        }),
      ),
    );
    expect(done.map(([one]) => one!.outcome).sort()).toEqual(['accepted', 'accepted', 'waiting', 'waiting']);
    for (const list of lists) await forgetVersions(store, list.id);
  });

  it('is held back where all lists together would flag more than five within a month', async () => {
    const lists = [0, 1].map(at => ({ ...verified(), id: `${feed.id}-${at}` }));
    const installed = lists.map((list, at) => source(many(100, `n${at}x`), list));
    const unpack = { store, unpack: PACKING.unpack, onError: () => {} };
    const all = () => buildCatalog({ feeds: installed, tables: () => readTables() }, () => {}, unpack);
    const [first, second] = lists.map((list, at) =>
      source([...many(100, `n${at}x`), ...regulars.slice(3 * at, 3 * at + 3)], list),
    );
    const on = { catalog: all, installed };
    const dry = await updateAll([first!, second!], { ...on, dryRun: true });
    const [taken] = await updateAll([first!], on);
    const [held] = await updateAll([second!], { ...on, now: FIRST + 29 * DAY });
    expect([...dry, taken, held].map(one => one!.outcome)).toEqual([
      ...['accepted', 'waiting'],
      ...['accepted', 'waiting'],
    ]);
    expect(held!.waiting).toEqual(regulars.slice(3, 6));
    expect(held!.problems).toEqual([expect.stringContaining('beside 3 that other lists flagged')]);
    // After a month they are none of that month any more, if it was one: one look at the clock is not enough.
    const ahead = { ...on, now: FIRST + 30 * DAY, looks: ranUntil(FIRST + DAY) };
    expect((await updateAll([second!], ahead))[0]!.outcome).toBe('waiting');
    const [later] = await updateAll([second!], { ...on, now: FIRST + 30 * DAY });
    expect(later!.outcome).toBe('accepted');
  });

  it("is held back by six domains, not by six names below one: those are one party's", () => {
    const flips = (name: (at: number) => string) =>
      Array.from(
        { length: 6 },
        (_, at) => ({ domain: name(at), change: 'flagged', isEstablished: true }) as const,
      );
    expect(
      waitingIn(
        flips(at => `n${at}.burner.com`),
        undefined,
      ),
    ).toEqual([]);
    expect(
      waitingIn(
        flips(at => `n${at}.com`),
        undefined,
      ),
    ).toHaveLength(6);
  });

  it('holds it back where many established names would be flagged, until it is approved', async () => {
    const bad = [...many(100), ...regulars.slice(0, 6)];
    const other = { ...feed, id: `${feed.id}-other` };
    const done = await updateAll([source(bad, verified()), source(many(20, 'o'), other)], {
      ...{ catalog, installed: [source(many(100), verified())] },
    });
    expect(done.map(({ outcome }) => outcome)).toEqual(['waiting', 'accepted']);
    expect(done[0]!.problems).toEqual([
      expect.stringMatching(
        /would flag 6 established names that were asked here lately: "feeds approve list-/,
      ),
    ]);
    expect(await stored()).toBeUndefined();
    expect(await check()).toMatchObject({ waiting: bad.slice(100), checkedAt: null });
    const five = await tryAll(bad.slice(0, -1), { dryRun: true });
    expect(five.outcome).toBe('accepted');

    const { approveFeed } = actsOnFeeds({ store, clock: () => FIRST });
    expect(await approveFeed('no-such-feed', actor, [])).toMatchObject({ problem: 'not_found' });
    // Until it is fetched, it can be approved again.
    for (let times = 0; times < 2; times++)
      expect(await approveFeed(feed.id, actor, 'any')).toEqual(bad.slice(100));
    expect((await tryAll(bad)).outcome).toBe('accepted');
    expect(await approveFeed(feed.id, actor, 'any')).toMatchObject({ problem: 'not_found' });
    expect(await check()).toMatchObject({ waiting: null, approved: null, rejected: null });
    expect((await acts()).map(({ action }) => action)).toEqual([
      ...['feed.approve', 'feed.approve', 'feed.update'],
    ]);
  });

  it('fetches what was approved when that is approved again, and leaves an older rejection of others as it is', async () => {
    await tryAll([...many(100), ...regulars.slice(0, 6)]);
    const noted = (await check())!;
    const decided = { ...noted, waiting: null, approved: ['new.com'], rejected: ['old.com'] };
    expect(await store.noteCheck(decided, noted)).toBe(true);
    const { approveFeed } = actsOnFeeds({ store, clock: () => FIRST });
    expect(await approveFeed(feed.id, actor, 'any')).toEqual(['new.com']);
    expect(await check()).toMatchObject({ approved: ['new.com'], rejected: ['old.com'] });
  });

  it.each([[[]], ['any' as const], [regulars.slice(0, 6)]])(
    'takes a rejection back that the last version was refused for, also beside an approval that nothing has used (%j)',
    async seen => {
      const [rejected, others] = [regulars.slice(0, 6), many(6, 'others')];
      const rows = await store.askedNames();
      const asked = rows.map(row => ({ ...row, names: `${row.names} ${others.join(' ')}` }));
      const tried = async (names: readonly string[]) => {
        const options = { store: { ...store, askedNames: async () => asked } };
        return (await tryAll([...many(100), ...names], options)).outcome;
      };
      const { approveFeed, rejectFeed } = actsOnFeeds({ store, clock: () => FIRST });
      expect(await tried(rejected)).toBe('waiting');
      await rejectFeed(feed.id, actor, 'any');
      expect(await tried(others)).toBe('waiting');
      expect(await approveFeed(feed.id, actor, 'any')).toEqual(others);
      expect(await tried(rejected)).toBe('refused');
      expect(await approveFeed(feed.id, actor, [...rejected.slice(1), 'unseen.com'])).toMatchObject({
        ...{
          problem: 'unseen',
          detail: expect.stringMatching(/^no version of list-\d+ waits, and what was/),
        },
      });
      if (seen.length > 3)
        expect(await approveFeed(feed.id, actor, seen)).toMatchObject({
          ...{ problem: 'unseen', detail: expect.stringContaining('has rejected these domains') },
        });
      expect(await approveFeed(feed.id, actor, seen, true)).toEqual(rejected);
      expect(await tried(rejected)).toBe('accepted');
    },
  );

  it('leaves what another operator decided in the same moment, and says so', async () => {
    const bad = [...many(100), ...regulars.slice(0, 6)];
    for (const seen of ['any', bad.slice(100)] as const) {
      await tryAll(bad);
      const { rejectFeed } = actsOnFeeds({ store, clock: () => FIRST });
      let isFirst = true;
      const meanwhile: typeof store = {
        ...store,
        async noteCheck(...args) {
          if (isFirst) await rejectFeed(feed.id, actor, 'any');
          isFirst = false;
          return store.noteCheck(...args);
        },
      };
      const { approveFeed } = actsOnFeeds({ store: meanwhile, clock: () => FIRST });
      expect(await approveFeed(feed.id, actor, seen)).toMatchObject({ problem: 'unseen' });
      expect(await check()).toMatchObject({ approved: null, rejected: bad.slice(100) });
      const noted = (await check())!;
      await store.noteCheck({ ...noted, rejected: null }, noted);
    }
  });

  it('holds small steps back that are many within a month, and begins to count anew where an operator looked', async () => {
    const step = (upTo: number) => [...many(100), ...regulars.slice(0, upTo)];
    expect((await tryAll(step(3))).outcome).toBe('accepted');
    // What is in use is flagged by now.
    const inUse = { feeds: [source(step(3), verified())], tables: () => readTables() };
    const flagged = await buildCatalog(inUse, () => {});
    const on = (now: number) => ({ now, catalog: async () => flagged });
    expect((await tryAll(step(6), { ...on(FIRST + 40 * DAY), dryRun: true })).outcome).toBe('accepted');
    // By one look at a clock that is ahead they are still those of this month.
    const ahead = { ...on(FIRST + 40 * DAY), looks: ranUntil(FIRST + DAY) };
    expect((await tryAll([...step(3), 'one-more.com'], ahead)).outcome).toBe('accepted');
    const waits = await tryAll(step(6), on(FIRST + DAY));
    expect(waits).toMatchObject({ outcome: 'waiting', waiting: { length: 6 } });
    const { approveFeed } = actsOnFeeds({ store, clock: () => FIRST });
    await approveFeed(feed.id, actor, 'any');
    expect((await tryAll(step(6), on(FIRST + DAY))).outcome).toBe('accepted');
    expect((await tryAll(step(7), on(FIRST + 2 * DAY))).outcome).toBe('accepted');
  });

  it('asks about what it would flag, and not about what it has withdrawn, which counts all the same', async () => {
    const named = (...names: string[]) => [...many(100), ...names];
    expect((await tryAll(named(...regulars.slice(0, 3)))).outcome).toBe('accepted');
    expect((await tryAll(named(), { now: FIRST + DAY })).outcome).toBe('accepted');
    expect(await tryAll(named(...regulars.slice(3, 7)), { now: FIRST + 2 * DAY })).toMatchObject({
      ...{ outcome: 'waiting', waiting: regulars.slice(3, 7) },
      problems: [
        expect.stringMatching(
          /flag 4 established .*, beside 3 that it flagged within a month and no longer has: /,
        ),
      ],
    });
  });

  it('holds a popularity list back too that leaves names out in small steps', async () => {
    const popular: Feed = { ...feed, kind: 'popular' };
    const largest = [...canariesOf(parseTables(await readTables()))];
    const without = (count: number) => [...largest, ...many(400, 'used'), ...regulars.slice(count)];
    const listed = source(regulars, { ...feed, id: 'listed', atLeast: 1 });
    const leaveOut = async (count: number, day: number, inUse: number, force = false) => {
      const feeds = [listed, source(without(inUse), popular)];
      const before = () => buildCatalog({ feeds, tables: () => readTables() }, () => {});
      const options = { installed: [], now: FIRST + day * DAY, force, catalog: before };
      return (await updateAll([source(without(count), popular)], options))[0]!;
    };
    expect((await leaveOut(0, 0, 0, true)).outcome).toBe('forced');
    expect((await leaveOut(4, 1, 0)).outcome).toBe('accepted');
    expect(await leaveOut(6, 2, 4)).toMatchObject({ outcome: 'waiting', waiting: { length: 6 } });
    expect((await leaveOut(6, 32, 4)).outcome).toBe('accepted');
  });

  it('hears an operator who decides while it is fetched, and forgets nothing that is decided while it is noted', async () => {
    const bad = [...many(100), ...regulars.slice(0, 6)];
    expect((await tryAll(bad)).outcome).toBe('waiting');
    const { approveFeed, rejectFeed } = actsOnFeeds({ store, clock: () => FIRST });
    let decide: () => Promise<unknown> = () => rejectFeed(feed.id, actor, 'any');
    const meanwhile: UpdateParts['store'] = {
      ...store,
      async noteCheck(...args) {
        await decide();
        return store.noteCheck(...args);
      },
    };
    expect((await tryAll(bad, { store: meanwhile })).outcome).toBe('waiting');
    expect(await check()).toMatchObject({ waiting: null, approved: null, rejected: bad.slice(100) });
    decide = async () => {};
    const slow = {
      ...source(bad, verified()),
      read: async () => {
        await approveFeed(feed.id, actor, 'any');
        return { version: 'new', names: bad };
      },
    };
    const options = { catalog, installed: [source(many(100), verified())] };
    expect((await updateAll([slow], options))[0]!.outcome).toBe('accepted');
  });

  it.each(['tried', 'accepted', 'noted'])(
    'is not taken once an operator was told that it is rejected, at whatever moment: while it is %s',
    async moment => {
      const bad = [...many(100), ...regulars.slice(0, 6)];
      expect((await tryAll(bad)).outcome).toBe('waiting');
      const { approveFeed, rejectFeed } = actsOnFeeds({ store, clock: () => FIRST });
      await approveFeed(feed.id, actor, 'any');
      let told: unknown;
      const reject = async (at: string) => {
        if (at === moment) told ??= await rejectFeed(feed.id, actor, bad.slice(100), true);
      };
      const meanwhile: UpdateParts['store'] = {
        ...store,
        async listOverrides() {
          await reject('tried');
          return store.listOverrides();
        },
        async acceptSnapshot(...args) {
          await reject('accepted');
          const isAccepted = await store.acceptSnapshot(...args);
          await reject('noted');
          return isAccepted;
        },
      };
      const { outcome } = await tryAll(bad, { store: meanwhile });
      const isRejected = moment !== 'noted';
      expect(told).toEqual(isRejected ? bad.slice(100) : expect.objectContaining({ problem: 'not_found' }));
      expect(outcome).toBe(isRejected ? 'refused' : 'accepted');
      expect(await check()).toMatchObject({ approved: null, rejected: isRejected ? bad.slice(100) : null });
      expect((await stored())?.names.length).toBe(isRejected ? undefined : bad.length);
    },
  );

  it('is refused without asking again where an operator rejected any name of it, asked for or not; force takes all', async () => {
    const bad = [...many(100), ...regulars.slice(0, 7)];
    expect((await tryAll(bad)).outcome).toBe('waiting');
    const { approveFeed, rejectFeed } = actsOnFeeds({ store, clock: () => FIRST });
    expect(await rejectFeed(feed.id, actor, 'any')).toEqual(bad.slice(100));
    for (const names of [bad.slice(0, -1), [...many(100), regulars[3]!], [...bad, 'regular7.com']])
      expect(await tryAll(names)).toMatchObject({ outcome: 'refused', waiting: [] });
    const forgotten = { ...store, askedNames: async () => [] };
    expect(await tryAll(bad.slice(0, -4), { store: forgotten })).toMatchObject({
      outcome: 'refused',
      problems: [expect.stringMatching(/flag 3 names that an operator rejected: "feeds approve list-/)],
    });
    expect((await tryAll([...many(100), 'regular7.com'], { dryRun: true })).outcome).toBe('accepted');
    expect((await tryAll(bad, { dryRun: true, force: true })).outcome).toBe('forced');
    // What that version has is approved, and no other name.
    expect(await approveFeed(feed.id, actor, 'any')).toEqual(bad.slice(100, -4));
    expect((await tryAll(bad.slice(0, -4), { dryRun: true })).outcome).toBe('accepted');
    expect((await tryAll(bad.slice(0, -1), { dryRun: true })).outcome).toBe('refused');
  });

  it('takes back what the last version was refused for, and no older rejection, whatever a list says', async () => {
    const [first, second] = [regulars.slice(0, 6), many(6, 'others')];
    const rows = await store.askedNames();
    const asked = rows.map(row => ({ ...row, names: `${row.names} ${second.join(' ')}` }));
    const tried = async (...names: string[]) => {
      const options = { store: { ...store, askedNames: async () => asked } };
      return (await tryAll([...many(100), ...names], options)).outcome;
    };
    const { approveFeed, rejectFeed } = actsOnFeeds({ store, clock: () => FIRST });
    for (const names of [first, second]) {
      expect(await tried(...names)).toBe('waiting');
      await rejectFeed(feed.id, actor, 'any');
    }
    expect(await tried(...first)).toBe('refused');
    expect(await tried(...second)).toBe('refused');
    const lines = ['names that an operator rejected', (await check())!.problem!];
    expect(await approveFeed(feed.id, actor, 'any')).toEqual(second);
    // A list that is refused for lines which say that, in whatever words, was not refused for it.
    for (const line of lines) {
      expect(await tried(...second, line, line, line)).toBe('refused');
      expect((await check())!.problem).toContain('are no usable names');
      expect(await approveFeed(feed.id, actor, 'any')).toEqual(second);
    }
    expect(await tried(...second)).toBe('accepted');
    expect(await check()).toMatchObject({ approved: null, rejected: first });
    expect(await tried(...second, ...first.slice(0, 2))).toBe('refused');
    expect(await approveFeed(feed.id, actor, 'any')).toEqual(first.slice(0, 2));
    expect(await check()).toMatchObject({ rejected: first.slice(2) });
  });

  it.each([true, false])(
    'takes back what is named, and nothing unnamed, where a try came after the refusal (one that failed: %j)',
    async isFailed => {
      const [first, second] = [regulars.slice(0, 6), many(6, 'others')];
      const rows = await store.askedNames();
      const asked = rows.map(row => ({ ...row, names: `${row.names} ${second.join(' ')}` }));
      const options = { store: { ...store, askedNames: async () => asked } };
      const tried = async (...names: string[]) => (await tryAll([...many(100), ...names], options)).outcome;
      const { approveFeed, rejectFeed } = actsOnFeeds({ store, clock: () => FIRST });
      for (const names of [first, second]) {
        expect(await tried(...names)).toBe('waiting');
        await rejectFeed(feed.id, actor, 'any');
      }
      expect(await tried(...second)).toBe('refused');
      const away = { ...source([], verified()), read: () => Promise.reject(new FeedError('no network')) };
      if (isFailed) expect((await updateAll([away]))[0]!.outcome).toBe('failed');
      else expect(await tried()).toBe('unchanged');
      for (const seen of ['any', []] as const)
        expect(await approveFeed(feed.id, actor, seen)).toMatchObject({
          problem: 'unseen',
          detail: expect.stringMatching(
            /waits: name those of the 12 rejected domains that it may flag \(\S+, /,
          ),
        });
      expect(await approveFeed(feed.id, actor, [...second, 'unseen.com'])).toMatchObject({
        problem: 'unseen',
      });
      expect(await approveFeed(feed.id, actor, second)).toMatchObject({ problem: 'unseen' });
      expect(await approveFeed(feed.id, actor, second, true)).toEqual(second);
      expect(await check()).toMatchObject({ approved: second, rejected: first });
      expect(await tried(...second)).toBe('accepted');
      expect(await tried(...second, first[0]!)).toBe('refused');
      // A part of what it is refused for leaves it refused for the rest.
      expect(await tried(...second, ...first)).toBe('refused');
      expect(await approveFeed(feed.id, actor, first.slice(1), true)).toEqual(first.slice(1));
      expect((await check())!.problem).toMatch(/^it would flag 1 names that an operator rejected/);
    },
  );

  it('is refused where it still has what was rejected, also where the version in use has that, or an operator went back to one', async () => {
    const step = (...names: string[]) => [...many(100), ...names];
    const [few, all] = [regulars.slice(0, 5), regulars.slice(0, 6)];
    const acts = actsOnFeeds({ store, clock: () => FIRST });
    const { approveFeed, rejectFeed, rollBackFeed, returnFeed } = acts;
    const tried = async (names: readonly string[], day: number, more: Options = {}) =>
      (await tryAll(names, { now: FIRST + day * DAY, ...more })).outcome;
    expect(await tried(step(...few), 0)).toBe('accepted');
    expect(await tried(step(...all), 1)).toBe('waiting');
    expect(await rejectFeed(feed.id, actor, 'any')).toEqual(all);
    expect(await tried(step(...few, 'more.com'), 2)).toBe('refused');
    expect(await tried(step(), 3)).toBe('accepted');
    expect(await rollBackFeed(feed.id, actor)).toMatchObject({ version: { names: 105 } });
    for (const names of [few, [...few, 'more.com']])
      expect(await tried(step(...names), 4, { evenHeld: true })).toBe('refused');
    // That would undo what somebody went back for.
    expect(await approveFeed(feed.id, actor, 'any')).toMatchObject({ problem: 'taken' });
    await returnFeed(feed.id, actor);
    expect(await approveFeed(feed.id, actor, 'any')).toEqual(few);
    // Taken back, it is used at once, though nothing of it is new.
    await rollBackFeed(feed.id, actor);
    expect(await tried(step(...few, 'more.com'), 5, { evenHeld: true })).toBe('accepted');
    expect(await check()).toMatchObject({ approved: null, rejected: all.slice(5) });
  });

  it('takes back nothing else where that was approved while it was found', async () => {
    const [first, second] = [regulars.slice(0, 6), regulars.slice(6)];
    const { approveFeed } = actsOnFeeds({ store, clock: () => FIRST });
    await tryAll([...many(100), ...first]);
    const noted = (await check())!;
    await store.noteCheck({ ...noted, waiting: null, rejected: [...first, ...second] }, noted);
    const bad = [...many(100), ...second];
    expect((await tryAll(bad)).outcome).toBe('refused');
    let isDecided = false;
    const meanwhile: UpdateParts['store'] = {
      ...store,
      async noteCheck(...args) {
        if (!isDecided) {
          isDecided = true;
          expect(await approveFeed(feed.id, actor, 'any')).toEqual(second);
        }
        return store.noteCheck(...args);
      },
    };
    expect((await tryAll(bad, { store: meanwhile })).outcome).toBe('refused');
    expect((await check())!.problem).toMatch(/^it would flag 2 names, which is approved/);
    expect(await approveFeed(feed.id, actor, 'any')).toEqual(second);
    expect(await check()).toMatchObject({ approved: second, rejected: first });
  });

  it('is refused too where an override or another list hides what it would flag, and approved names are used up', async () => {
    const bad = [...many(100), ...regulars.slice(0, 6)];
    const { approveFeed, rejectFeed } = actsOnFeeds({ store, clock: () => FIRST });
    expect((await tryAll(bad)).outcome).toBe('waiting');
    await rejectFeed(feed.id, actor, 'any');
    const allow = (domain: string) =>
      ({ domain, action: 'allow', below: false, note: null, author: null, createdAt: 1 }) as const;
    const overrides = regulars.map(domain => ({ ...allow(domain), expiresAt: FIRST + DAY }));
    const overridden = { store: { ...store, listOverrides: async () => ({ overrides, revision: 1 }) } };
    const other = source(regulars, { ...verified(), id: 'other', atLeast: 1 });
    const feeds = [source(many(100), verified()), other];
    const named = { catalog: () => buildCatalog({ feeds, tables: () => readTables() }, () => {}) };
    const refused = { outcome: 'refused', problems: [expect.stringContaining('6 names that an operator')] };
    expect(await tryAll(bad, overridden)).toMatchObject(refused);
    expect(await tryAll(bad, named)).toMatchObject(refused);
    expect((await tryAll(bad, { ...named, dryRun: true, force: true })).outcome).toBe('forced');
    await approveFeed(feed.id, actor, 'any');
    expect((await tryAll(bad, overridden)).outcome).toBe('accepted');
    expect(await check()).toMatchObject({ approved: null, rejected: null });
  });

  it('is refused where a popularity list leaves out what it may not, unless nobody lists that any more', async () => {
    const popular: Feed = { ...feed, kind: 'popular' };
    const largest = [...canariesOf(parseTables(await readTables()))];
    const without = (count: number) => [...largest, ...many(400, 'used'), ...regulars.slice(count)];
    const leaveOut = async (count: number, listed: readonly string[], family: Feed['family']) => {
      const installed = [source(without(0), popular)];
      const feeds = [source(listed, { ...feed, id: 'listed', atLeast: 1, family }), ...installed];
      const before = () => buildCatalog({ feeds, tables: () => readTables() }, () => {});
      return (await updateAll([source(without(count), popular)], { installed, catalog: before }))[0]!;
    };
    expect((await leaveOut(6, regulars, 'broad')).outcome).toBe('waiting');
    await actsOnFeeds({ store, clock: () => FIRST }).rejectFeed(feed.id, actor, 'any');
    // Flagged already, by a list that the panel does not stand against.
    expect((await leaveOut(6, regulars, 'verified')).outcome).toBe('refused');
    expect((await leaveOut(6, ['listed.com'], 'broad')).outcome).toBe('accepted');
    // Which flagged nobody: the rejection stands for when they are listed again.
    expect(await check()).toMatchObject({ rejected: regulars.slice(0, 6) });
    // Nor does it matter that the version in use leaves them out too, as one that an operator went back to may.
    expect(await leaveOut(7, regulars, 'broad')).toMatchObject({
      ...{
        outcome: 'refused',
        problems: [expect.stringContaining('flag 6 names that an operator rejected')],
      },
    });
    expect((await leaveOut(0, ['listed.com'], 'broad')).outcome).toBe('accepted');
    expect((await leaveOut(5, regulars, 'broad')).outcome).toBe('refused');
  });

  it('stays decided while its server has a good version again, and what was rejected also where others are approved', async () => {
    const bad = [...many(100), ...regulars.slice(0, 6)];
    const { approveFeed, rejectFeed } = actsOnFeeds({ store, clock: () => FIRST });
    expect((await tryAll(bad)).outcome).toBe('waiting');
    await approveFeed(feed.id, actor, 'any');
    expect((await tryAll(many(100))).outcome).toBe('unchanged');
    expect((await tryAll(many(101))).outcome).toBe('accepted');
    expect((await tryAll(bad, { dryRun: true })).outcome).toBe('accepted');
    // Nobody has used it: it can be taken back.
    expect(await rejectFeed(feed.id, actor, 'any')).toEqual(bad.slice(100));
    expect((await tryAll(many(101))).outcome).toBe('unchanged');
    expect((await tryAll(bad)).outcome).toBe('refused');

    const others = many(6, 'others');
    const rows = await store.askedNames();
    const asked = rows.map(row => ({ ...row, names: `${row.names} ${others.join(' ')}` }));
    const options = { store: { ...store, askedNames: async () => asked } };
    expect((await tryAll([...many(101), ...others], options)).outcome).toBe('waiting');
    await approveFeed(feed.id, actor, 'any');
    expect((await tryAll([...many(101), ...others], options)).outcome).toBe('accepted');
    expect((await tryAll([...many(101), ...others, 'regular0.com'], options)).outcome).toBe('refused');
  });

  it('counts one decision after the other where a version has more names than one look shows', async () => {
    const more = Array.from({ length: 1_010 }, (_, at) => `crowd${at}.com`);
    for (let day = 18; day < 25; day++) await asked(`2026-10-${day}`, ...more);
    const sources = [source(many(10_000), verified())];
    const large = {
      installed: sources,
      catalog: () => buildCatalog({ feeds: sources, tables: () => readTables() }, () => {}),
    };
    const tryBad = () => tryAll([...many(10_000), ...more], large);
    const { approveFeed } = actsOnFeeds({ store, clock: () => FIRST });
    expect((await tryBad()).outcome).toBe('waiting');
    expect(await approveFeed(feed.id, actor, 'any')).toHaveLength(1_000);
    expect((await tryBad()).outcome).toBe('waiting');
    expect(await approveFeed(feed.id, actor, 'any')).toHaveLength(10);
    expect((await tryBad()).outcome).toBe('accepted');
  });
});

it('a feed that was rolled back is left alone, until it is named', async () => {
  await update(many(101));
  await update(many(102), { now: FIRST + DAY });
  const [first] = (await store.pastSnapshots()).filter(head => head.feed === feed.id);
  const [inUse] = (await store.snapshots()).filter(head => head.feed === feed.id);
  const act = {
    at: FIRST,
    who: 'op',
    via: 'test',
    action: 'feed.rollback',
    subject: feed.id,
    detail: null,
  } as const;
  expect(await store.swapSnapshot(feed.id, first!, inUse!.digest, act)).toBe(true);
  const before = await stored();
  const later = { now: FIRST + 2 * DAY };
  expect(await update(many(103), later)).toMatchObject({ outcome: 'held', after: null });
  expect(await stored()).toEqual(before);
  expect(await update(many(103), { ...later, evenHeld: true })).toMatchObject({ outcome: 'accepted' });
  expect(await update(many(104), { now: FIRST + 3 * DAY })).toMatchObject({ outcome: 'accepted' });
});

it.each([1, 2])(
  'names keep their days where an operator goes on with a feed after going back (%s versions)',
  async steps => {
    const own: Feed = { ...feed, atLeast: 1 };
    const read = async (count: number, day: number) => {
      const options = { installed: [], evenHeld: true, now: FIRST + day * DAY };
      return (await updateAll([source(many(count), own)], options))[0]!.outcome;
    };
    expect([await read(40, 0), await read(55, 1)]).toEqual(['accepted', 'accepted']);
    const { rollBackFeed } = actsOnFeeds({ store, clock: () => FIRST });
    for (let step = 0; step < steps; step++) await rollBackFeed(feed.id, { who: 'op', via: 'test' });
    expect(await read(58, 45)).toBe('accepted');
    const { names, since } = (await stored(own))!;
    const days = [0, 54, 57].map(at => since[names.indexOf(`n${at}.com`)]! - dayAt(FIRST));
    expect(days).toEqual([0, 1, 45]);
  },
);

it('a feed that was rolled back is updated again where it is named while its server has the same version', async () => {
  await update(many(101));
  await update(many(102), { now: FIRST + DAY });
  const { rollBackFeed } = actsOnFeeds({ store, clock: () => FIRST });
  const versions = async () => {
    const all = [...(await store.snapshots()), ...(await store.pastSnapshots())];
    return all.filter(head => head.feed === feed.id).map(({ names }) => names);
  };
  await rollBackFeed(feed.id, { who: 'op', via: 'test' });
  const on = (day: number, evenHeld = false) => ({ now: FIRST + day * DAY, evenHeld });
  const same = { outcome: 'accepted', turnover: { added: 0, removed: 0 } };
  expect(await update(many(101), on(2))).toMatchObject({ outcome: 'held' });
  // Its server is not asked whether it has something new, but for what it has.
  const check = (await store.feedChecks()).find(one => one.feed === feed.id)!;
  const { digest } = (await store.snapshot(feed.id))!;
  const tag = { address: 'a', etag: '"1"', modified: null, digest, wholeAt: FIRST + DAY };
  await store.noteCheck({ ...check, tag });
  const unchanging = {
    feed,
    read: async (last?: object) => (last ? null : { version: 'new', names: many(101) }),
  };
  expect((await updateAll([unchanging], on(2, true)))[0]).toMatchObject(same);
  expect(await versions()).toEqual([101]);
  expect(await update(many(103), on(3))).toMatchObject({ outcome: 'accepted' });
  // Down to the installed one, which is what its server has now.
  for (let times = 0; times < 2; times++) await rollBackFeed(feed.id, { who: 'op', via: 'test' });
  expect(await update(many(100), on(4, true))).toMatchObject(same);
  expect(await update(many(104), on(5))).toMatchObject({ outcome: 'accepted' });
});

it.each([
  ['before its turn comes', 0],
  ['while it is fetched', 1],
])(
  'what an operator does %s stands: the update leaves the feed at the version gone back to',
  async (_, at) => {
    await update(many(101));
    await update(many(102), { now: FIRST + DAY });
    const { rollBackFeed } = actsOnFeeds({ store, clock: () => FIRST });
    const rollBack = async () => {
      await rollBackFeed(feed.id, { who: 'op', via: 'test' });
      return { version: 'new', names: many(103) };
    };
    const other = { ...feed, id: `${feed.id}-slow` };
    const read = async () => ({ version: 'new', names: many(103) });
    const sources = [other, feed].map((of, place) => ({ feed: of, read: place === at ? rollBack : read }));
    for (const evenHeld of [false, true]) {
      const [, done] = await updateAll(sources, { now: FIRST + 2 * DAY, evenHeld });
      expect([done!.outcome, (await stored())!.names.length]).toEqual(['held', 101]);
      await actsOnFeeds({ store, clock: () => FIRST }).returnFeed(feed.id, { who: 'op', via: 'test' });
    }
  },
);

it('where nothing could be read, the lists in use are not even loaded', async () => {
  const catalog = () => Promise.reject(new Error('loaded'));
  expect(await update(new FeedError('no network'), { catalog })).toMatchObject({ outcome: 'failed' });
  expect(await update(many(101), { catalog })).toMatchObject({
    outcome: 'failed',
    fault: new Error('loaded'),
  });
  // The next list may find them there.
  let loaded = 0;
  const soon = () => (loaded++ === 0 ? catalog() : catalogOf([]));
  const behind = { ...feed, id: `${feed.id}-behind` };
  const done = await updateAll([source(many(101)), source(many(101), behind)], { catalog: soon });
  expect(done.map(({ outcome }) => outcome)).toEqual(['failed', 'accepted']);
});

describe('an update by a clock that is wrong', () => {
  let looks: Lease[];
  beforeEach(() => {
    looks = ranUntil(FIRST);
  });
  const on = (days: number, read: readonly string[], more: Options = {}) =>
    update(read, { now: FIRST + days * DAY, installed: [], looks, ...more });
  const ages = async () => {
    const { names, since } = (await stored())!;
    return new Map(names.map((name, at) => [name, since[at]! - dayAt(FIRST)]));
  };
  const problem = async () => (await store.feedChecks()).find(one => one.feed === feed.id)!.problem;

  it.each([-2, -31, -400])(
    'that is %i days behind is refused and says so, and no name gets older',
    async by => {
      expect((await on(0, many(40))).outcome).toBe('accepted');
      const read = vi.fn(async () => ({ version: 'new', names: many(41) }));
      const now = FIRST + by * DAY;
      for (const later of [0, 3_600_000, DAY - 1]) {
        const [done] = await updateAll([{ feed, read }], { now: now + later, installed: [], looks });
        expect(done).toMatchObject({ outcome: 'refused', after: null });
      }
      expect(read).not.toHaveBeenCalled();
      expect(await problem()).toMatch(/clock .* says 202\d-.* but it was 2026-11-01.*set that clock \(NTP\)/);
      expect(await stored()).toMatchObject({ names: many(40) });
      // By the right one it goes on at once.
      expect((await on(0.4, many(41))).outcome).toBe('accepted');
      expect([await problem(), new Set((await ages()).values())]).toEqual([null, new Set([0])]);
    },
  );

  it('that is behind what the version before this one has checked is refused, too', async () => {
    await on(0, many(40));
    expect((await on(-400, many(41), { looks: [] })).outcome).toBe('refused');
  });

  it('that is behind what the store, or the program, is from is refused with the first update, too', async () => {
    const made = (...times: number[]) => ({
      ...{ ...store, feedChecks: async () => [], audit: async () => times.map(at => ({ ...ACT, at })) },
    });
    const first = async (days: number, at: number, notBefore = 0) => {
      const fresh = { looks: [], store: made(FIRST + 500 * DAY, at), notBefore, dryRun: true };
      return (await on(days, many(40), fresh)).outcome;
    };
    expect([await first(-400, FIRST), await first(-400, 0, FIRST)]).toEqual(['refused', 'refused']);
    expect([await first(0, FIRST), await first(100, FIRST, FIRST), await first(-400, 0)]).toEqual([
      ...['accepted', 'accepted', 'accepted'],
    ]);
  });

  it('that is behind can be forced: names are as old as they were', async () => {
    await on(0, many(40));
    expect(await on(-400, many(41), { force: true })).toMatchObject({
      outcome: 'forced',
      problems: [expect.stringContaining('clock')],
    });
    expect((await on(1, many(42))).outcome).toBe('accepted');
    expect([...(await ages())].slice(-3)).toEqual([
      ['n39.com', 0],
      ['n40.com', 0],
      ['n41.com', 1],
    ]);
  });

  it('that is wrong by less than a day makes no name older, and by two it is refused', async () => {
    await on(0, many(40));
    expect((await on(-0.9, many(41))).outcome).toBe('accepted');
    expect(new Set((await ages()).values())).toEqual(new Set([0]));
    for (const day of [1, 2]) await on(day, many(41 + day));
    expect((await on(1.1, many(44))).outcome).toBe('accepted');
    expect((await ages()).get('n43.com')).toBe(2);
    expect((await on(0, many(44))).outcome).toBe('refused');
  });

  it('is refused for a day where it was days ahead before, and then goes on by what it says now', async () => {
    for (const day of [0, 400, 401, 402])
      expect((await on(day, many(40 + (day % 399)))).outcome).toBe('accepted');
    for (const day of [2, 2.9]) expect((await on(day, many(45))).outcome).toBe('refused');
    expect(await problem()).toContain('2026-11-04T12:00:00Z');
    expect((await on(3, many(45))).outcome).toBe('accepted');
    expect((await on(4, many(46))).outcome).toBe('accepted');
    expect([...(await ages())].slice(-3)).toEqual([
      ['n43.com', 3],
      ['n44.com', 3],
      ['n45.com', 4],
    ]);
  });

  it('takes no kept name away from a rotating list before a second day says the same', async () => {
    feed = { ...feed, rotates: 100 };
    const shown = many(100, 'shown');
    for (const day of [0, 1, 2]) await on(day, many(100, 'left'));
    for (const day of [3, 4, 104, 104.5, 4.5, 5])
      expect([day, (await on(day, shown)).after?.names]).toEqual([day, 200]);
    expect((await ages()).get('left0.com')).toBe(0);
    // After a rest of a hundred days they go one day later.
    expect((await on(105, shown)).after?.names).toBe(200);
    expect((await on(106, shown)).after?.names).toBe(100);
  });

  it('makes no name older and takes none away where two are wrong by different amounts, minutes apart', async () => {
    feed = { ...feed, rotates: 100 };
    const shown = many(100, 'shown');
    for (const day of [0, 1, 2]) await on(day, many(100, 'left'));
    for (const day of [-730, -400, -31, -700])
      expect([day, (await on(day, shown)).outcome]).toEqual([day, 'refused']);
    for (const day of [3, 103, 203, 150, 303, -400, 3.1, 4])
      expect([day, (await on(day, shown)).after?.names]).toEqual([day, day < 0 ? undefined : 200]);
    expect((await ages()).get('left0.com')).toBe(0);
  });

  it('that looks once a month is believed, also where it was years ahead before', async () => {
    await on(0, many(100));
    for (const day of [31, 59]) expect((await on(day, many(100 + day))).outcome).toBe('accepted');
    for (const day of [800, 801]) expect((await on(day, many(day - 640))).outcome).toBe('accepted');
    expect((await on(90, many(162))).outcome).toBe('refused');
    expect((await on(120, many(162))).outcome).toBe('accepted');
  });

  it('does not begin the count of a month anew', async () => {
    const used = many(20, 'used');
    const bring = (day: number, ...names: string[]) => on(day, [...many(100), ...names], { popular: used });
    await bring(0, ...used.slice(0, 10));
    expect((await bring(1, ...used)).outcome).toBe('refused');
    // Nothing of them in it, so that it is accepted and what it keeps is stored.
    expect((await bring(32, 'new.com')).outcome).toBe('accepted');
    expect((await bring(1, ...used.slice(10))).outcome).toBe('refused');
  });
});
