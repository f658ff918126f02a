/** `GET /v1/usage`: what is used and left of a key's quota. */

import type { Admit } from '../../admit.ts';
import { WINDOW_DAYS } from '../../core/quota.ts';
import type { Call } from '../call.ts';
import type { Doors } from '../doors.ts';
import { readCount } from '../query.ts';
import { sendJson, sendRefusal } from '../reply.ts';
import { usageJson } from '../wire.ts';

export function usageEndpoint({ doors, admit }: { doors: Doors; admit: Admit }) {
  return async (call: Call): Promise<void> => {
    const admission = await doors.enter(call);
    if (!admission) return;
    const wanted = readCount(call.target.query, 'days', WINDOW_DAYS);
    if (typeof wanted === 'object') return sendRefusal(call, wanted);
    const days = wanted === undefined ? undefined : await admit.days(admission.key, wanted);
    sendJson(call, 200, usageJson(admission.allowance, days), ['Cache-Control', 'no-store']);
  };
}
