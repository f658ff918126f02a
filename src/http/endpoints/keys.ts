/** `/admin/keys`: what operators see and do about keys. */

import type { KeyRecord } from '../../core/key.ts';
import { NO_VERDICTS } from '../../core/mix.ts';
import type { Clock } from '../../core/ports.ts';
import type { Refusal } from '../../core/refusal.ts';
import type { Mix } from '../../mix.ts';
import type { Operate, Problem } from '../../operate.ts';
import type { NoBody } from '../bodies.ts';
import { type KeyBody, limitsFrom, type NewKeyBody, type RotationBody } from '../key.ts';
import { type Done, invalid, ok, refusalOf, type Work } from '../operators.ts';
import { shownKey, shownUse } from '../shown.ts';

export interface KeyParts {
  readonly operate: Operate;
  readonly clock: Clock;
  readonly mix: Pick<Mix, 'read'>;
}

export function keyEndpoints({ operate, clock, mix }: KeyParts) {
  async function shown(result: KeyRecord | Problem): Promise<Done | Refusal> {
    if ('problem' in result) return refusalOf(result);
    return ok(shownKey(result, await operate.usedBy(result)));
  }

  const list: Work<typeof NoBody> = async () => {
    const [keys, verdicts] = await Promise.all([operate.listKeys(), mix.read()]);
    const mixOf = (id: string) => verdicts.get(id) ?? NO_VERDICTS;
    return ok({
      keys: keys.map(({ days, ...use }) => ({ ...shownUse(use), days, verdicts: mixOf(use.key.id) })),
    });
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
