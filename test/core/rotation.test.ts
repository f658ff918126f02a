import { expect, test } from 'vitest';
import {
  endedBy,
  hadBefore,
  mostFormer,
  rotated,
  rotation,
  rotationInWords,
} from '../../src/core/rotation.ts';
import { keyRecord } from '../support/records.ts';

const NOW = 10_000;
const named = (digest: string) => keyRecord({ digest, prefix: `drk_${digest}`, last4: digest });
const HOUR = 3_600_000;

test('a key knows every secret that it had, also one of which a version before only kept the overlap', () => {
  const first = named('a');
  const second = { ...first, ...rotated(first, named('b'), null) };
  const third = { ...second, ...rotated(second, named('c'), NOW) };
  expect(third).toMatchObject({ digest: 'c', previousDigest: 'b', previousUntil: NOW, former: ['a', 'b'] });
  const unnoted = keyRecord({ digest: 'b', previousDigest: 'a', previousUntil: 5 });
  const noted = { ...unnoted, ...rotated(unnoted, named('c'), null) };
  expect(noted.former).toEqual(['a', 'b']);
  expect(['a', 'b', 'c'].map(digest => hadBefore(noted, digest))).toEqual([true, true, false]);
  expect([hadBefore(unnoted, 'a'), hadBefore(first, 'a')]).toEqual([true, false]);
});

test('of many secrets the first one and the latest are known', () => {
  const all = Array.from({ length: 100 }, (_, at) => `${at}`);
  expect(mostFormer(all)).toEqual(['0', ...all.slice(-31)]);
  expect(mostFormer([...all.slice(0, 32), '0', '5'])).toEqual(all.slice(0, 32));
  expect(mostFormer([])).toEqual([]);
});

const overlapping = { ...named('b'), previousDigest: 'a', previousUntil: NOW + HOUR };

test.each([
  ['is refused while the one before has one', { overlap: HOUR }, NOW, false],
  ['may end the one before where that is said', { overlap: HOUR, endsPrevious: true }, NOW, true],
  ['comes where the one before is over', { overlap: HOUR }, NOW + HOUR, true],
  ['is not wanted, and all old secrets end', { overlap: 0 }, NOW, true],
])('a new overlap %s', (_, wanted, now, isDone) => {
  const result = rotation(overlapping, named('c'), wanted, now);
  if (!isDone) return expect(result).toMatchObject({ problem: 'overlapping' });
  const isRunning = now < NOW + HOUR;
  const after = { ...overlapping, ...result };
  expect(after).toMatchObject({ digest: 'c', previousUntil: wanted.overlap > 0 ? now + HOUR : null });
  expect(rotationInWords(overlapping, after, now).includes('the one before it, valid until')).toBe(isRunning);
  expect(endedBy(overlapping, now)).toBe(isRunning ? NOW + HOUR : null);
});
