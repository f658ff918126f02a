/** A feed whose every name tells which version of it it belongs to. */

import type { Feed, RawFeed } from '../../src/core/feed.ts';

export const IMPORTED: Feed = {
  id: 'castle',
  kind: 'disposable',
  family: 'broad',
  licence: 'MIT',
  origin: 'here',
  atLeast: 1,
};

const NAMES = 20_000;

export function versionOf(version: number): RawFeed {
  return { version: `${version}`, names: Array.from({ length: NAMES }, (_, at) => `n${at}-v${version}.com`) };
}
