/** Load shedding in the log: one line in ten seconds with the count, since a line each would cost more than the call. */

import type { Logger } from 'pino';

const EVERY_MS = 10_000;

export function createShedLog(log: Logger): { note(): void; close(): void } {
  let count = 0;
  let timer: NodeJS.Timeout | undefined;
  const tell = () => {
    timer = undefined;
    log.warn({ shed: count }, 'calls were refused with 503, uncounted: more came than can be answered');
    count = 0;
  };
  return {
    note() {
      count++;
      timer ??= setTimeout(tell, EVERY_MS).unref();
    },
    close() {
      clearTimeout(timer);
      if (timer) tell();
    },
  };
}
