/** Puts one question to the servers until one of them answers or the time is up. */

import { type Deadline, startDeadline } from './deadline.ts';
import { type Found, find, isReceiving, lesserOf, publicAddresses } from './finding.ts';
import type { Word } from './sentinels.ts';
import type { Others, Servers } from './servers.ts';
import type { Server } from './settings.ts';
import type { Carried, Failure } from './transport.ts';
import type { QuestionType } from './wire.ts';

export interface Question {
  readonly name: string;
  readonly type: QuestionType;
  /** How long an answer is waited for. */
  readonly withinMs: number;
  /** How long one server may keep silent before the next one is asked too. */
  readonly patienceMs: number;
  /** It will be denied most likely, and a verdict rests on that: who is to confirm it is asked at once. */
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
  /** The first denial, before it is proven and confirmed; never where nobody denies it. */
  readonly denied: Promise<Answered>;
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
  return new Asked(servers, question);
}

/** One question under way: who was asked, what they said, and what the answer still waits for. */
class Asked implements Asking {
  readonly answered: Promise<Answered>;
  readonly denied: Promise<Answered>;
  readonly #tellDenied: (answered: Answered) => void;
  readonly #servers: Servers;
  readonly #question: Question;
  readonly #resolve: (answered: Answered) => void;
  readonly #deadline: Deadline;
  #sends: readonly (Server | undefined)[];
  #next = 0;
  #waiting: readonly Sent[] = [];
  readonly #failed: Server[] = [];
  readonly #refused: Server[] = [];
  #why: Unanswered = 'timeout';
  /** Answers whose servers must prove themselves before they count. */
  #proving = 0;
  /** Who denied it, believed or not. */
  readonly #denials = new Map<Server, Found>();
  /** Whom the first of them is put to, and since when. */
  #put: (Others & { readonly by: Server; readonly at: number }) | undefined;
  /** What somebody who is believed denies, until one of the others says so too. */
  #denial: Found | undefined;
  #isOver = false;
  #patience: Deadline | undefined;

