/** A store whose next count fails. */

import { vi } from 'vitest';
import type { Store } from '../../src/core/ports.ts';

/** The next call cannot be counted. */
export function failNextSpend(store: Store, error: Error) {
  return vi.spyOn(store, 'spend').mockImplementationOnce((_spend, _revision, waiter) => waiter.reject(error));
}
