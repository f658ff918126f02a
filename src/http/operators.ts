/** What endpoints of operators have in common: who asks, what is answered, and how a problem is told. */

import type { Type } from 'typebox';
import type { Actor } from '../core/audit.ts';
import { type Refusal, refuse } from '../core/refusal.ts';
import type { Problem } from '../operate.ts';
import type { Call } from './call.ts';
import type { Doors } from './doors.ts';
import { sendEmpty, sendJson, sendRefusal } from './reply.ts';

/** Without a body: 204. */
export interface Done {
  readonly status: 200 | 201 | 204;
  /** As bytes where it is long: an object is made JSON in one go. */
  readonly body?: object | Buffer;
}

/** One thing that operators ask or do, with the body that its route has checked. */
export type Work<T extends Type.TObject = Type.TObject> = (
  call: Call,
  actor: Actor,
  body: Type.Static<T>,
) => Promise<Done | Refusal>;

const NO_STORE = ['Cache-Control', 'no-store'];

export const ok = (body: object): Done => ({ status: 200, body });
export const invalid = (detail: string): Refusal => refuse('validation_error', detail);

export function refusalOf({ problem, detail }: Problem): Refusal {
  if (problem === 'not_found') return refuse('not_found', detail);
  return problem === 'contended' ? refuse('overloaded', detail, 1) : invalid(detail);
}

/** A handler for the table of routes. */
export function operated<T extends Type.TObject>(doors: Pick<Doors, 'actorOf'>, work: Work<T>) {
  return async (call: Call, body: unknown): Promise<void> => {
    const actor = doors.actorOf(call);
    if (!actor.ok) return sendRefusal(call, invalid(actor.problem));
    const result = await work(call, actor.value, body as Type.Static<T>);
    if ('refused' in result) return sendRefusal(call, result);
    if (result.body === undefined) return sendEmpty(call, result.status, NO_STORE);
    const answer = Buffer.isBuffer(result.body) ? result.body : JSON.stringify(result.body);
    sendJson(call, result.status, answer, NO_STORE);
  };
}
