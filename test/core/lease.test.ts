import { describe, expect, test } from 'vitest';
import { isDue, LEASE_MS, type Lease, nextDue } from '../../src/core/lease.ts';

const NOW = Date.UTC(2026, 10, 16);
const DAY = 86_400_000;
const HOUR = 3_600_000;

describe('an update is due', () => {
  const lease = (parts: Partial<Lease>): Lease => ({
    ...{ name: 'feeds', holder: null, until: 0, dueAt: NOW + HOUR },
    ...parts,
  });
  test.each<[string, Lease | undefined, number, boolean]>([
    ['where there was none before', undefined, DAY, true],
    ['when its time has come', lease({ dueAt: NOW }), DAY, true],
    ['not a moment before', lease({ dueAt: NOW + 1 }), DAY, false],
    ['not while somebody is at it', lease({ holder: 'a', until: NOW + 1, dueAt: NOW - DAY }), DAY, false],
    ['when whoever was at it has died', lease({ holder: 'a', until: NOW, dueAt: NOW - DAY }), DAY, true],
    [
      'not when it died after its time was set anew',
      lease({ holder: 'a', until: NOW, dueAt: NOW + HOUR }),
      DAY,
      false,
    ],
    [
      'when a clock that was ahead holds the lease',
      lease({ holder: 'a', until: NOW + 2 * LEASE_MS + 1, dueAt: NOW }),
      DAY,
      true,
    ],
    [
      'not where its holder has a clock that is a minute ahead',
      lease({ holder: 'a', until: NOW + LEASE_MS + 60_000, dueAt: NOW }),
      DAY,
      false,
    ],
    ['not where a clock a minute ahead set it', lease({ dueAt: nextDue(NOW + 60_000, DAY, 1) }), DAY, false],
    ['when a clock that was ahead set the time', lease({ dueAt: NOW + 2 * DAY }), DAY, true],
    ['when it is wanted more often than before', lease({ dueAt: NOW + 2 * HOUR }), HOUR, true],
    ['not by the latest time that is ever set', lease({ dueAt: nextDue(NOW, DAY, 1) }), DAY, false],
  ])('%s', (_, given, every, expected) => {
    expect(isDue(given, NOW, every)).toBe(expected);
  });
});

test('the next one is about a period away, not at the same moment everywhere', () => {
  expect([0, 0.5, 1].map(chance => (nextDue(NOW, DAY, chance) - NOW) / DAY)).toEqual([0.95, 1, 1.05]);
});
