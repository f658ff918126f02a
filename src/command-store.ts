/** The store as commands have it: one thing after the other, and nothing is made by a look at it. */

import { tellFormChange } from './compose.ts';
import type { Config } from './config.ts';
import type { Store } from './core/ports.ts';
import { openSqliteStoreHere } from './store/sqlite/here.ts';

/** Most commands run on the file, and start faster without the driver. */
const postgres = () => import('./store/postgres/store.ts');

/** Of a file whoever calls has looked whether there is one (`commands/world.ts`). */
export async function openCommandStore({ database }: Config, mayMake = false): Promise<Store> {
  if (database.kind === 'sqlite') return openSqliteStoreHere(database.path, tellFormChange);
  const { openPostgresStore } = await postgres();
  return openPostgresStore(database.url, Date.now, tellFormChange, 1, mayMake);
}

/** Whether anybody has made one in the database at `url`. */
export async function isMadeAt(url: string): Promise<boolean> {
  return (await postgres()).isPostgresStore(url);
}

/** PostgreSQL has its own restore: the way there. */
export async function refuseRestore(): Promise<never> {
  return (await postgres()).restoreThere();
}
