/** `GET /v1/public/filter`: the confirmed disposable domains as a signed filter. */

import type { Filters } from '../../filter.ts';
import type { Call } from '../call.ts';
import type { Doors } from '../doors.ts';
import { isKnown } from '../etag.ts';
import { send, sendEmpty } from '../reply.ts';

export const FILTER_TYPE = 'application/octet-stream';

export function filterEndpoint({ doors, filters }: { doors: Doors; filters: Filters }) {
  async function serve(call: Call): Promise<void> {
    const { bytes, etag } = await filters.current();
    const headers = ['Cache-Control', 'private, max-age=3600', 'ETag', etag];
    if (isKnown(call.head.ifNoneMatch, etag)) return sendEmpty(call, 304, headers);
    send(call, 200, FILTER_TYPE, bytes, headers);
  }

  return (call: Call): void => doors.spend(call, () => serve(call));
}
