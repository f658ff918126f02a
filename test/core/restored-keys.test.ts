import { describe, expect, test } from 'vitest';
import { isLive, type KeyRecord } from '../../src/core/key.ts';
import { doubtsAbout, keysAgain, oneKeys } from '../../src/core/restored-keys.ts';
import { rotated } from '../../src/core/rotation.ts';
import { keyRecord } from '../support/records.ts';

const NOW = 1_000;
const RUNNING = NOW + 500;
const OVER = NOW - 500;

/** A key whose secret has this digest. */
const made = (id: string, digest: string) =>
  keyRecord({ id, digest, name: 'first', prefix: `drk_${digest}`, last4: digest });
/** Its next secret; the one before is valid until then. */
const next = (key: KeyRecord, digest: string, until: number | null = null): KeyRecord => ({
  ...key,
  ...rotated(key, made('', digest), until),
});
/** As a version left it that did not note which secrets a key had. */
const unnoted = (key: KeyRecord): KeyRecord => ({ ...key, former: null });
const revoked = (key: KeyRecord): KeyRecord => ({ ...key, revokedAt: NOW - 1 });

function restored(present: KeyRecord, backup: KeyRecord) {
  const one = oneKeys([present], [backup]);
  const old = [{ ...backup, id: one.get(backup.id) ?? backup.id }];
  const written = keysAgain([present], old);
  const byId = new Map([present, ...written.map(({ record }) => record)].map(key => [key.id, key]));
  return { old, written, keys: [...byId.values()] };
}

const liveIn = (keys: readonly KeyRecord[]) =>
  ['a', 'b', 'c', 'x', 'y'].filter(digest => keys.some(key => isLive(key, digest, NOW))).join(' ');

const first = made('new', 'a');
const old = made('old', 'a');
const again = made('old', 'a');

/** What is valid after it, of how many keys. Secrets a, b, c in their order, x and y made in the new store. */
test.each<[string, KeyRecord, KeyRecord, string, number]>([
  ['not rotated', first, old, 'a', 1],
  ['rotated, its overlap running', first, next(old, 'b', RUNNING), 'a b', 1],
  ['rotated, its overlap over', first, next(old, 'b', OVER), 'b', 1],
  ['rotated without overlap', first, next(old, 'b'), 'b', 1],
  ['rotated twice', first, next(next(old, 'b', OVER), 'c', OVER), 'c', 1],
  ['rotated twice, the last overlap running', first, next(next(old, 'b'), 'c', RUNNING), 'b c', 1],
  ['rotated and revoked', first, revoked(next(old, 'b', RUNNING)), '', 1],
  ['revoked', first, revoked(old), '', 1],
  ['rotated with overlap by a version before', first, unnoted(next(old, 'b', OVER)), 'b', 1],
  // FIRST_KEY was brought up to date, the backup is from the time of the overlap.
  ['rotated to what FIRST_KEY names now', made('new', 'b'), next(old, 'b', RUNNING), 'a b', 1],
  ['one rotation behind FIRST_KEY', next(first, 'b'), old, 'b', 1],
  // What was done in the new store before the restore stays.
  ['not rotated, but in the new store', next(first, 'x'), old, 'x', 1],
  ['not rotated, but in the new store with an overlap', next(first, 'x', RUNNING), old, 'a x', 1],
  ['rotated in both', next(first, 'x'), next(old, 'b', OVER), 'b x', 2],
  ['rotated in both, here with an overlap', next(first, 'x', RUNNING), next(old, 'b', OVER), 'b x', 2],
  ['rotated in both, there with an overlap', next(first, 'x'), next(old, 'b', RUNNING), 'b x', 2],
  ['rotated in both with an overlap', next(first, 'x', RUNNING), next(old, 'b', RUNNING), 'a b x', 2],
  ['revoked there and rotated here', next(first, 'x', RUNNING), revoked(old), 'x', 2],
  ['rotated there, revoked here', revoked(first), next(old, 'b', RUNNING), 'b', 2],
  ['rotated and revoked here', revoked(next(first, 'x', RUNNING)), old, '', 1],
  ['revoked here', revoked(first), old, '', 1],
  // The same store, later or earlier than the backup.
  ['rotated since', next(again, 'b', RUNNING), old, 'a b', 1],
  ['rotated twice since', next(next(again, 'b', OVER), 'c'), old, 'c', 1],
  [
    'rotated since, the backup in an overlap',
    next(next(again, 'b', RUNNING), 'c'),
    next(old, 'b', RUNNING),
    'c',
    1,
  ],
  [
    'in an overlap that an earlier restore has ended',
    { ...next(again, 'b', RUNNING), previousDigest: null, previousUntil: null },
    next(old, 'b', RUNNING),
    'b',
    1,
  ],
  ['ahead of the file that was put in place', again, next(old, 'b', OVER), 'b', 1],
  ['two rotations ahead of that file', again, next(next(old, 'b'), 'c', RUNNING), 'b c', 1],
  ['ahead, revoked here', revoked(again), next(old, 'b', RUNNING), '', 1],
])(
  'after the restore of a key that was %s the right secrets are valid',
  (_, present, backup, live, count) => {
    const { old, written, keys } = restored(present, backup);
    expect(liveIn(keys)).toBe(live);
    expect(keys).toHaveLength(count);
    // The dry run and the audit say so wherever what is valid changed, and never with the digests.
    if (live !== liveIn([present])) expect(written.map(({ change }) => change.detail)).not.toContain('');
    // Neither secret belongs to two keys, and once more there is nothing left to do.
    const previous = keys.flatMap(({ previousDigest }) => previousDigest ?? []);
    expect(new Set(previous).size).toBe(previous.length);
    const known = new Map(keys.map(key => [key.id, key]));
    for (const key of keys) expect(oneKeys([key], old).size).toBe(0);
    expect(keysAgain([...known.values()], old)).toEqual([]);
  },
);

