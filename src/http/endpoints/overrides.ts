/** `/admin/overrides`: the operator's word about single domains. */

import { inTurns } from '../../assemble.ts';
import { parseSegment } from '../../core/domain.ts';
import type { Clock, Store } from '../../core/ports.ts';
import type { Operate } from '../../operate.ts';
import { decisionFrom, type NoBody, type OverrideBody } from '../bodies.ts';
import { invalid, ok, refusalOf, type Work } from '../operators.ts';
import { overridesBytes } from '../overrides-page.ts';
import { shownOverride } from '../shown.ts';

export function overrideEndpoints(parts: { operate: Operate; store: Store; clock: Clock }) {
  const { operate, store, clock } = parts;

  const list: Work<typeof NoBody> = async () =>
    ok(await inTurns(overridesBytes((await store.listOverrides()).overrides)));

  const set: Work<typeof OverrideBody> = async ({ target }, actor, body) => {
    const parsed = parseSegment(target.segment);
    if (!parsed.ok) return invalid(parsed.detail);
    const decision = decisionFrom(body, clock());
    if (!decision.ok) return invalid(decision.problem);
    const wanted = { domain: parsed.domain, author: actor.who, ...decision.value };
    return ok(shownOverride(await operate.setOverride(wanted, actor)));
  };

  const remove: Work<typeof NoBody> = async ({ target }, actor) => {
    const parsed = parseSegment(target.segment);
    if (!parsed.ok) return invalid(parsed.detail);
    const problem = await operate.removeOverride(parsed.domain, actor);
    return problem ? refusalOf(problem) : { status: 204 };
  };

  return { list, set, remove };
}
