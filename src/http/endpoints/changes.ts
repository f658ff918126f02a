/** `GET /v1/public/changes`: what the lists flagged and cleared, for callers who keep a copy. */

import type { Changes } from '../../changes.ts';
import { MISSED, type Since } from '../../core/listing-change.ts';
import { type Refusal, refuse } from '../../core/refusal.ts';
import { AtOnce } from '../at-once.ts';
import type { Call } from '../call.ts';
import { changesBytes, changesEtag, prepare, readCursor } from '../changes-page.ts';
import type { Doors } from '../doors.ts';
import { isKnown } from '../etag.ts';
import { PRICES } from '../prices.ts';
import { parameter, readCount } from '../query.ts';
import { sendEmpty, sendJson, sendRefusal } from '../reply.ts';
import { inOneGo } from '../turns.ts';

const DEFAULT_CHANGES = 100;
export const MOST_CHANGES = 1_000;

/** Of one caller, who needs one: what they wait for is done in one thread for all. */
const MOST_AT_ONCE = 32;

export function changesEndpoint({ doors, changes }: { doors: Doors; changes: Changes }) {
  const callers = new AtOnce(MOST_AT_ONCE);

  async function serve(call: Call, key: string): Promise<void> {
    const wanted = readWanted(call.target.query);
    if ('refused' in wanted) return sendRefusal(call, wanted);
    const page = await changes.list(wanted.since, wanted.limit, { key, turn: () => turnOf(call) });
    if (page === 'gone') return sendRefusal(call, refuse('gone', MISSED));
    await prepare(page);
    const etag = changesEtag(page);
    const headers = ['Cache-Control', 'private, max-age=60', 'ETag', etag];
    if (isKnown(call.head.ifNoneMatch, etag)) return sendEmpty(call, 304, headers);
    sendJson(call, 200, changesBytes(page), headers);
  }

  return (call: Call): void => {
    if (!callers.lets(call, doors.senderOf(call))) return;
    doors.spend(call, ({ key }) => serve(call, key.id));
  };
}

/** What has to be read from the store takes time of its caller, as another call would. */
function turnOf(call: Call): Promise<void> {
  return new Promise(resolve => call.connection.takeTurns(inOneGo(PRICES.portion, resolve)));
}

function readWanted(query: string): { since: Since | undefined; limit: number } | Refusal {
  const limit = readCount(query, 'limit', MOST_CHANGES) ?? DEFAULT_CHANGES;
  if (typeof limit === 'object') return limit;
  const text = parameter(query, 'since');
  if (text === undefined) return { since: undefined, limit };
  const since = readCursor(text);
  return since
    ? { since, limit }
    : refuse('validation_error', 'since must be the cursor of an earlier answer');
}
