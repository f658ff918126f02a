import { describe, expect, it } from 'vitest';
import { dayFrom } from '../../src/core/days.ts';
import type { Domain } from '../../src/core/domain.ts';
import type { FeedKind } from '../../src/core/feed.ts';
import { makingCatalog } from '../../src/core/folding.ts';
import { markOf } from '../../src/core/guest.ts';
import { HashedNames } from '../../src/core/hashed.ts';
import { guestOf, type ListedAs, type Sweeping, sightingOf } from '../../src/core/sighting.ts';
import { takeSnapshot } from '../../src/core/snapshot.ts';
import { allAtOnce } from '../../src/core/steps.ts';
import { SweptNames } from '../../src/core/swept.ts';
import { catalogOf, NO_TABLES } from '../support/catalog.ts';

const DAY_MS = 86_400_000;
const NOW = Date.UTC(2026, 10, 15, 12);
const LISTED: ListedAs = { entry: 'burn.com', corroborated: true, since: dayFrom('2026-11-10') };

function sweptWith(...dead: string[]): SweptNames {
  const names = new HashedNames();
  for (const name of dead) names.add(name);
  const mark = { generation: '', last: '', endedAt: null, firstEndedAt: null, dead: names.toText() };
  return new SweptNames(mark);
}

/** The guest that `mail.burn.com` is, with lists that an update brought so long ago. */
async function guest(listed: ListedAs | null, by: string | Sweeping, dead: string[] = [], updatedAgo = 0) {
  const catalog = await catalogOf(['burn.com'], { updated: { at: NOW - updatedAgo, since: new Map() } });
  const sighting = sightingOf('mail.burn.com' as Domain, 'burn.com', listed, by);
  return guestOf(sighting, sweptWith(...dead), catalog, NOW);
}

describe('a listed guest', () => {
  it('is remembered by its entry, its registered name, who asked, and since when it was not listed yet', async () => {
    expect(await guest(LISTED, 'key_1')).toEqual({
      domain: 'burn.com',
      entry: 'burn.com',
      day: '2026-11-15',
      sinceDay: '2026-11-15',
      days: 1,
      swept: 0,
      keys: markOf('key_1'),
      corroborated: true,
      earnedBy: '2026-11-03',
      earned: false,
      via: null,
      elsewhereDay: null,
      beforeListed: null,
      registered: null,
    });
  });

  it.each([
    ['the registered name', 'burn.com', 'burn.com', 'burn.com'],
    ['a name below it', 'burn.com', 'x.burn.com', '*.burn.com'],
    ['a free name', 'mooo.com', 'x.mooo.com', '*.mooo.com'],
    ['a suffix that gives names away', 'mooo.com', 'mooo.com', '*.mooo.com'],
    ['one that the public suffix list knows', 'duckdns.org', 'duckdns.org', '*.duckdns.org'],
  ])(
    'is one with what was seen unlisted only where that is one party: %s',
    async (_, zone, entry, domain) => {
      const sighting = sightingOf(`x.${zone}` as Domain, zone, { ...LISTED, entry }, 'key_1');
      expect(guestOf(sighting, sweptWith(), await catalogOf([]), NOW)).toMatchObject({ domain, entry });
      const unlisted = sightingOf(`y.${zone}` as Domain, zone, null, 'key_1');
      expect(guestOf(unlisted, sweptWith(), await catalogOf([]), NOW)).toMatchObject({ domain: zone });
    },
  );

  it.each<[string, string | Sweeping, string[], string]>([
    ['a caller saw it', 'key_1', [], '2026-11-15'],
    ['a sweep found it', { isFirst: false }, [], '2026-11-15'],
    ['the first sweep found it', { isFirst: true }, [], '2026-11-08'],
    ['it was dead at a sweep', 'key_1', ['burn.com'], '2027-01-14'],
    ['it was dead, whatever the first sweep finds', { isFirst: true }, ['burn.com'], '2027-01-14'],
    ['another one was dead', 'key_1', ['other.com'], '2026-11-15'],
  ])('counts as old as it must be: %s', async (_, by, dead, sinceDay) => {
    expect((await guest(LISTED, by, dead)).sinceDay).toBe(sinceDay);
  });

  it('is asked for by no key where a sweep found it', async () => {
    expect((await guest(LISTED, { isFirst: false })).keys).toBe(0);
  });

  it('is as old as it is seen before the first sweep: nobody knows of dead names yet', async () => {
    const sighting = sightingOf('burn.com' as Domain, 'burn.com', LISTED, 'key_1');
    const { sinceDay } = guestOf(sighting, new SweptNames(undefined), await catalogOf([]), NOW);
    expect(sinceDay).toBe('2026-11-15');
  });

  it('was earned by nobody where no list tells since when', async () => {
    expect((await guest({ ...LISTED, since: 0 }, 'key_1')).earnedBy).toBe(null);
  });
});

describe('an unlisted guest', () => {
  it('has no entry, and nobody learns which key asked for it', async () => {
    expect(await guest(null, 'key_1', ['burn.com'])).toMatchObject({
      ...{ entry: null, keys: null, corroborated: null, earnedBy: null, sinceDay: '2026-11-15' },
    });
    expect(sightingOf('burn.com' as Domain, 'burn.com', null, 'key_1').mark).toBe(0);
  });

  it.each<[string, string | Sweeping, number, number]>([
    ['lists of two days did not name it', 'key_1', 2 * DAY_MS, 2],
    ['lists were older', 'key_1', 2 * DAY_MS + 1, 0],
    ['a sweep found it', { isFirst: false }, 0, 1],
  ])('tells how it was seen: %s', async (_, by, updatedAgo, swept) => {
    expect((await guest(null, by, [], updatedAgo)).swept).toBe(swept);
  });

  it.each<[string, number, number, number]>([
    ['one list of disposable names is fresh, whatever others are', 0, 9, 2],
    ['another list is fresh, which names none', 9, 0, 0],
  ])('counts as unlisted by fresh lists or not: %s', (_, daysAgo, popularDaysAgo, swept) => {
    const list = (kind: FeedKind, ago: number) => ({
      ...takeSnapshot(
        { id: kind, kind, family: 'broad', licence: 'none', origin: 'here', atLeast: 0 },
        { version: '1', names: ['other.com'] },
      ),
      acceptedAt: NOW - ago * DAY_MS,
    });
    const snapshots = [list('disposable', daysAgo), list('popular', popularDaysAgo)];
    const catalog = allAtOnce(makingCatalog(snapshots, NO_TABLES, 'g'));
    const sighting = sightingOf('burn.com' as Domain, 'burn.com', null, 'key_1');
    expect(guestOf(sighting, sweptWith(), catalog, NOW).swept).toBe(swept);
  });
});

describe('an unlisted guest', () => {
  it.each([
    ['shop.net', 'shop.net', null],
    ['mail.shop.net', 'shop.net', '*.shop.net'],
    ['x.gr.com', 'gr.com', 'x.gr.com'],
  ])('is told apart from names below it: %s', async (domain, zone, registered) => {
    const sighting = sightingOf(domain as Domain, zone, null, 'key_1');
    const catalog = await catalogOf(['burn.com']);
    expect(guestOf(sighting, sweptWith(), catalog, NOW).registered).toBe(registered);
  });
});
