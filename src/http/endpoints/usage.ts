/** `GET /v1/usage`: what is used and left of a key's quota. */

import type { Admit } from '../../admit.ts';
import { type Allowance, WINDOW_DAYS } from '../../core/quota.ts';
import { AtOnce } from '../at-once.ts';
import type { Call } from '../call.ts';
import type { Doors } from '../doors.ts';
import { readCount, readFlag } from '../query.ts';
import { sendJson, sendRefusal } from '../reply.ts';
import { usageJson } from '../wire.ts';

/**
 * Of one caller: no quota and no rate stand before what these read from the store. With 32 a key whose quota was used up had
 * another's lookups take 36 to 81 ms (11 to 16 with 8, 8 to 27 beside as many refused lookups; 2026-11-17).
 */
const MOST_AT_ONCE = 8;

export function usageEndpoint({ doors, admit }: { doors: Doors; admit: Admit }) {
  const callers = new AtOnce(MOST_AT_ONCE);
  return async (call: Call): Promise<void> => {
    if (!callers.lets(call, doors.senderOf(call))) return;
    const admission = await doors.enter(call);
    if (!admission) return;
    const wanted = readCount(call.target.query, 'days', WINDOW_DAYS);
    if (typeof wanted === 'object') return sendRefusal(call, wanted);
    const numbers = readFlag(call.target.query, 'numbers');
    if (typeof numbers === 'object') return sendRefusal(call, numbers);
    const days = wanted === undefined ? undefined : await admit.days(admission.key, wanted);
    const allowance = numbers ? inNumbers(admission.allowance) : admission.allowance;
    sendJson(call, 200, usageJson(allowance, days), ['Cache-Control', 'no-store']);
  };
}

/** The largest that every language's integer holds. */
const UNLIMITED = 2 ** 31 - 1;

/** For clients that know no null: many a language reads one as 0, which says that nothing is left. */
function inNumbers(allowance: Allowance): Allowance {
  if (allowance.limit !== null) return allowance;
  return { ...allowance, limit: UNLIMITED, remaining: Math.max(0, UNLIMITED - allowance.used) };
}