test('the secret that comes back is told with what it takes the place of', () => {
  const details = (present: KeyRecord, backup: KeyRecord) =>
    restored(present, backup).written.map(({ change }) => [change.action, change.detail]);
  expect(details(first, next(old, 'b', RUNNING))).toEqual([
    [
      'key.rotate',
      'secret drk_a…a → drk_b…b (rotated before the backup), the old secret is valid until 1970-01-01T00:00:01Z',
    ],
  ]);
  expect(details(first, { ...next(old, 'b'), quota: 5 })).toEqual([
    [
      'key.rotate',
      'secret drk_a…a → drk_b…b (rotated before the backup), the old secret ends, quota unlimited → 5',
    ],
  ]);
});

describe('what the backup cannot tell is told', () => {
  const doubts = (present: KeyRecord, backup: KeyRecord) =>
    doubtsAbout([present], restored(present, backup).old, new Set(['new'])).map(({ detail }) => detail);
  const forgotten = unnoted(next(old, 'b'));

  test.each<[string, KeyRecord, KeyRecord, string | undefined]>([
    ['a first key of a secret that it does not know', first, forgotten, 'made at the first start'],
    ['a first key that it knows', first, next(old, 'b'), undefined],
    ['a first key that has a new secret since', next(first, 'x'), forgotten, undefined],
    ['a first key that is revoked', revoked(first), forgotten, undefined],
    ['any other key', made('other', 'y'), forgotten, undefined],
    ['a key with another secret here', unnoted(next(again, 'x')), forgotten, 'drk_b…b, which it has in'],
    ['a key with another secret here that is revoked there', next(again, 'x'), revoked(forgotten), undefined],
    ['a key that was rotated here since', next(again, 'x'), old, undefined],
  ])('%s', (_, present, backup, words) => {
    expect(doubts(present, backup)).toEqual(words === undefined ? [] : [expect.stringContaining(words)]);
  });
});

test('two keys of a backup that had one secret after the other do not become one', () => {
  const keys = [next(made('one', 'a'), 'b'), made('two', 'a')];
  expect([...oneKeys([first], keys)]).toEqual([['two', 'new']]);
  expect([...oneKeys([made('one', 'a')], keys)]).toEqual([]);
});
