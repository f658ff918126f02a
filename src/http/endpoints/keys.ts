/** `/admin/keys`: what operators see and do about keys. */

import type { KeyRecord } from '../../core/key.ts';
import { BEFORE_ALL_KEYS } from '../../core/key-store.ts';
import type { Clock, Store } from '../../core/ports.ts';
import type { Refusal } from '../../core/refusal.ts';
import type { Mix } from '../../mix.ts';
import type { Operate, Problem } from '../../operate.ts';
import type { NoBody } from '../bodies.ts';
import { type KeyBody, limitsFrom, type NewKeyBody, type RotationBody } from '../key.ts';
import { keysBytes } from '../keys-page.ts';
import { type Done, invalid, ok, refusalOf, type Work } from '../operators.ts';
import { readCount, readText } from '../query.ts';
import { shownKey } from '../shown.ts';

/** 13 MB with 30 days each. Of all that operators have not read yet, 64 MiB are kept (large.ts). */
export const MOST_KEYS_SHOWN = 20_000;

export interface KeyParts {
  readonly operate: Operate;
  readonly store: Pick<Store, 'keyById'>;
  readonly clock: Clock;
  readonly mix: Pick<Mix, 'read'>;
}

export function keyEndpoints({ operate, store, clock, mix }: KeyParts) {
  async function shown(result: KeyRecord | Problem): Promise<Done | Refusal> {
    if ('problem' in result) return refusalOf(result);
    return ok(shownKey(result, await operate.usedBy(result)));
  }

  const list: Work<typeof NoBody> = async ({ target: { query } }) => {
    const most = readCount(query, 'limit', MOST_KEYS_SHOWN) ?? MOST_KEYS_SHOWN;
    if (typeof most === 'object') return most;
    const last = readText(query, 'after');
    const after = last === undefined ? BEFORE_ALL_KEYS : await store.keyById(last);
    if (!after) return invalid('after must be the next of an earlier answer');
    return ok(await keysBytes(operate.listKeys(most, after), most, mix));
  };

  const create: Work<typeof NewKeyBody> = async (_call, actor, body) => {
    const limits = limitsFrom(body, clock());
    if (!limits.ok) return invalid(limits.problem);
    const made = await operate.createKey({ name: body.name, ...limits.value }, actor);
    if ('problem' in made) return refusalOf(made);
    return { status: 201, body: shownKey(made.key, 0, made.secret) };
  };

  const update: Work<typeof KeyBody> = async ({ target }, actor, body) => {
    const limits = limitsFrom(body, clock());
    if (!limits.ok) return invalid(limits.problem);
    return shown(await operate.updateKey(target.segment, limits.value, actor));
  };

  const rotate: Work<typeof RotationBody> = async ({ target }, actor, body) => {
    const overlap = (body.overlap_seconds ?? 0) * 1_000;
    const wanted = { overlap, endsPrevious: body.end_previous };
    const made = await operate.rotateKey(target.segment, wanted, actor);
    if ('problem' in made) return refusalOf(made);
    return ok(shownKey(made.key, await operate.usedBy(made.key), made.secret));
  };

  const revoke: Work<typeof NoBody> = async ({ target }, actor) =>
    shown(await operate.revokeKey(target.segment, actor));

  return { list, create, update, rotate, revoke };
}
