/** `GET /v1/public/filter`: the confirmed disposable domains as a signed filter. */

import type { FilterFile, Filters } from '../../filter.ts';
import { AtOnce } from '../at-once.ts';
import type { Call } from '../call.ts';
import type { Doors } from '../doors.ts';
import { isKnown } from '../etag.ts';
import { PRICES } from '../prices.ts';
import { send, sendEmpty } from '../reply.ts';
import { inOneGo } from '../turns.ts';

export const FILTER_TYPE = 'application/octet-stream';

/** Of one caller, who needs one: all that wait for the same one get it at the same moment. */
const MOST_AT_ONCE = 32;

export function filterEndpoint({ doors, filters }: { doors: Doors; filters: Filters }) {
  const callers = new AtOnce(MOST_AT_ONCE);

  async function serve(call: Call): Promise<void> {
    const file = await filters.current();
    call.connection.takeTurns(inOneGo(PRICES.page, () => answer(call, file)));
  }

  return (call: Call): void => {
    if (callers.lets(call, doors.senderOf(call))) doors.spend(call, () => serve(call));
  };
}

function answer(call: Call, { bytes, etag }: FilterFile): void {
  const headers = ['Cache-Control', 'private, max-age=3600', 'ETag', etag];
  if (isKnown(call.head.ifNoneMatch, etag)) sendEmpty(call, 304, headers);
  else send(call, 200, FILTER_TYPE, bytes, headers);
}
