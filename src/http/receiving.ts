/** Bodies on their way in: who may send one, how much of them is in memory at a time, and what was sent. */

import type { IncomingMessage } from 'node:http';
import { type Refusal, refuse } from '../core/refusal.ts';
import { MOST_NAMES_BODY } from './bodies.ts';
import { type InTurn, MOST_BODY, readJson } from './body.ts';
import { BodyRoom } from './body-room.ts';
import { type Call, whenFinished } from './call.ts';
import { PRICES } from './prices.ts';
import type { Route } from './routes.ts';
import { senderOf } from './sender.ts';
import { inOneGo } from './turns.ts';

export const NO_ROOM = refuse('overloaded', 'too many bodies are being read', 1);

export interface ReceivingParts {
  /** Why a call does not come from a key that may call from there. Counts nothing. */
  readonly callerRefusal: (call: Call) => Promise<Refusal | undefined>;
  readonly isTrustedProxy: (address: string) => boolean;
  /** For the bodies of all ports. */
  readonly bodies?: BodyRoom;
}

export const newBodyRoom = (workers = 1) => new BodyRoom(workers, MOST_NAMES_BODY.bytes);

/** Reading a body is work of its caller, as answering it is: lists that were refused took the time of others (2026-11-19). */
function inTurnsOf({ connection }: Call): InTurn {
  return work => {
    const { promise, resolve, reject } = Promise.withResolvers<ReturnType<typeof work>>();
    const read = () => {
      try {
        resolve(work());
      } catch (error) {
        reject(error);
      }
    };
    connection.takeTurns(inOneGo(PRICES.bytes, read));
    return promise;
  };
}

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
    const begin = () => call.connection.takeBody(call);
    if (route.door !== 'key') return readJson(req, call.head, route.body!, limits, { begin });
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
    const taken = { begin, into: body, inTurn: inTurnsOf(call) };
    const read = await Promise.race([readJson(req, call.head, route.body!, limits, taken), promise]);
    body.stays();
    return read;
  }
}
