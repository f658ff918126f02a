/**
 * VERB: the first start → a link that works once → whoever opens it is signed in. Of the code only a hash is kept, and
 * with the secret it is gone after ten minutes, after ten wrong tries, or with its use.
 */

import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Ticks } from './core/ports.ts';

const VALID_MS = 600_000;
const MOST_TRIES = 10;

export interface Invite {
  /** The code that gives this secret away, once. */
  offer(secret: string): string;
  /** The secret, for the right code in time. */
  take(code: string): string | undefined;
  close(): void;
}

interface Offered {
  readonly digest: Buffer;
  readonly secret: string;
  readonly until: number;
  triesLeft: number;
}

const digestOf = (code: string) => hash('sha256', code, 'buffer');

export function createInvite({ ticks }: { ticks: Ticks }): Invite {
  let offered: Offered | undefined;
  let timer: NodeJS.Timeout | undefined;

  function close(): void {
    clearTimeout(timer);
    offered = undefined;
  }

  return {
    offer(secret) {
      close();
      const code = randomBytes(32).toString('base64url');
      offered = { digest: digestOf(code), secret, until: ticks() + VALID_MS, triesLeft: MOST_TRIES };
      // The secret leaves the memory also where nobody comes.
      timer = setTimeout(close, VALID_MS).unref();
      return code;
    },
    take(code) {
      if (!offered) return undefined;
      const { digest, secret, until } = offered;
      offered.triesLeft--;
      const isRight = ticks() < until && timingSafeEqual(digestOf(code), digest);
      if (isRight || offered.triesLeft === 0 || ticks() >= until) close();
      return isRight ? secret : undefined;
    },
    close,
  };
}
