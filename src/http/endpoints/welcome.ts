/** `/welcome`: takes the code of the link that the first start printed, and gives the first key for it, once. */

import { refuse } from '../../core/refusal.ts';
import type { Invite } from '../../invite.ts';
import type { Call } from '../call.ts';
import { PRICES } from '../prices.ts';
import { sendJson, sendRefusal } from '../reply.ts';
import type { Route } from '../routes.ts';

const NO_STORE = ['Cache-Control', 'no-store'];
const CODE = /^Bearer ([\w-]{43})$/;
const GONE = refuse('unauthorized', 'the link was used or has expired');

export interface WelcomeParts {
  readonly invite: Pick<Invite, 'take'>;
  /** A token for the first operator; null where nobody can operate here. */
  readonly appointFirst: () => Promise<string | null>;
}

/** In a header and not in the path: the log has paths. */
export function welcomeRoute({ invite, appointFirst }: WelcomeParts): Route {
  async function welcome(call: Call): Promise<void> {
    const [, code] = CODE.exec(call.head.authorization ?? '') ?? [];
    const key = code === undefined ? undefined : invite.take(code);
    if (key === undefined) return sendRefusal(call, GONE);
    const token = await appointFirst();
    sendJson(call, 200, JSON.stringify({ api_key: key, operator_token: token }), NO_STORE);
  }
  return {
    ...{ method: 'POST', path: '/welcome', name: 'welcome', door: 'none', price: PRICES.read },
    answer: 'application/json',
    handle: welcome,
  };
}
