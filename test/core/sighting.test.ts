import { describe, expect, it } from 'vitest';
import { dayFrom } from '../../src/core/days.ts';
import type { Domain } from '../../src/core/domain.ts';
import { markOf } from '../../src/core/guest.ts';
import { HashedNames } from '../../src/core/hashed.ts';
import { guestOf, type ListedAs, type Sweeping, sightingOf } from '../../src/core/sighting.ts';
import { SweptNames } from '../../src/core/swept.ts';
import { catalogOf } from '../support/catalog.ts';

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
    });
  });

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

  it('was earned by nobody where no list tells since when', async () => {
    expect((await guest({ ...LISTED, since: 0 }, 'key_1')).earnedBy).toBe(null);
  });
});

describe('an unlisted guest', () => {
  it('has no entry, and nobody learns which key asked for it', async () => {
    expect(await guest(null, 'key_1', ['burn.com'])).toMatchObject({
      ...{ entry: null, keys: null, corroborated: null, earnedBy: null, sinceDay: '2026-11-15' },
    });
  });

  it.each<[string, string | Sweeping, number, number]>([
    ['lists of two days did not name it', 'key_1', 2 * DAY_MS, 2],
    ['lists were older', 'key_1', 2 * DAY_MS + 1, 0],
    ['a sweep found it', { isFirst: false }, 0, 1],
  ])('tells how it was seen: %s', async (_, by, updatedAgo, swept) => {
    expect((await guest(null, by, [], updatedAgo)).swept).toBe(swept);
  });
});
