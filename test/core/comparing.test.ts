import { expect, test } from 'vitest';
import { comparing } from '../../src/core/comparing.ts';
import { allAtOnce } from '../../src/core/steps.ts';
import { catalogOf } from '../support/catalog.ts';

const NOW = Date.UTC(2026, 10, 16);
type Of = Parameters<typeof catalogOf>;

async function changes(before: Of, after: Of) {
  const [was, is] = [await catalogOf(...before), await catalogOf(...after)];
  return allAtOnce(comparing(was, is, NOW)).map(({ domain, change, feeds }) => [change, domain, ...feeds]);
}

test('names that the lists begin and cease to flag are told, with who names them', async () => {
  expect(await changes([['a.com', 'stays.com']], [['stays.com', 'b.com'], { telemetry: ['b.com'] }])).toEqual(
    [
      ['cleared', 'a.com', 'simulated'],
      ['flagged', 'b.com', 'simulated', 'seen'],
    ],
  );
});

test.each<[string, Of, Of]>([
  ['the same lists', [['a.com']], [['a.com']]],
  ['another list that names it too', [['a.com']], [['a.com'], { telemetry: ['a.com'] }]],
  ['a list that no longer does, where one still does', [['a.com'], { telemetry: ['a.com'] }], [['a.com']]],
  ['a name below one that is listed', [['cc.cd']], [['cc.cd', 'x.cc.cd']]],
  ['a protected name', [[]], [['sdf.org']]],
  ['a name of the panel, which is 45', [[], { popular: ['p.com'] }], [['p.com'], { popular: ['p.com'] }]],
])('%s is no change', async (_, before, after) => {
  expect(await changes(before, after)).toEqual([]);
});

test('a listed name that comes to the panel is cleared, and flagged when it leaves', async () => {
  const [out, inside]: [Of, Of] = [[['p.com']], [['p.com'], { popular: ['p.com'] }]];
  expect(await changes(out, inside)).toEqual([['cleared', 'p.com', 'simulated']]);
  expect(await changes(inside, out)).toEqual([['flagged', 'p.com', 'simulated']]);
});

test('a verified list flags also what many people use', async () => {
  const popular = ['p.com'];
  expect(await changes([[], { popular }], [[], { popular, verified: popular }])).toEqual([
    ['flagged', 'p.com', 'looked-at'],
  ]);
});
