import { expect, test } from 'vitest';
import type { FeedCheck } from '../../src/core/freshness.ts';
import { checksAgain, listsAgain } from '../../src/core/restored.ts';
import { keysAgain } from '../../src/core/restored-keys.ts';
import { keyRecord } from '../support/records.ts';

const key = (id: string, name: string, facts = {}) => keyRecord({ id, name, digest: id, ...facts });
const namesAfter = (...keys: Parameters<typeof keysAgain>) =>
  keysAgain(...keys).map(({ record }) => [record.id, record.name]);

test.each([
  ['gets it back', [key('a', 'old')], [key('a', 'web')], [['a', 'web']]],
  [
    'keeps its new one where another has the old one now',
    [key('a', 'old'), key('b', 'web')],
    [key('a', 'web')],
    [],
  ],
  [
    'that is in the backup only gets another one where the old one is taken',
    [key('b', 'web'), key('c', 'web (restored)')],
    [key('a', 'web'), key('d', 'web')],
    [
      ['a', 'web (restored 2)'],
      ['d', 'web (restored 3)'],
    ],
  ],
  [
    'has it, though another had it and was revoked',
    [key('b', 'web', { revokedAt: 1 })],
    [key('a', 'web')],
    [['a', 'web']],
  ],
  [
    'and revoked has it again, though another has it',
    [key('b', 'web')],
    [key('a', 'web', { revokedAt: 1 })],
    [['a', 'web']],
  ],
  [
    'shared with another since before stays so',
    [],
    [key('a', 'web'), key('b', 'web')],
    [
      ['a', 'web'],
      ['b', 'web'],
    ],
  ],
])('the name of a restored key %s', (_, present, old, names) => {
  expect(namesAfter(present, old)).toEqual(names);
  const records = keysAgain(present, old).map(({ record }) => record);
  const ids = new Set(records.map(({ id }) => id));
  // Once more there is nothing left to do.
  expect(namesAfter([...present.filter(({ id }) => !ids.has(id)), ...records], old)).toEqual([]);
});

const version = (acceptedAt: number) => ({ feed: 'a', version: '', digest: '', names: 1, acceptedAt });

test.each([
  ['comes where there is none', [], 1],
  ['comes where all versions here are older', [1, 2], 1],
  ['stays away where it is in use', [3], 0],
  ['stays away where an operator went back from it', [2, 3], 0],
])('a list of a backup %s', (_, present, count) => {
  expect(listsAgain(present.map(version), [version(3)])).toHaveLength(count);
});

const check = (facts: Partial<FeedCheck>): FeedCheck => ({
  ...{ feed: 'a', triedAt: 1, checkedAt: null, added: 0, removed: 0, problem: 'refused', waiting: null },
  ...{ trouble: null, approved: null, rejected: null, tag: null, fallback: null, ...facts },
});
const REJECTED = check({ rejected: ['gmail.com'] });

test.each([
  ['comes where the list was never looked at', [], [REJECTED]],
  [
    'comes where the same waits here',
    [check({ triedAt: 2, waiting: ['gmail.com'] })],
    [{ ...REJECTED, triedAt: 2 }],
  ],
  [
    'comes beside what else waits here',
    [check({ waiting: ['gmail.com', 'other.com'] })],
    [{ ...REJECTED, waiting: ['other.com'] }],
  ],
  [
    'comes where a check went well since',
    [check({ problem: null })],
    [check({ problem: null, rejected: ['gmail.com'] })],
  ],
  ['stays as it is where it was made here', [check({ approved: ['gmail.com'] })], []],
])('what was decided about a version that was held back %s', (_, present, records) => {
  const written = checksAgain(present, [REJECTED]);
  expect(written.map(({ record }) => record)).toEqual(records);
  for (const { change } of written)
    expect(change).toEqual({ action: 'feed.reject', subject: 'a', detail: 'gmail.com' });
});

test('what was approved comes beside what was rejected, unless a check that went well may have used it', () => {
  const old = check({ approved: ['a.com'], rejected: ['b.com'] });
  expect(checksAgain([], [old])).toMatchObject([
    { record: old, change: { action: 'feed.approve', detail: 'a.com' } },
    { record: old, change: { action: 'feed.reject', detail: 'b.com' } },
  ]);
  expect(checksAgain([check({ problem: null })], [old])).toMatchObject([
    { record: { approved: null, rejected: ['b.com'] }, change: { action: 'feed.reject' } },
  ]);
});
