/** Failures of ours in the log: while the store is away every call fails, and the log must not outgrow its reader. */

import type { Logger } from 'pino';
import { StoreUnavailable } from '../core/ports.ts';
import { createOften } from './often.ts';

export function createFailureLog(log: Logger): (error: unknown, requestId: string) => void {
  const often = createOften();
  return (error, requestId) => {
    const more = often();
    if (more === undefined) return;
    const what = error instanceof StoreUnavailable ? 'the store is unavailable' : 'a request failed';
    log.error({ err: error, request_id: requestId, more }, what);
  };
}
