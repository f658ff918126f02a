/** Many overrides as one answer. */

import { expect, test } from 'vitest';
import { OVERRIDE_ACTIONS, type Override } from '../../src/core/override.ts';
import { overridesBytes } from '../../src/http/overrides-page.ts';

const overrideOf = (domain: string): Override => ({
  ...{ domain, action: OVERRIDE_ACTIONS[1], below: true, note: 'ü "quoted"', author: null },
  ...{ createdAt: 0, expiresAt: null },
});

test.each([0, 1, 49, 50, 51, 5_000])(
  '%d are one list in their order, with turns for others between them',
  count => {
    const overrides = Array.from({ length: count }, (_, at) => overrideOf(`n${at}.com`));
    const steps = overridesBytes(overrides.values());
    let turns = 0;
    let step = steps.next();
    for (; !step.done; step = steps.next()) turns++;
    const { overrides: shown } = JSON.parse(String(step.value));
    expect(shown.map(({ domain }: Override) => domain)).toEqual(overrides.map(({ domain }) => domain));
    expect(shown.at(-1)?.note).toBe(count === 0 ? undefined : 'ü "quoted"');
    expect(turns).toBeGreaterThanOrEqual(count / 50);
  },
);
