/** Bodies on their way in: who may send one, how much of them is in memory at a time, and what was sent. */

import type { IncomingMessage } from 'node:http';
import { type Refusal, refuse } from '../core/refusal.ts';
import { MOST_NAMES_BODY } from './bodies.ts';
import { MOST_BODY, readJson } from './body.ts';
import { BodyRoom } from './body-room.ts';
import { type Call, whenFinished } from './call.ts';
import type { Route } from './routes.ts';
import { senderOf } from './sender.ts';

export const NO_ROOM = refuse('overloaded', 'too many bodies are being read', 1);

export interface ReceivingParts {
  /** Why a call does not come from a key that may call from there. Counts nothing. */
  readonly callerRefusal: (call: Call) => Promise<Refusal | undefined>;
  readonly isTrustedProxy: (address: string) => boolean;
  /** For the bodies of all ports. */
  readonly bodies?: BodyRoom;
}

export const newBodyRoom = (workers = 1) => new BodyRoom(workers, MOST_NAMES_BODY.bytes);

export class Receiving {
  readonly #parts: ReceivingParts;
  readonly #room: BodyRoom;

  constructor(parts: ReceivingParts) {
    this.#parts = parts;
    this.#room = parts.bodies ?? newBodyRoom();
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
    const refusal = await this.#parts.callerRefusal(call);
    if (isGone) return undefined;
    if (refusal) return refusal;
    const { promise, resolve } = Promise.withResolvers<Refusal>();
    const sender = senderOf(call, this.#parts.isTrustedProxy);
    const body = this.#room.enter(sender, () => resolve(NO_ROOM));
    // Until the answer is made.
    whenFinished(call, () => body.leave());
    call.body = body;
    const read = await Promise.race([readJson(req, call.head, route.body!, limits, body), promise]);
    body.stays();
    return read;
  }
}
