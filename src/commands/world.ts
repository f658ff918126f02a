/** What most commands need: the configuration and the store, opened once and closed whatever happens. */

import { existsSync } from 'node:fs';
import { openStore } from '../compose.ts';
import { type Config, readConfig } from '../config.ts';
import type { Store } from '../core/ports.ts';

/** Everything that this program writes is for its own user only. */
const PRIVATE = 0o077;

export function readWorld(): Config {
  process.umask(PRIVATE);
  return readConfig(process.env);
}

export function hasStore({ database }: Config): boolean {
  return database.kind === 'postgres' || existsSync(database.path);
}

export async function withStore<T>(work: (store: Store, config: Config) => Promise<T>): Promise<T> {
  const config = readWorld();
  const store = await openStore(config, error => {
    throw error;
  });
  try {
    return await work(store, config);
  } finally {
    await store.close();
  }
}
