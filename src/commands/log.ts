/** Where the server's log goes: to stdout, as long as somebody reads it there. */

import type { Writable } from 'node:stream';
import { type DestinationStream, type LevelWithSilent, type Logger, pino } from 'pino';

/** Some 5,000 lines. Beyond that the reader has stopped, and Node would keep every further line in memory for it. */
const MOST_UNREAD_BYTES = 2 ** 20;

/**
 * A log that cannot be written (full disk, closed terminal) or that nobody reads must not take the service with it.
 * pino's own stream would try for ever, at the level fatal and at the end (seen 2026-11-15); what stdout complains of
 * ends in cli.ts.
 */
export function createLog(level: LevelWithSilent, out: Writable = process.stdout): Logger {
  return openLog(level, out).log;
}

/** The same, for lines that other threads have made as well. */
export function openLog(
  level: LevelWithSilent,
  out: Writable = process.stdout,
): { readonly log: Logger; readonly pass: (lines: string) => void } {
  const lines = unlessUnread(out, dropped =>
    log.warn({ dropped }, 'lines of this log were dropped: whatever reads it had stopped'),
  );
  const log = logInto(level, lines);
  return { log, pass: line => lines.write(line) };
}

export function logInto(level: LevelWithSilent, lines: DestinationStream): Logger {
  return pino({ level, base: null }, lines);
}

/** From the first line that is dropped until all before it was read, so that a slow reader is not told for each. */
function unlessUnread(out: Writable, tell: (dropped: number) => void): DestinationStream {
  let dropped = 0;

  function resume(): void {
    const count = dropped;
    dropped = 0;
    if (count > 0) tell(count);
  }

  out.on('drain', resume);
  return {
    write(line) {
      if (out.writableLength === 0) resume();
      const isUnread = dropped > 0 || out.writableLength >= MOST_UNREAD_BYTES;
      if (isUnread && !isFatal(line)) dropped++;
      else out.write(line);
    },
  };
}

/** The last words; pino begins each line with its level. */
function isFatal(line: string): boolean {
  return line.startsWith(`{"level":${pino.levels.values.fatal}`);
}
