/** The operator of tests, where it does not matter who did what. */

import type { Act } from '../../src/core/audit.ts';

export const ACT: Act = {
  at: Date.UTC(2026, 10, 15),
  who: 'tester',
  via: 'test',
  action: 'key.update',
  subject: 'something',
  detail: null,
};
