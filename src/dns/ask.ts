/** Puts one question to the servers until one of them answers or the time is up. */

import { type Deadline, startDeadline } from './deadline.ts';
import { type Found, find } from './finding.ts';
import type { Servers } from './servers.ts';
import type { Server } from './settings.ts';
import { type Carried, carry, type Failure } from './transport.ts';
import type { QuestionType } from './wire.ts';

export interface Question {
  readonly name: string;
  readonly type: QuestionType;
  /** How long an answer is waited for. */
  readonly withinMs: number;
  /** How long one server may keep silent before the next one is asked too. */
  readonly patienceMs: number;
}

/**
 * Why a question stayed open, by the last server that failed; `open`: its answer did not settle the question;
 * `distrusted`: it denied what was asked for, and is not believed.
 */
export type Unanswered = Failure | 'open' | 'distrusted' | 'timeout' | 'cancelled';

export type Answered = { readonly found: Found } | { readonly failure: Unanswered };

export interface Asking {
  readonly answered: Promise<Answered>;
  /** Ends all sockets and timers at once. */
  cancel(): void;
}

/**
 * One question goes out three times at most: to the next server when one keeps silent, and to the same server
 * again only after twice that time. Earlier sends are still listened to (hedged requests): no slow answer is lost.
 */
function plan(servers: readonly Server[]): readonly (Server | undefined)[] {
  const [first, second, third] = servers;
  return [first, second, third ?? first];
}

/** A send that is still listened to. */
interface Sent {
  readonly server: Server;
  readonly carried: Carried;
}

export function ask(servers: Servers, question: Question): Asking {
  const { promise, resolve } = Promise.withResolvers<Answered>();
  const sends = plan(servers.inOrder());
  let waiting: readonly Sent[] = [];
  const failed: Server[] = [];
  const refused: Server[] = [];
  let why: Unanswered = 'timeout';
  /** Answers whose servers must prove themselves, or that must be confirmed, before they count. */
  let proving = 0;
  let isOver = false;
  let next = 0;
  let patience: Deadline | undefined;
  let confirming: { readonly limit: Deadline; readonly carried: Carried } | undefined;

  const settle = (answered: Answered) => {
    isOver = true;
    deadline.cancel();
    patience?.cancel();
    confirming?.limit.cancel();
    confirming?.carried.close();
    for (const { carried } of waiting) carried.close();
    waiting = [];
    resolve(answered);
  };

  const blame = (server: Server) => {
    if (failed.includes(server)) return;
    servers.failed(server);
    failed.push(server);
  };

  const deadline = startDeadline(question.withinMs, () => {
    for (const { server } of waiting) blame(server);
    settle({ failure: proving > 0 ? 'distrusted' : why });
  });

  const refuse = (server: Server, because: Unanswered) => {
    why = because;
    refused.push(server);
    goOn();
  };

  const weigh = async (server: Server, found: Found, belief: Promise<boolean>) => {
    proving += 1;
    const isBelieved = await belief;
    if (isOver) return;
    if (isBelieved && found.kind === 'none') return confirm(server, found);
    proving -= 1;
    if (isBelieved) settle({ found });
    else refuse(server, 'distrusted');
  };

  /** Asks another server, where there is one that is believed. If it keeps silent, nothing is taken back. */
  const confirm = (first: Server, denial: Found) => {
    if (confirming) return;
    patience?.cancel();
    const second = servers.second(first);
    if (!second) return settle({ found: denial });
    const giveUp = () => {
      blame(second);
      settle({ found: denial });
    };
    const limit = startDeadline(question.patienceMs, giveUp);
    const carried = carry(second, question.name, question.type, told => {
      const found = 'reply' in told && find(told.reply, question.name, question.type);
      if (!found) return giveUp();
      servers.answered(second);
      const isTakenBack = found.kind === 'records' && servers.believes(second, found, question.type) === true;
      settle({ found: isTakenBack ? found : denial });
    });
    confirming = { limit, carried };
  };

  const send = (): void => {
    patience?.cancel();
    const server = sends[next++];
    if (next < sends.length) patience = startDeadline(question.patienceMs, sendAgain);
    if (!server || refused.includes(server)) {
      goOn();
      return;
    }
    const carried = carry(server, question.name, question.type, told => {
      waiting = waiting.filter(sent => sent.carried !== carried);
      const found = 'reply' in told && find(told.reply, question.name, question.type);
      if (!found) {
        blame(server);
        return refuse(server, 'failure' in told ? told.failure : 'open');
      }
      servers.answered(server);
      const belief = servers.believes(server, found, question.type);
      if (belief === true) settle({ found });
      else if (belief === false) refuse(server, 'distrusted');
      else void weigh(server, found, belief);
    });
    waiting = [...waiting, { server, carried }];
  };

  const sendAgain = () => {
    for (const { server } of waiting) blame(server);
    send();
  };

  /** Asks somebody else at once when nobody is left to wait for; nobody is asked again who refused. */
  const goOn = (): void => {
    if (waiting.length > 0 || proving > 0) return;
    if (sends.slice(next).some(server => server && !refused.includes(server))) send();
    else settle({ failure: why });
  };

  send();
  return { answered: promise, cancel: () => settle({ failure: 'cancelled' }) };
}
