/** What the longest fields cost: by the clock, so not among the unit tests, which mutants are held against. */

import { expect, test } from 'vitest';
import { isKnown } from '../../src/http/etag.ts';
import { readHead } from '../../src/http/head.ts';
import { parameter } from '../../src/http/query.ts';
import { leastMs } from '../support/scale.ts';

test.each([',', ' ,', '"b",', '"a"b', 'W/'])(
  'an If-None-Match of %j as long as it can be is looked through at once',
  piece => {
    const sent = piece.repeat(7_600 / piece.length);
    expect(isKnown(sent, '"a"')).toBe(false);
    // 0.02 at the most where 0.5 to 2 were (2026-11-18).
    expect(leastMs(() => isKnown(sent, '"a"'), 0.2)).toBeLessThan(0.2);
  },
);

test.each(['%ff', '%ff'.repeat(5), '%e0%ff', 'limit%ff', 'a', ''])(
  'a query of %j again and again, as long as it can be, is looked through at once',
  piece => {
    const query = `${piece}&`.repeat(2_000 / (piece.length + 1));
    expect(parameter(query, 'limit')).toBeUndefined();
    // 0.3 at the most where 38 were (2026-11-18).
    expect(leastMs(() => parameter(query, 'limit'), 5)).toBeLessThan(5);
  },
);

test.each([',', ',;', ';', ' ', ';q=0,', ', application/problem+json x', ',application/problem+json;q=0'])(
  'an Accept of %j again and again, as long as it can be, is looked through at once',
  piece => {
    const accept = `application/problem+json;q=0${piece.repeat(7_700 / piece.length)}`;
    expect(readHead(['Accept', accept]).wantsProblem).toBe(false);
    // 0.1 at the most where 1 to 2.3 were (2026-11-19).
    expect(leastMs(() => readHead(['Accept', accept]), 1)).toBeLessThan(1);
  },
);
