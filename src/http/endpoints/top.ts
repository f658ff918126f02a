/** `GET /v1/public/top-domains`: the domains flagged most often. */

import { setImmediate as turn } from 'node:timers/promises';
import { type FlagReason, MOST_TOP } from '../../core/ranking.ts';
import { type Refusal, refuse } from '../../core/refusal.ts';
import type { Rank, TopList } from '../../rank.ts';
import type { Call } from '../call.ts';
import type { Doors } from '../doors.ts';
import { isKnown } from '../etag.ts';
import { PRICES } from '../prices.ts';
import { parameter, readCount, readFlag } from '../query.ts';
import { sendEmpty, sendJson, sendRefusal } from '../reply.ts';
import { TopPage } from '../top-page.ts';
import { inOneGo } from '../turns.ts';
import { FLAG_REASONS } from '../wire.ts';

const DEFAULT_TOP = 100;

interface Wanted {
  readonly limit: number;
  readonly reason: FlagReason | undefined;
  readonly isObserved: boolean;
  readonly explain: boolean;
}

export function topEndpoint({ doors, rank }: { doors: Doors; rank: Rank }) {
  /** Written once for each list that was made, however many ask for it and for how much of it. */
  const pages = new WeakMap<TopList, TopPage>();
  const explainedPages = new WeakMap<TopList, TopPage>();

  async function pageOf(list: TopList, explain: boolean): Promise<TopPage> {
    const kept = explain ? explainedPages : pages;
    const before = kept.get(list);
    if (before) return before;
    const page = new TopPage(list.rows, explain);
    kept.set(list, page);
    // To write it and to send it took 2.9 ms in one turn (2026-11-17).
    await turn();
    return page;
  }

  async function serve(call: Call): Promise<void> {
    const wanted = readTop(call.target.query);
    if ('refused' in wanted) return sendRefusal(call, wanted);
    const list = await rank.top(wanted.reason);
    const page = await pageOf(list, wanted.explain);
    call.connection.takeTurns(
      inOneGo(PRICES.list, () => answer(call, page, list.length(wanted.limit, wanted.isObserved))),
    );
  }

  return (call: Call): void => doors.spend(call, () => serve(call));
}

function answer(call: Call, page: TopPage, length: number): void {
  const etag = page.etag(length);
  const headers = ['Cache-Control', 'private, max-age=60', 'ETag', etag];
  if (isKnown(call.head.ifNoneMatch, etag)) sendEmpty(call, 304, headers);
  else sendJson(call, 200, page.begin(length), headers, page.end(length));
}

function readTop(query: string): Wanted | Refusal {
  const limit = readCount(query, 'limit', MOST_TOP) ?? DEFAULT_TOP;
  if (typeof limit === 'object') return limit;
  const explain = readFlag(query, 'explain');
  if (typeof explain === 'object') return explain;
  const reason = parameter(query, 'reason');
  if (reason !== undefined && !isFlagReason(reason)) {
    return refuse('validation_error', `reason must be one of ${FLAG_REASONS.join(', ')}`);
  }
  const source = parameter(query, 'source');
  if (source !== undefined && source !== 'observed') {
    return refuse('validation_error', 'source must be observed');
  }
  return { limit, reason, explain, isObserved: source === 'observed' };
}

function isFlagReason(text: string): text is FlagReason {
  return (FLAG_REASONS as readonly string[]).includes(text);
}
