/** Failures of ours in the log: while the store is away every call fails, and the log must not outgrow its reader. */

import type { Logger } from 'pino';
import { StoreUnavailable } from '../core/ports.ts';

/** Per second; `more` in the next line tells how many were left out. */
const MOST_LOGGED = 50;

export function createFailureLog(log: Logger): (error: unknown, requestId: string) => void {
  let failures = { second: 0, logged: 0, more: 0 };
  return (error, requestId) => {
    const second = Math.floor(performance.now() / 1_000);
    if (second !== failures.second) failures = { second, logged: 0, more: failures.more };
    if (failures.logged === MOST_LOGGED) {
      failures.more++;
      return;
    }
    const what = error instanceof StoreUnavailable ? 'the store is unavailable' : 'a request failed';
    log.error({ err: error, request_id: requestId, more: failures.more }, what);
    failures = { second, logged: failures.logged + 1, more: 0 };
  };
}
