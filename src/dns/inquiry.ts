/** Asks what is needed to know who receives one name's mail (RFC 5321 5.1): MX, and where there is none, A and AAAA. */

import type { HostAddresses, Unheard } from '../core/whereabouts.ts';
import type { Answered, Asking } from './ask.ts';
import {
  type Finding,
  type Found,
  mailFromAddresses,
  mailFromMx,
  publicAddresses,
  type TtlLimits,
  UNHEARD,
  UNKNOWN,
} from './finding.ts';
import type { QuestionType } from './wire.ts';

/** Puts one question to the servers and waits for `withinMs` at most. `isDoubtful`: most likely it will be denied. */
export type Put = (name: string, type: QuestionType, withinMs: number, isDoubtful: boolean) => Asking;

export interface Inquiry<T> {
  readonly result: Promise<T>;
  /** Ends it at once, as if nobody had answered. */
  cancel(): void;
}

/** At most one MX, one A and one AAAA question, all within one budget. */
export function inquire(put: Put, name: string, budgetMs: number, limits: TtlLimits): Inquiry<Finding> {
  const questions = new Questions(put);
  return questions.asked(async () => {
    const startedAt = performance.now();
    const asking = questions.put(name, 'MX', budgetMs);
    const left = () => budgetMs - (performance.now() - startedAt);
    // While that is proven: what they say is to be proven too, and far servers have no time for one after the other.
    const early = await Promise.race([asking.denied, asking.answered]);
    const isBare = 'found' in early && !mailFromMx(early.found, limits);
    const begun = isBare && left() > 0 ? askAddresses(questions, name, left()) : undefined;
    const mx = await asking.answered;
    const failed = isUnheard(mx) ? UNHEARD : UNKNOWN;
    const settled = 'found' in mx ? mailFromMx(mx.found, limits) : failed;
    if (settled) {
      questions.cancel();
      return settled;
    }
    if (!begun && left() <= 0) return UNKNOWN;
    const answers = await (begun ?? askAddresses(questions, name, left()));
    const finding = mailFromAddresses(foundIn(mx)?.ttl ?? 0, answers.map(foundIn), limits);
    return finding === UNKNOWN && answers.some(isUnheard) ? UNHEARD : finding;
  });
}

/**
 * The public addresses of a host; undefined when asking failed. That nobody is believed says nothing of the host, nor that it
 * was given up, or that there was no socket to ask from.
 */
export function inquireAddresses(
  put: Put,
  host: string,
  budgetMs: number,
): Inquiry<HostAddresses | Unheard | undefined> {
  const questions = new Questions(put);
  return questions.asked(async () => {
    const askings = VERSIONS.map(type => questions.put(host, type, budgetMs));
    const answers = await Promise.all(askings.map(({ answered }) => answered));
    const found = answers.map(foundIn);
    const addresses = found.flatMap(one => publicAddresses(one));
    if (addresses.length === 0 && found.includes(undefined))
      return answers.some(isDistrusted) ? 'distrusted' : answers.some(isUnheard) ? 'given_up' : undefined;
    const ttl = Math.min(...found.map(one => (one?.kind === 'records' ? one.ttl : Number.POSITIVE_INFINITY)));
    return { addresses, isWhole: found[0] !== undefined, ttl: addresses.length > 0 ? ttl : 0 };
  });
}

/** The questions of one inquiry, which end together. */
class Questions {
  readonly #put: Put;
  readonly #askings: Asking[] = [];
  #isCancelled = false;

  constructor(put: Put) {
    this.#put = put;
  }

  put(name: string, type: QuestionType, withinMs: number, isDoubtful = false): Asking {
    const asking = this.#put(name, type, withinMs, isDoubtful);
    this.#askings.push(asking);
    if (this.#isCancelled) asking.cancel();
    return asking;
  }

  asked<T>(work: () => Promise<T>): Inquiry<T> {
    return { result: work(), cancel: () => this.cancel() };
  }

  cancel(): void {
    this.#isCancelled = true;
    for (const asking of this.#askings) asking.cancel();
  }
}

const VERSIONS = ['A', 'AAAA'] as const;

/** Both at once. The first public address ends the wait: broken AAAA servers are common. */
async function askAddresses(questions: Questions, name: string, withinMs: number): Promise<Answered[]> {
  // A name without mail servers has few addresses either, and an answer's time was spent on finding that out.
  const askings = VERSIONS.map(type => questions.put(name, type, withinMs, true));
  const answers: Answered[] = [];
  await new Promise<void>(resolve => {
    for (const asking of askings) {
      void asking.answered.then(answered => {
        answers.push(answered);
        const isEnough = publicAddresses(foundIn(answered)).length > 0;
        if (isEnough || answers.length === askings.length) resolve();
      });
    }
  });
  for (const asking of askings) asking.cancel();
  return answers;
}

function foundIn(answered: Answered): Found | undefined {
  return 'found' in answered ? answered.found : undefined;
}

/** Nobody who could be believed was heard to the end: that says nothing about the name, not even that it fails. */
function isUnheard(answered: Answered): boolean {
  return isDistrusted(answered) || ('failure' in answered && answered.failure === 'cancelled');
}

function isDistrusted(answered: Answered): boolean {
  return 'failure' in answered && answered.failure === 'distrusted';
}
