/** One request on its way: what was read of it, and what its answer needs. */

import type { LastSecret } from '../core/door.ts';
import type { Head } from './head.ts';
import type { Target } from './target.ts';
import type { LongWork } from './turns.ts';

export interface Call {
  readonly req: Asked;
  readonly res: Reply;
  readonly head: Head;
  readonly target: Target;
  readonly requestId: string;
  readonly startedAt: number;
  /** What the logs and metrics call its path. */
  readonly route: string;
  /** Answers of the API carry the CORS and Vary headers; probes and pages do not. */
  readonly isApi: boolean;
  readonly connection: Line;
  /** It was counted, or let in as an operator's. */
  isPaid: boolean;
  /** For the log: what is known about the call by now. */
  keyId: string | undefined;
  domain: string | undefined;
  degraded: boolean;
  /** The quota headers, on every answer from the moment that the allowance is known. */
  quota: Headers;
  /** Its body is waited for. */
  isReading: boolean;
  /** The room that its body has, where it is one of a key. */
  body?: HeldBody;
  isFinished: boolean;
  /** Every answer is told here, and that there will be none; the first time counts. */
  finished: (call: Call, status: number) => void;
  /** What went wrong, which is our fault: the caller gets an opaque 500. */
  readonly failed: (call: Call, error: unknown) => void;
}

/** A body that takes room, which others may need. */
export interface HeldBody {
  /** Its call waits, and was not counted: what it does when it has to make room. */
  waits(giveWay: () => void): void;
  /** It makes no more room. */
  stays(): void;
}

/** What is needed of a request, whoever has read it: Node's parser or the lane. */
export interface Asked {
  readonly method?: string | undefined;
  readonly rawHeaders: readonly string[];
  /** All of it has come. */
  readonly complete: boolean;
}

/** What is needed of an answer, whoever writes it. */
export interface Reply {
  shouldKeepAlive: boolean;
  readonly headersSent: boolean;
  /** All of it is on its way. */
  readonly writableFinished: boolean;
  readonly destroyed: boolean;
  writeHead(status: number, headers: Headers): unknown;
  end(body?: string, encoding?: BufferEncoding): unknown;
  once(event: 'close', then: () => void): unknown;
  destroy(): unknown;
}

/** What a call knows of the connection that it came over. */
export interface Line {
  /** Of the peer, which is a proxy where those are trusted. */
  readonly address: string;
  readonly lastSecret: LastSecret;
  /** Who the last call over it was let in as: a key, operators, or nobody where it was not. */
  knownAs(party: string | undefined): void;
  /** Nobody is there any more. */
  readonly isGone: boolean;
  /** Requests that came over it, this one included. */
  readonly requests: number;
  /** Requests are refused with 503 in place of being answered. */
  readonly isShedding: boolean;
  /** A request came, and costs so much. */
  begin(call: Call, price: number): void;
  /** The last request that came. */
  readonly last: Call | undefined;
  /** All of the last request has come. */
  received(): void;
  /**
   * The body of this call is taken as it comes; before that, and without it, nothing of a large one is read. Where another
   * request has come meanwhile, that has none any more: of 300 connections the bodies behind it took 0.9 GB (2026-11-19).
   */
  takeBody(call: Call): void;
  /**
   * A body of so many bytes, which may stay unread for long; of a key that was counted, or of operators. False where there
   * are too many.
   */
  sends(body: number, payer?: string): boolean;
  /** It gets no more answers than those that were asked for. */
  readonly isSpent: boolean;
  /** It may stay idle for so long. */
  readonly idleSeconds: number;
  /** No request behind this one is read. */
  stop(): void;
  /** One has its answer, at this moment. */
  answered(now: number): void;
  /** Work for a call that was counted, in the turns of its caller. */
  takeTurns(work: LongWork): void;
}

/**
 * When its answer is made, or nobody waits for one. The end of `res` does not tell: there is none for whoever leaves while
 * its request waits behind another of the same connection (pipelining).
 */
export function whenFinished(call: Call, then: () => void): void {
  const { finished } = call;
  call.finished = (one, status) => {
    finished(one, status);
    then();
  };
}

/** Whatever goes wrong in it is a failure of the call, now or later. */
export function attempt(call: Call, work: () => void | Promise<void>): void {
  try {
    work()?.catch((error: unknown) => call.failed(call, error));
  } catch (error) {
    call.failed(call, error);
  }
}

/** Names and values in turn, as `writeHead` takes them. */
export type Headers = string[];
