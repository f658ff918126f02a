/**
 * VERB: the first start → a link that works once → whoever opens it is signed in. Of the code only a hash is kept, and
 * with the secret it is gone after ten minutes or with its use. Wrong tries end nothing: 32 random bytes are not guessed,
 * and a stranger could take the link away by ten of them.
 */

import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Ticks } from './core/ports.ts';

const VALID_MS = 600_000;

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
      offered = { digest: digestOf(code), secret, until: ticks() + VALID_MS };
      // The secret leaves the memory also where nobody comes.
      timer = setTimeout(close, VALID_MS).unref();
      return code;
    },
    take(code) {
      if (!offered) return undefined;
      const { digest, secret, until } = offered;
      const isRight = ticks() < until && timingSafeEqual(digestOf(code), digest);
      if (isRight || ticks() >= until) close();
      return isRight ? secret : undefined;
    },
    close,
  };
}
