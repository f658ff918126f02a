/**
 * The embedded store in the thread that asks: for commands, which do one thing after the other. A thread costs 0.1 s, a
 * third of a command (2026-11-17); only calls must not wait for locks and fsync.
 */

import { closeSync } from 'node:fs';
import { type Store, StoreUnavailable } from '../../core/ports.ts';
import type { OnFormChange } from '../form.ts';
import { type Asking, DEADLINE_MS } from './asking.ts';
import { unavailabilityOf } from './codes.ts';
import { type Connection, type Counter, connectCounter, connectFirst } from './connection.ts';
import { createCopies } from './copies.ts';
import { forgetPair } from './pair.ts';
import { apartAt, storeOn } from './store.ts';

/** Opens the file at `path`, or throws StoreRefused with a message that names the fix. */
export async function openSqliteStoreHere(
  path: string,
  onFormChange: OnFormChange = () => {},
): Promise<Store> {
  const records = connectFirst(path, false, onFormChange);
  const { file } = records;
  let counter: Connection<Counter> | undefined;
  let isClosed = false;

  function askOn<T>(connection: () => Connection<T>): Asking<T>['ask'] {
    return async (op, args) => {
      if (isClosed) throw new StoreUnavailable('the store is closed');
      try {
        const { ops, before, behind } = connection();
        before();
        const value = (ops[op] as (...given: readonly unknown[]) => never)(...args);
        behind();
        return value;
      } catch (error) {
        throw unavailabilityOf(error) ?? error;
      }
    };
  }

  const ask = askOn(() => records);
  const count = askOn(() => {
    counter ??= connectCounter(path, file);
    return counter;
  });
  return {
    ...storeOn({ counter: count, direct: ask, bulk: ask }, DEADLINE_MS),
    ...createCopies(path, ask, apartAt(path, DEADLINE_MS)),
    async close() {
      if (isClosed) return;
      isClosed = true;
      for (const connection of [counter, records])
        try {
          connection?.ops.close();
        } catch {
          // What was done is on the disk: as with a thread, nobody is told of a farewell that failed.
        }
      closeSync(file);
      forgetPair(path);
    },
  };
}
