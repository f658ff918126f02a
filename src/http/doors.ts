/** Who may come in: callers by their key, operators by their token. */

import type { Admit } from '../admit.ts';
import type { Operators } from '../appoint.ts';
import type { Actor } from '../core/audit.ts';
import { bad, type Checked, good } from '../core/checked.ts';
import type { Admission, Credentials, Passed } from '../core/door.ts';
import { bearerOf } from '../core/key.ts';
import { alike, parseLabel } from '../core/label.ts';
import { UNNAMED } from '../core/operator.ts';
import { clientAddress } from '../core/origin.ts';
import type { Clock, Waiter } from '../core/ports.ts';
import { type Refusal, refuse } from '../core/refusal.ts';
import type { Overrides } from '../overrule.ts';
import { attempt, type Call } from './call.ts';
import { quotaHeaders, sendRefusal } from './reply.ts';
import { type Sender, senderOf } from './sender.ts';

type Serve = (admission: Admission) => void | Promise<void>;

export interface Doors {
  /** Counts the call, or its names, and serves it, or answers the refusal; fails it when it cannot be counted. */
  spend(call: Call, serve: Serve, names?: number): void;
  /**
   * Why the key does not let it in. Counts nothing: for whoever has yet to send what is to be counted. Its connection is its
   * key's from now on: as a stranger's it was reset where places ran short, in the middle of its body (2026-11-18).
   */
  callerRefusal(call: Call): Promise<Refusal | undefined>;
  /** All of it has come, and it waits to be counted for so many names: its connection is its key's if it has them left. */
  waits(call: Call, names: number): void;
  /** Without counting: an admission, or the refusal is answered. */
  enter(call: Call): Promise<Admission | undefined>;
  /** Before its key is known. */
  senderOf(call: Call): Sender;
  /** Calls that the store is counting. */
  readonly spending: () => number;
  isOperator(authorization: string): boolean;
  /** Why this is no operator: costs a comparison, and for an operator token a look that all share; no body, no line in the log. */
  operatorRefusal(call: Call): Refusal | undefined | Promise<Refusal | undefined>;
  actorOf(call: Call): Checked<Actor>;
}

export interface DoorParts {
  readonly admit: Admit;
  readonly overrides: Overrides;
  readonly clock: Clock;
  readonly isAdminToken: ((sent: string) => boolean) | undefined;
  /** Those with a token of their own. */
  readonly operators: Pick<Operators, 'nameOf' | 'isAppointed' | 'refresh'>;
  readonly isTrustedProxy: (address: string) => boolean;
}

const MOST_OPERATOR = 100;

export function createDoors(parts: DoorParts): Doors {
  const { admit, isTrustedProxy } = parts;
  let spending = 0;

  function addressOf({ connection, head }: Call): string {
    return clientAddress(connection.address, head.forwardedFor, isTrustedProxy);
  }

  function credentialsOf(call: Call): Credentials {
    const { authorization, origin } = call.head;
    return { authorization, origin, address: addressOf(call), lastSecret: call.connection.lastSecret };
  }

  return {
    spending: () => spending,

    spend(call, serve, names) {
      spending++;
      const waiter: Waiter<Passed> = {
        resolve(passed) {
          spending--;
          attempt(call, () => pass(parts, call, passed, serve));
        },
        reject(error) {
          spending--;
          call.failed(call, error);
        },
      };
      admit.spend(credentialsOf(call), waiter, names);
    },

    senderOf: call => senderOf(call, isTrustedProxy),

    async callerRefusal(call) {
      const refusal = await admit.refusal(credentialsOf(call));
      call.connection.knownAs(refusal ? undefined : admit.waiting(credentialsOf(call), 1));
      return refusal;
    },

    waits(call, names) {
      call.connection.knownAs(admit.waiting(credentialsOf(call), names));
    },

    async enter(call) {
      const admission = await admit.enter(credentialsOf(call));
      if ('refused' in admission) {
        call.connection.knownAs(undefined);
        sendRefusal(call, admission);
        return undefined;
      }
      call.connection.knownAs(admission.allowance.remaining === 0 ? undefined : admission.key.id);
      call.keyId = admission.key.id;
      return admission;
    },

    ...operatorsDoor(parts, addressOf),
  };
}

/** A call that was counted, or refused instead. */
function pass(
  { overrides, clock }: DoorParts,
  call: Call,
  passed: Passed,
  serve: Serve,
): void | Promise<void> {
  const allowance = 'allowance' in passed ? passed.allowance : undefined;
  if (allowance) call.quota = quotaHeaders(allowance, clock());
  if ('refused' in passed) {
    call.connection.knownAs(undefined);
    return sendRefusal(call, passed, [], passed.refused === 'quota_exceeded' ? allowance : undefined);
  }
  call.connection.knownAs(passed.key.id);
  call.keyId = passed.key.id;
  call.isPaid = true;
  if (overrides.revision() === passed.revision) return serve(passed);
  return overrides.reach(passed.revision).then(() => serve(passed));
}

function operatorsDoor(
  { isAdminToken, operators }: DoorParts,
  addressOf: (call: Call) => string,
): Pick<Doors, 'isOperator' | 'operatorRefusal' | 'actorOf'> {
  const nameOf = (authorization: string) => operators.nameOf(bearerOf(authorization) ?? '');

  function isOperator(authorization: string): boolean {
    const token = bearerOf(authorization);
    if (!isAdminToken || token === undefined) return false;
    return isAdminToken(token) || operators.nameOf(token) !== undefined;
  }

  /** Whoever has the ADMIN_TOKEN may give any name but that of somebody with a token of their own. */
  function claimed(call: Call): Checked<string> {
    const who = operatorOf(call.req.rawHeaders);
    if (!who.ok || who.value === UNNAMED || !operators.isAppointed(who.value)) return who;
    const name = JSON.stringify(who.value);
    return bad(`X-Operator must be another name: ${name} acts with an operator token of their own`);
  }

  return {
    isOperator,

    operatorRefusal({ head }) {
      const { authorization = '' } = head;
      const judge = () =>
        isOperator(authorization)
          ? undefined
          : refuse('unauthorized', 'use the ADMIN_TOKEN of the service or an operator token');
      const looked = isAdminToken && operators.refresh(bearerOf(authorization) ?? '');
      return looked ? looked.then(judge) : judge();
    },

    actorOf(call) {
      const { authorization = '' } = call.head;
      const name = nameOf(authorization);
      if (name !== undefined) return good({ who: name, via: addressOf(call) });
      // While the body came in. Under another name nobody acts with it.
      if (!isOperator(authorization)) return bad('the operator token was revoked: use another one');
      const who = claimed(call);
      return who.ok ? good({ who: who.value, via: addressOf(call) }) : who;
    },
  };
}

/** `X-Operator`: a name for the audit, in UTF-8, which Node gives as one character for each byte. */
function operatorOf(rawHeaders: readonly string[]): Checked<string> {
  const sent = rawHeaders.filter((_, at) => at % 2 === 1 && /^x-operator$/i.test(rawHeaders[at - 1]!));
  const [value, ...more] = sent;
  if (value === undefined) return good(UNNAMED);
  if (more.length > 0) return bad('X-Operator must be sent once');
  const text = Buffer.from(value, 'latin1').toString('utf8');
  const label = parseLabel(text, MOST_OPERATOR);
  if (!label.ok) return bad(`X-Operator ${label.problem}`);
  // In the audit it would look like somebody else.
  return alike(label.value) === UNNAMED ? good(UNNAMED) : label;
}
