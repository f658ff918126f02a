/** `GET /v1/public/top-domains`: the domains flagged most often. */

import { hash } from 'node:crypto';
import { type FlagReason, MOST_TOP } from '../../core/ranking.ts';
import { type Refusal, refuse } from '../../core/refusal.ts';
import type { Rank, TopDomain } from '../../rank.ts';
import type { Call } from '../call.ts';
import type { Doors } from '../doors.ts';
import { isKnown } from '../etag.ts';
import { readCount, readFlag } from '../query.ts';
import { sendEmpty, sendJson, sendRefusal } from '../reply.ts';
import { FLAG_REASONS, topDomainsJson } from '../wire.ts';

const DEFAULT_TOP = 100;

interface Page {
  readonly body: string;
  readonly etag: string;
}

interface Wanted {
  readonly limit: number;
  readonly reason: FlagReason | undefined;
  readonly isObserved: boolean;
  readonly explain: boolean;
}

export function topEndpoint({ doors, rank }: { doors: Doors; rank: Rank }) {
  /** Written once for each list that was made, however many ask for it. */
  const pages = new WeakMap<readonly TopDomain[], Page>();
  const explainedPages = new WeakMap<readonly TopDomain[], Page>();

  function pageOf(domains: readonly TopDomain[], explain: boolean): Page {
    const kept = explain ? explainedPages : pages;
    let page = kept.get(domains);
    if (!page) {
      const body = topDomainsJson(domains, explain);
      page = { body, etag: `"${hash('sha256', body, 'base64url').slice(0, 22)}"` };
      kept.set(domains, page);
    }
    return page;
  }

  async function serve(call: Call): Promise<void> {
    const wanted = readTop(call.target.query);
    if ('refused' in wanted) return sendRefusal(call, wanted);
    const domains = await rank.top(wanted.limit, wanted.reason, wanted.isObserved);
    const { body, etag } = pageOf(domains, wanted.explain);
    const headers = ['Cache-Control', 'private, max-age=60', 'ETag', etag];
    if (isKnown(call.head.ifNoneMatch, etag)) return sendEmpty(call, 304, headers);
    sendJson(call, 200, body, headers);
  }

  return (call: Call): void => doors.spend(call, () => serve(call));
}

function readTop(query: string): Wanted | Refusal {
  const limit = readCount(query, 'limit', MOST_TOP) ?? DEFAULT_TOP;
  if (typeof limit === 'object') return limit;
  const explain = readFlag(query, 'explain');
  if (typeof explain === 'object') return explain;
  const parameters = new URLSearchParams(query);
  const reason = parameters.get('reason') ?? undefined;
  if (reason !== undefined && !isFlagReason(reason)) {
    return refuse('validation_error', `reason must be one of ${FLAG_REASONS.join(', ')}`);
  }
  const source = parameters.get('source');
  if (source !== null && source !== 'observed') {
    return refuse('validation_error', 'source must be observed');
  }
  return { limit, reason, explain, isObserved: source === 'observed' };
}

function isFlagReason(text: string): text is FlagReason {
  return (FLAG_REASONS as readonly string[]).includes(text);
}
