import { expect, test } from 'vitest';
import { refuse } from '../../src/core/refusal.ts';

test('a refusal says why, and when to come back only where that is known', () => {
  expect(refuse('not_found')).toStrictEqual({ refused: 'not_found', detail: null });
  expect(refuse('not_found', 'no such key')).toStrictEqual({ refused: 'not_found', detail: 'no such key' });
  expect(refuse('overloaded', null, 0)).toStrictEqual({ refused: 'overloaded', detail: null, retryAfter: 0 });
});
