/** Promises of counts, for tests and benchmarks that wait for one after the other. */

import type { Admit } from '../../src/admit.ts';
import type { Credentials, Passed } from '../../src/core/door.ts';
import type { Spend, Spent, Store } from '../../src/core/ports.ts';

export function spendOne(store: Pick<Store, 'spend'>, spend: Spend, revision: number): Promise<Spent> {
  return new Promise((resolve, reject) => store.spend(spend, revision, { resolve, reject }));
}

/** What comes of one call at the door. */
export function passOne(admit: Pick<Admit, 'spend'>, caller: Credentials): Promise<Passed> {
  return new Promise((resolve, reject) => admit.spend(caller, { resolve, reject }));
}
