/** `/admin/decisions`: what callers were told of which domain. */

import type { DecisionLog, DecisionQuery } from '../../core/decision.ts';
import { parseDomain } from '../../core/domain.ts';
import type { Store } from '../../core/ports.ts';
import type { Refusal } from '../../core/refusal.ts';
import { parseTime } from '../../core/typed.ts';
import type { NoBody } from '../bodies.ts';
import { invalid, ok, type Work } from '../operators.ts';
import { readCount, readText } from '../query.ts';
import { shownDecision } from '../shown.ts';

const DEFAULT_DECISIONS = 100;
export const MOST_DECISIONS_SHOWN = 1_000;

export interface DecisionParts {
  readonly store: Pick<Store, 'decisions' | 'keyIdsOf' | 'keyNames'>;
  readonly decisionLog: DecisionLog;
}

export function decisionEndpoints({ store, decisionLog }: DecisionParts) {
  const list: Work<typeof NoBody> = async ({ target: { query } }) => {
    const wanted = wantedIn(query);
    if ('refused' in wanted) return wanted;
    const by = readText(query, 'key');
    const keyIds = by && (await store.keyIdsOf(by));
    // Nothing found would look as if it had asked for nothing.
    if (keyIds?.length === 0)
      return invalid('there is no such key: send the id or the name of one in /admin/keys');
    const found = await store.decisions({ ...wanted, ...(keyIds && { keyIds }) });
    // The console asks every three seconds.
    const names = await store.keyNames([...new Set(found.map(({ keyId }) => keyId))]);
    const next = found.length === wanted.most ? `d${found.at(-1)!.id}` : null;
    return ok({ log: decisionLog, decisions: found.map(one => shownDecision(one, names)), next });
  };
  return { list };
}

function wantedIn(query: string): Omit<DecisionQuery, 'keyIds'> | Refusal {
  const most = readCount(query, 'limit', MOST_DECISIONS_SHOWN) ?? DEFAULT_DECISIONS;
  if (typeof most === 'object') return most;
  const [name, sinceText, cursor] = ['domain', 'since', 'before'].map(one => readText(query, one));
  const parsed = name === undefined ? undefined : parseDomain(name);
  if (parsed?.ok === false) return invalid(parsed.detail);
  const since = sinceText === undefined ? undefined : parseTime(sinceText);
  if (since?.ok === false) return invalid(`since ${since.problem}`);
  const [, before] = /^d(\d{1,15})$/.exec(cursor ?? '') ?? [];
  if (cursor !== undefined && before === undefined)
    return invalid('before must be the next of an earlier answer');
  return {
    most,
    since: since?.value ?? 0,
    domain: parsed?.domain,
    before: before === undefined ? undefined : Number(before),
  };
}
