/** What SQLite says went wrong: primary result codes (https://sqlite.org/rescode.html). */

import { StoreUnavailable } from '../../core/ports.ts';

export const SQLITE = {
  perm: 3,
  busy: 5,
  locked: 6,
  nomem: 7,
  readonly: 8,
  interrupt: 9,
  ioerr: 10,
  corrupt: 11,
  full: 13,
  cantopen: 14,
  protocol: 15,
  notadb: 26,
} as const;

/** Those that the file, the disk or another process is to blame for. All others, such as a syntax error, we are. */
const UNAVAILABLE: ReadonlySet<number> = new Set(Object.values(SQLITE));

/** Of an error that node:sqlite has thrown; undefined for any other. Extended codes carry more bits above. */
export function codeOf(error: unknown): number | undefined {
  const { code, errcode } = (error ?? {}) as { readonly code?: unknown; readonly errcode?: unknown };
  return code === 'ERR_SQLITE_ERROR' && typeof errcode === 'number' ? errcode & 0xff : undefined;
}

/** The operating system's own errors, such as of a full disk, name the call that failed. */
export function isOfSystem(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error;
}

/** What the store could not do; undefined where we are to blame. */
export function unavailabilityOf(error: unknown): StoreUnavailable | undefined {
  if (error instanceof StoreUnavailable) return error;
  const code = codeOf(error);
  const isTheirs = code === undefined ? isOfSystem(error) : UNAVAILABLE.has(code);
  return isTheirs ? new StoreUnavailable((error as Error).message, { cause: error }) : undefined;
}
