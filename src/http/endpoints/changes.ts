/** `GET /v1/public/changes`: what the lists flagged and cleared, for callers who keep a copy. */

import { hash } from 'node:crypto';
import type { Changes } from '../../changes.ts';
import { type Refusal, refuse } from '../../core/refusal.ts';
import type { Call } from '../call.ts';
import type { Doors } from '../doors.ts';
import { isKnown } from '../etag.ts';
import { readCount } from '../query.ts';
import { sendEmpty, sendJson, sendRefusal } from '../reply.ts';
import { changesJson } from '../wire.ts';

const DEFAULT_CHANGES = 100;
export const MOST_CHANGES = 1_000;

export function changesEndpoint({ doors, changes }: { doors: Doors; changes: Changes }) {
  async function serve(call: Call): Promise<void> {
    const wanted = readWanted(call.target.query);
    if ('refused' in wanted) return sendRefusal(call, wanted);
    const page = await changes.list(wanted.since, wanted.limit);
    if (page === 'gone') return sendRefusal(call, refuse('gone', 'leave since out to start anew'));
    const body = changesJson(page);
    const etag = `"${hash('sha256', body, 'base64url').slice(0, 22)}"`;
    const headers = ['Cache-Control', 'private, max-age=60', 'ETag', etag];
    if (isKnown(call.head.ifNoneMatch, etag)) return sendEmpty(call, 304, headers);
    sendJson(call, 200, body, headers);
  }

  return (call: Call): void => doors.spend(call, () => serve(call));
}

function readWanted(query: string): { since: number | undefined; limit: number } | Refusal {
  const limit = readCount(query, 'limit', MOST_CHANGES) ?? DEFAULT_CHANGES;
  if (typeof limit === 'object') return limit;
  const text = new URLSearchParams(query).get('since');
  if (text === null) return { since: undefined, limit };
  if (/^c\d{1,15}$/.test(text)) return { since: Number(text.slice(1)), limit };
  return refuse('validation_error', 'since must be the cursor of an earlier answer');
}
