/** What stands beside the catalogs when changes are told: what is known to whoever follows, and what operators allow. */

import { hash } from 'node:crypto';
import type { Standing } from '../core/comparing.ts';
import type { ChangesMark, NumberedChange } from '../core/listing-change.ts';
import type { Override } from '../core/override.ts';
import type { Store } from '../core/ports.ts';
import type { Steps } from '../core/steps.ts';

/** One message from the store. */
const CHUNK = 250;
/** Overrides that are made in one step, at a microsecond each. */
const STEP = 100;

export async function standingIn(
  was: ChangesMark,
  store: Pick<Store, 'changesAfter' | 'readOverrides'>,
  inTurns: <T>(steps: Steps<T>) => Promise<T>,
): Promise<Standing> {
  const { overrides = [] } = await store.readOverrides(undefined);
  return { overrides: await inTurns(byName(overrides)), told: await toldIn(was, store) };
}

/** Read in as small pieces as they are written: 200,000 take 1.1 s, of which others wait for milliseconds (2026-11-18). */
async function toldIn(
  { floor, last }: ChangesMark,
  store: Pick<Store, 'changesAfter'>,
): Promise<Standing['told']> {
  const told = new Map<string, Pick<NumberedChange, 'id' | 'change' | 'at'>>();
  for (let id = floor, isMore = true; isMore; ) {
    const some = await store.changesAfter(id, CHUNK);
    for (const { domain, ...row } of some)
      if (row.id <= last) told.set(domain, { id: row.id, change: row.change, at: row.at });
    id = some.at(-1)?.id ?? last;
    isMore = some.length > 0 && id < last;
  }
  return told;
}

function* byName(overrides: Iterable<Override>): Steps<Standing['overrides']> {
  const found = new Map<string, Override>();
  for (const override of overrides) {
    found.set(override.domain, override);
    if (found.size % STEP === 0) yield;
  }
  return found;
}

/** Those that keep a listed name from being flagged: when the first of them ends, and a text that differs where they do. */
export function* allowsIn(
  overrides: Iterable<Override>,
  now: number,
): Steps<{ readonly ends: number; readonly text: string }> {
  let ends = Number.POSITIVE_INFINITY;
  let [allowed, denied, isBelow, looked] = ['', '', false, 0];
  for (const { domain, action, below, expiresAt } of overrides) {
    if (++looked % STEP === 0) yield;
    if (expiresAt !== null && expiresAt <= now) continue;
    if (expiresAt !== null) ends = Math.min(ends, expiresAt);
    if (action === 'deny') denied = hash('sha1', `${denied} ${domain} ${below}`);
    else allowed = hash('sha1', `${allowed} ${domain} ${below}`);
    isBelow ||= action !== 'deny' && below;
  }
  // What is denied matters below what is allowed only: thousands may be imported at once.
  return { ends, text: isBelow ? allowed + denied : allowed };
}
