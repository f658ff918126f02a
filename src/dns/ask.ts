/** Puts one question to the servers until one of them answers or the time is up. */

import { type Deadline, startDeadline } from './deadline.ts';
import { type Found, find, isReceiving, publicAddresses } from './finding.ts';
import type { Others, Servers } from './servers.ts';
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
  /** It will be denied most likely: who is to confirm that is asked at once. */
  readonly isDoubtful: boolean;
}

/**
 * Why a question stayed open, by the last server that failed; `open`: its answer did not settle the question;
 * `distrusted`: it denied what was asked for, and is not believed, or nobody else says so though others are there.
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

/** So often a denial is put to others: a lost packet must not make it unknown. */
const MOST_CONFIRMATIONS = 2;

export function ask(servers: Servers, question: Question): Asking {
  const { promise, resolve } = Promise.withResolvers<Answered>();
  const { name, type } = question;
  let sends = plan(servers.inOrder());
  let waiting: readonly Sent[] = [];
  const failed: Server[] = [];
  const refused: Server[] = [];
  let why: Unanswered = 'timeout';
  /** Answers whose servers must prove themselves before they count. */
  let proving = 0;
  /** Who denied it, believed or not. */
  const denials = new Map<Server, Found>();
  /** Whom the first of them is put to, and since when. */
  let put: (Others & { readonly by: Server; readonly at: number }) | undefined;
  /** What somebody who is believed denies, until one of the others says so too. */
  let denial: Found | undefined;
  let isOver = false;
  let next = 0;
  let patience: Deadline | undefined;

  const settle = (answered: Answered) => {
    isOver = true;
    deadline.cancel();
    patience?.cancel();
    for (const { carried } of waiting) carried.close();
    waiting = [];
    resolve(answered);
  };

  const blame = (server: Server) => {
    if (failed.includes(server)) return;
    servers.failed(server);
    failed.push(server);
  };

  const fail = () => {
    if (denial && put) {
      const isLate = performance.now() - put.at >= question.patienceMs;
      for (const server of put.servers)
        if (refused.includes(server) || (isLate && failed.includes(server))) servers.unconfirmed(server);
      if (!put.mustConfirm) return settle({ found: denial });
    }
    settle({ failure: proving > 0 || denial ? 'distrusted' : why });
  };

  const deadline = startDeadline(question.withinMs, () => {
    for (const { server } of waiting) blame(server);
    fail();
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
    proving -= 1;
    if (isBelieved) accept(server, found);
    else refuse(server, 'distrusted');
  };

  /** Who is asked already is not asked again at once, and whose word it is to be not before they are. */
  const putToOthers = (by: Server) => {
    put = { ...servers.others(by), by, at: performance.now() };
    const others = put.servers;
    if (others.length === 0 || others.some(other => denials.has(other))) return;
    sends = [...others, ...others].slice(0, MOST_CONFIRMATIONS);
    if (!denials.has(by)) sends = [...sends, by];
    next = 0;
    if (!waiting.some(({ server }) => others.includes(server))) return send();
    patience?.cancel();
    patience = startDeadline(question.patienceMs, sendAgain);
  };

  /** One server may be wrong, or lie about a few names only: where there are others, its denial waits for one of them. */
  const accept = (server: Server, found: Found) => {
    if (!isDenial(found, type)) return settle({ found });
    if (denial) return goOn();
    denial = found;
    if (put?.by !== server) putToOthers(server);
    if (isOver) return;
    const others = put?.servers ?? [];
    const confirmer = others.find(other => denials.has(other));
    if (confirmer) settle({ found: lesserOf(found, denials.get(confirmer)!) });
    else if (others.length === 0) settle({ found });
    else goOn();
    if (isOver || put?.mustConfirm) return;
    // Nobody waits for long just to see whether a server answers again.
    patience?.cancel();
    patience = startDeadline(question.patienceMs, fail);
  };

  const hear = (server: Server, found: Found) => {
    servers.answered(server);
    if (put?.servers.includes(server)) servers.confirmed(server);
    const isDenied = isDenial(found, type);
    if (isDenied) denials.set(server, found);
    if (denial && isDenied && put?.servers.includes(server))
      return settle({ found: lesserOf(denial, found) });
    const belief = servers.believes(server, found, type);
    if (belief === true) return accept(server, found);
    if (belief === false) return refuse(server, 'distrusted');
    void weigh(server, found, belief);
    // Both take as long as an answer does, so that far servers have no time for one after the other.
    if (isDenied && !put) putToOthers(server);
  };

  const send = (): void => {
    patience?.cancel();
    const server = sends[next++];
    if (next < sends.length) patience = startDeadline(question.patienceMs, sendAgain);
    if (!server || refused.includes(server)) {
      goOn();
      return;
    }
    const carried = carry(server, name, type, told => {
      waiting = waiting.filter(sent => sent.carried !== carried);
      const found = 'reply' in told && find(told.reply, name, type);
      if (found) return hear(server, found);
      blame(server);
      refuse(server, 'failure' in told ? told.failure : 'open');
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
    else fail();
  };

  send();
  if (question.isDoubtful) putToOthers(sends[0]!);
  return { answered: promise, cancel: () => settle({ failure: 'cancelled' }) };
}

/** That it does not exist, or that there is nothing to receive mail with. */
function isDenial(found: Found, type: QuestionType): boolean {
  return type === 'MX' ? !isReceiving(found) : publicAddresses(found).length === 0;
}

/** Of two denials the one that leaves most open: where a name exists, its addresses are to be asked for. */
function lesserOf(first: Found, second: Found): Found {
  return [first, second].find(found => found.kind === 'none' && !found.nxdomain) ?? first;
}
