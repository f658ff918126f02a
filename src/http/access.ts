/** The access log: a line for each request, or for those only that an operator should see. */

import type { Logger } from 'pino';
import type { Call } from './call.ts';
import { createOften } from './often.ts';

export type AccessLog = 'errors' | 'all' | 'off';

const SLOW_SECONDS = 0.5;

export function createAccessLog(
  log: Logger,
  which: AccessLog,
): (call: Call, status: number, seconds: number) => void {
  const often = createOften();
  return (call, status, seconds) => {
    if (which === 'off') return;
    const isNotable =
      (status >= 500 && !call.connection.isShedding) || call.degraded || seconds > SLOW_SECONDS;
    if (which === 'errors' && !isNotable) return;
    const more = which === 'errors' ? often() : 0;
    if (more === undefined) return;
    const { req, head, route, domain, degraded, keyId, requestId } = call;
    const ms = Math.round(seconds * 1e5) / 100;
    const trace = head.traceparent;
    log.info(
      {
        ...{ method: req.method, route, domain, status, ms, degraded, key: keyId },
        ...{ request_id: requestId, trace, more: more || undefined },
      },
      'request',
    );
  };
}
