/** `GET /v1/check/{email_or_domain}`: the risk of an address, of which only the domain goes any further. */

import { checkOf } from '../../core/check.ts';
import { type Address, parseAddressSegment } from '../../core/email.ts';
import { refuse } from '../../core/refusal.ts';
import type { Answer, Lookup } from '../../lookup.ts';
import type { Rank } from '../../rank.ts';
import type { Call, Headers } from '../call.ts';
import type { Doors } from '../doors.ts';
import type { Metrics } from '../metrics.ts';
import { sendJson, sendRefusal } from '../reply.ts';
import { checkJson } from '../wire.ts';

export function checkEndpoint(parts: { doors: Doors; lookup: Lookup; rank: Rank; metrics: Metrics }) {
  const { doors, lookup, rank, metrics } = parts;

  function sendAnswer(call: Call, keyId: string, address: Address, answer: Answer): void {
    // The domain's own: a role word is the local part's, which is counted nowhere.
    metrics.verdict(answer.verdict.reason);
    rank.note(answer, keyId);
    const headers: Headers = ['Cache-Control', 'no-store'];
    if (answer.degraded) {
      call.degraded = true;
      metrics.degraded();
      headers.push('X-Risk-Degraded', 'dns');
    }
    sendJson(call, 200, checkJson(checkOf(address, answer)), headers);
  }

  /** Addresses are not remembered, as domains are: each is parsed anew. */
  function serve(call: Call, keyId: string): void | Promise<void> {
    const parsed = parseAddressSegment(call.target.segment);
    if (!parsed.ok) return sendRefusal(call, refuse('validation_error', parsed.detail));
    call.domain = parsed.domain;
    const answer = lookup.lookup(parsed.domain, keyId);
    if (!(answer instanceof Promise)) return sendAnswer(call, keyId, parsed, answer);
    return answer.then(later => sendAnswer(call, keyId, parsed, later));
  }

  return (call: Call): void => doors.spend(call, ({ key }) => serve(call, key.id));
}
