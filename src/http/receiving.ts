/** Bodies on their way in: who may send one, how much of them is in memory at a time, and what was sent. */

import type { IncomingMessage } from 'node:http';
import { type Refusal, refuse } from '../core/refusal.ts';
import { MOST_BODY, readJson } from './body.ts';
import { type Call, whenFinished } from './call.ts';
import type { Route } from './routes.ts';

/** Of all callers, and of one of them: many slow bodies, or answers to them that are being made. */
const MOST_BYTES = 24 * 1024 * 1024;
const MOST_PER_CALLER = MOST_BYTES / 4;

const FULL = refuse('overloaded', 'too many bodies are being read', 1);

export class Receiving {
  /** Why a call does not come from a key that may call from there. Counts nothing. */
  readonly #callerRefusal: (call: Call) => Promise<Refusal | undefined>;
  readonly #byCaller = new Map<string, number>();
  #bytes = 0;

  constructor(callerRefusal: (call: Call) => Promise<Refusal | undefined>) {
    this.#callerRefusal = callerRefusal;
  }

  /** Undefined where the sender broke off: nobody is there to answer. */
  async body(
    req: IncomingMessage,
    call: Call,
    route: Route,
  ): Promise<{ readonly sent: unknown } | Refusal | undefined> {
    const { bytes = MOST_BODY, values } = route.mostBody ?? {};
    const limits = { bytes, values };
    if (route.door !== 'key') return readJson(req, call.head, route.body!, limits);
    let isGone = false;
    call.res.once('close', () => {
      isGone = true;
    });
    const refusal = await this.#callerRefusal(call);
    if (isGone) return undefined;
    if (refusal) return refusal;
    const give = this.#take(call.connection.lastSecret.digest, Math.min(bytes, call.head.bodyLength));
    if (!give) return FULL;
    whenFinished(call, give);
    return readJson(req, call.head, route.body!, limits);
  }

  /** Until the answer is made. Undefined where there is no room. */
  #take(caller: string, bytes: number): (() => void) | undefined {
    const own = this.#byCaller.get(caller) ?? 0;
    if (this.#bytes + bytes > MOST_BYTES || own + bytes > MOST_PER_CALLER) return undefined;
    this.#bytes += bytes;
    this.#byCaller.set(caller, own + bytes);
    let isGiven = false;
    return () => {
      if (isGiven) return;
      isGiven = true;
      this.#bytes -= bytes;
      const left = this.#byCaller.get(caller)! - bytes;
      if (left > 0) this.#byCaller.set(caller, left);
      else this.#byCaller.delete(caller);
    };
  }
}
