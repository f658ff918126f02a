/** `/admin/operators`: who may operate with a token of their own. */

import { createAppoint, type Operators } from '../../appoint.ts';
import { bad, type Checked } from '../../core/checked.ts';
import { parseLabel } from '../../core/label.ts';
import { type OperatorRecord, parseOperatorName } from '../../core/operator.ts';
import type { Clock, Store } from '../../core/ports.ts';
import { refuse } from '../../core/refusal.ts';
import type { NewOperatorBody, NoBody } from '../bodies.ts';
import { invalid, ok, type Work } from '../operators.ts';
import { shownDate } from '../shown.ts';

/** Never a token. */
const shown = ({ name, createdAt, revokedAt }: OperatorRecord) => ({
  name,
  created_at: shownDate(createdAt),
  revoked_at: shownDate(revokedAt),
});

export interface AppointedParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly operators: Pick<Operators, 'look'>;
}

export function appointedEndpoints({ store, clock, operators }: AppointedParts) {
  const appoint = createAppoint({ store, clock });
  /** Names that nobody else may act under: here at once, by others within a second. A look that fails now comes again. */
  const known = () => operators.look().catch(() => {});

  const list: Work<typeof NoBody> = async (_call, { who }) =>
    ok({ you: who, operators: (await store.listOperators()).map(shown) });

  const add: Work<typeof NewOperatorBody> = async (_call, actor, body) => {
    const name = parseOperatorName(body.name);
    if (!name.ok) return invalid(`name ${name.problem}`);
    const made = await appoint.add(name.value, actor);
    if (!made) return invalid(`there is an operator named ${JSON.stringify(name.value)} already`);
    await known();
    return { status: 201, body: { ...shown(made.operator), token: made.token } };
  };

  const revoke: Work<typeof NoBody> = async ({ target }, actor) => {
    const name = nameFrom(target.segment);
    if (!name.ok) return invalid(`name ${name.problem}`);
    if (!(await appoint.revoke(name.value, actor)))
      return refuse('not_found', 'there is no active operator of this name');
    await known();
    return { status: 204 };
  };

  return { list, add, revoke };
}

function nameFrom(segment: string): Checked<string> {
  try {
    return parseLabel(decodeURIComponent(segment));
  } catch {
    return bad('is not valid percent-encoding');
  }
}
