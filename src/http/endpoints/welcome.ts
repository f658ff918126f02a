/** `/welcome`: takes the code of the link that the first start printed, and gives the first key for it, once. */

import type { Logger } from 'pino';
import { refuse } from '../../core/refusal.ts';
import type { Invite } from '../../invite.ts';
import type { Call } from '../call.ts';
import { createOften } from '../often.ts';
import { PRICES } from '../prices.ts';
import { sendJson, sendRefusal } from '../reply.ts';
import type { Route } from '../routes.ts';

const NO_STORE = ['Cache-Control', 'no-store'];
const CODE = /^Bearer ([\w-]{43})$/;
/** Anybody can cause them. */
const ONE_IN_TEN_SECONDS = { most: 1, everyMs: 10_000 };
const GONE = refuse('unauthorized', 'the link was used or has expired');

export interface WelcomeParts {
  readonly invite: Pick<Invite, 'take'>;
  /** A token for the first operator; null where nobody can operate here. */
  readonly appointFirst: () => Promise<string | null>;
  readonly log: Pick<Logger, 'warn'>;
}

/** In a header and not in the path: the log has paths. */
export function welcomeRoute({ invite, appointFirst, log }: WelcomeParts): Route {
  const often = createOften(ONE_IN_TEN_SECONDS);

  async function welcome(call: Call): Promise<void> {
    const [, code] = CODE.exec(call.head.authorization ?? '') ?? [];
    const taken = code === undefined ? undefined : invite.take(code);
    if (!taken) {
      const more = often();
      if (more !== undefined) log.warn({ more }, 'a code of the welcome link was wrong, used or too late');
      return sendRefusal(call, GONE);
    }
    let token: string | null;
    try {
      token = await appointFirst();
    } catch (error) {
      taken.putBack();
      throw error;
    }
    sendJson(call, 200, JSON.stringify({ api_key: taken.secret, operator_token: token }), NO_STORE);
  }
  return {
    ...{ method: 'POST', path: '/welcome', name: 'welcome', door: 'none', price: PRICES.read },
    answer: 'application/json',
    handle: welcome,
  };
}
