/** Leaves this server's sign of life in the store for as long as the store is open, and tells of others that differ. */

import { randomBytes } from 'node:crypto';
import type { Clock, Store } from './core/ports.ts';
import { type ServerSign, SIGN_EVERY_MS } from './core/server.ts';

export interface PresenceParts {
  readonly version: string;
  readonly host: string;
  readonly clock: Clock;
  /** Another version is alive on the same store: told once for each. */
  readonly onOther: (other: ServerSign) => void;
}

/** The same store. Whoever closes it takes the sign away first. */
export function withPresence<S extends Store>(store: S, parts: PresenceParts): S {
  const { version, host, clock, onOther } = parts;
  const id = `server_${randomBytes(8).toString('hex')}`;
  const sign = { id, version, host, startedAt: clock() };
  const told = new Set<string>();

  async function show(): Promise<void> {
    await store.showSign(sign);
    for (const other of await store.listServers()) {
      if (other.version === version || told.has(other.id)) continue;
      told.add(other.id);
      onOther(other);
    }
  }

  // A store that is away is told of by whoever needs it for more than this.
  let showing = show().catch(() => {});
  const timer = setInterval(() => {
    showing = show().catch(() => {});
  }, SIGN_EVERY_MS).unref();

  return {
    ...store,
    async close() {
      clearInterval(timer);
      await showing;
      // Others that end at the same moment have the lock for longer than one waits: a sign that stays would stop `migrate`.
      const remove = () => store.removeSign(id);
      await remove()
        .catch(remove)
        .catch(remove)
        .catch(() => {});
      await store.close();
    },
  };
}