  constructor(servers: Servers, question: Question) {
    const { promise, resolve } = Promise.withResolvers<Answered>();
    const early = Promise.withResolvers<Answered>();
    this.answered = promise;
    this.denied = early.promise;
    this.#tellDenied = early.resolve;
    this.#resolve = resolve;
    this.#servers = servers;
    this.#question = question;
    this.#sends = plan(servers.inOrder());
    this.#deadline = startDeadline(question.withinMs, () => {
      this.#blameWaiting();
      this.#fail();
    });
    this.#send();
    if (question.isDoubtful) this.#putToOthers(this.#sends[0]!);
  }

  cancel(): void {
    this.#settle({ failure: 'cancelled' });
  }

  #send(): void {
    const { name, type } = this.#question;
    this.#patience?.cancel();
    const server = this.#sends[this.#next++];
    if (this.#next < this.#sends.length) this.#wait(() => this.#sendAgain());
    if (!server || this.#refused.includes(server)) return this.#goOn();
    const carried = this.#servers.carry(server, name, type, told => {
      this.#waiting = this.#waiting.filter(sent => sent.carried !== carried);
      const found = 'reply' in told && find(told.reply, name, type);
      if (found) return this.#hear(server, found);
      this.#blame(server);
      this.#refuse(server, 'failure' in told ? told.failure : 'open');
    });
    if (carried) this.#waiting = [...this.#waiting, { server, carried }];
    // It says nothing about the name that nobody was asked.
    else if (this.#waiting.length === 0) this.#why = 'cancelled';
  }

  #sendAgain(): void {
    this.#blameWaiting();
    this.#send();
  }

  #wait(then: () => void): void {
    this.#patience?.cancel();
    this.#patience = startDeadline(this.#question.patienceMs, then);
  }

  /** Asks somebody else at once when nobody is left to wait for; nobody is asked again who refused. */
  #goOn(): void {
    if (this.#waiting.length > 0 || this.#proving > 0) return;
    const left = this.#sends.slice(this.#next);
    if (left.some(server => server && !this.#refused.includes(server))) this.#send();
    else this.#fail();
  }

  #hear(server: Server, found: Found): void {
    const { type, isDoubtful } = this.#question;
    this.#servers.answered(server);
    const isOther = this.#put?.servers.includes(server);
    if (isOther) this.#servers.confirmed(server);
    const isDenied = isDenial(found, type);
    if (isDenied) this.#denials.set(server, found);
    if (this.#denial && isDenied && isOther) return this.#settle({ found: lesserOf(this.#denial, found) });
    const belief = this.#servers.believes(server, wordOf(type, isDenied, isDoubtful));
    if (belief === false) return this.#refuse(server, 'distrusted');
    if (isDenied) this.#tellDenied({ found });
    if (belief === true) return this.#accept(server, found);
    void this.#weigh(server, found, belief);
    // Both take as long as an answer does, so that far servers have no time for one after the other.
    if (isDenied && !this.#put) this.#putToOthers(server);
  }

  async #weigh(server: Server, found: Found, belief: Promise<boolean>): Promise<void> {
    this.#proving += 1;
    const isBelieved = await belief;
    if (this.#isOver) return;
    this.#proving -= 1;
    if (isBelieved) this.#accept(server, found);
    else this.#refuse(server, 'distrusted');
  }

  /** Who is asked already is not asked again at once, and whose word it is to be not before they are. */
  #putToOthers(by: Server): void {
    this.#put = { ...this.#servers.others(by), by, at: performance.now() };
    const others = this.#put.servers;
    if (others.length === 0 || others.some(other => this.#denials.has(other))) return;
    const sends = [...others, ...others].slice(0, MOST_CONFIRMATIONS);
    this.#sends = this.#denials.has(by) ? sends : [...sends, by];
    this.#next = 0;
    if (this.#waiting.some(({ server }) => others.includes(server))) this.#wait(() => this.#sendAgain());
    else this.#send();
  }

  /** One server may be wrong, or lie about a few names only: where there are others, its denial waits for one of them. */
  #accept(server: Server, found: Found): void {
    const { name, type, isDoubtful } = this.#question;
    if (!isDenial(found, type)) return this.#settle({ found });
    if (type === 'MX' || (type === 'A' && isDoubtful)) this.#servers.denied(server, name, type, found);
    if (this.#denial) return this.#goOn();
    this.#denial = found;
    if (this.#put?.by !== server) this.#putToOthers(server);
    if (this.#isOver) return;
    const others = this.#put?.servers ?? [];
    const confirmer = others.find(other => this.#denials.has(other));
    if (confirmer) this.#settle({ found: lesserOf(found, this.#denials.get(confirmer)!) });
    else if (others.length === 0) this.#settle({ found });
    else this.#goOn();
    // Nobody waits for long just to see whether a server answers again.
    if (!this.#isOver && !this.#put?.mustConfirm) this.#wait(() => this.#fail());
  }

  #refuse(server: Server, because: Unanswered): void {
    this.#why = because;
    this.#refused.push(server);
    this.#goOn();
  }

  #blame(server: Server): void {
    if (this.#failed.includes(server)) return;
    this.#servers.failed(server);
    this.#failed.push(server);
  }

  #blameWaiting(): void {
    for (const { server } of this.#waiting) this.#blame(server);
  }

  #fail(): void {
    if (this.#denial && this.#put) {
      const isLate = performance.now() - this.#put.at >= this.#question.patienceMs;
      for (const server of this.#put.servers)
        if (this.#refused.includes(server) || (isLate && this.#failed.includes(server)))
          this.#servers.unconfirmed(server);
      if (!this.#put.mustConfirm) return this.#settle({ found: this.#denial });
    }
    this.#settle({ failure: this.#proving > 0 || this.#denial ? 'distrusted' : this.#why });
  }

  #settle(answered: Answered): void {
    this.#isOver = true;
    this.#deadline.cancel();
    this.#patience?.cancel();
    for (const { carried } of this.#waiting) carried.close();
    this.#waiting = [];
    this.#resolve(answered);
  }
}

/** That it does not exist, or that there is nothing to receive mail with. */
function isDenial(found: Found, type: QuestionType): boolean {
  return type === 'MX' ? !isReceiving(found) : publicAddresses(found, 1).length === 0;
}

/** No verdict rests on where a mail host is not, and most have no AAAA: these wait for no probe. */
function wordOf(type: QuestionType, isDenied: boolean, isDoubtful: boolean): Word {
  if (type === 'MX') return isDenied ? 'denial' : 'mx';
  return isDenied && isDoubtful ? 'no_address' : 'addresses';
}
