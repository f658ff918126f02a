/** What an answer says of the lists behind it. */

import { expect, test } from 'vitest';
import { listsOf, listsWords } from '../../console/src/lists.ts';

const catalog = { snapshot: 'aa67', domains: 172_026 };
const ago = (hours: number) => new Date(Date.now() - 3_600_000 * hours).toISOString();

test.each([
  [
    'all of it',
    { catalog, feeds: { checked_at: ago(3) } },
    '172,026 domains, checked 3 hours ago (snapshot aa67)',
  ],
  [
    'never updated',
    { catalog, feeds: { checked_at: null } },
    '172,026 domains, as installed (snapshot aa67)',
  ],
  ['others by now', { catalog: { ...catalog, snapshot: 'bb' }, feeds: {} }, 'snapshot aa67'],
  ['not ready', { error: 'not_ready' }, 'snapshot aa67'],
  ['a page of a proxy', undefined, 'snapshot aa67'],
] as const)('their size and age, as far as readiness tells it: %s', (_what, told, words) => {
  expect(listsWords('aa67', listsOf(told))).toBe(`Lists: ${words}`);
});
