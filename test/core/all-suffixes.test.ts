import { expect, test } from 'vitest';
import { allSuffixes } from '../../src/core/all-suffixes.ts';
import { registrableDomain } from '../../src/core/domain.ts';

test('the suffix list can be walked: countries, private ones and ours, in A-labels, once each', () => {
  const all = [...allSuffixes()];
  const found = new Set(all);
  expect(found.size).toBe(all.length);
  expect(found.size).toBeGreaterThan(8_000);
  const known = ['co.uk', 'edu.om', 'gs.aa.no', 'github.io', 'mooo.com', 'xn--55qx5d.cn', 'kawasaki.jp'];
  expect(known.filter(name => !found.has(name))).toEqual([]);
  expect(all.filter(name => !/^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/.test(name))).toEqual([]);
  // What is above one (amazonaws.com) is there too.
  const suffixes = all.filter(name => registrableDomain(`x.${name}`) === `x.${name}`);
  expect(suffixes.length / all.length).toBeGreaterThan(0.9);
});
