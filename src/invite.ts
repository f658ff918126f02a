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
  /** The secret, for the right code in time. Nobody else has it until it is put back. */
  take(code: string): Taken | undefined;
  close(): void;
}

export interface Taken {
  readonly secret: string;
  /** Where it could not be handed over: the link works again, for what was left of its time. */
  putBack(): void;
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

  function keep(one: Offered): void {
    close();
    offered = one;
    // The secret leaves the memory also where nobody comes.
    timer = setTimeout(close, one.until - ticks()).unref();
  }

  return {
    offer(secret) {
      const code = randomBytes(32).toString('base64url');
      keep({ digest: digestOf(code), secret, until: ticks() + VALID_MS });
      return code;
    },
    take(code) {
      if (!offered) return undefined;
      const taken = offered;
      const isRight = ticks() < taken.until && timingSafeEqual(digestOf(code), taken.digest);
      if (isRight || ticks() >= taken.until) close();
      return isRight ? { secret: taken.secret, putBack: () => keep(taken) } : undefined;
    },
    close,
  };
}
