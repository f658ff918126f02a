/** A connection as whoever reads from it and answers over it sees it. */

import type { Socket } from 'node:net';
import type { Line } from './call.ts';
import type { Lane } from './lane.ts';

export interface OpenLine extends Line {
  /** Of the peer. */
  readonly network: string;
  readonly socket: Socket;
  readonly lane: Lane;
  /** What waits on it is of nobody whose key is known, and no operator's. */
  readonly isStranger: boolean;
  /** Of a head that is not whole, all that has come. */
  readonly headSoFar: Buffer | undefined;
  /** Requests that have no answer yet. */
  readonly open: number;
  /** All of the last answer is on its way. */
  readonly isWritten: boolean;
  /** The last request has come. */
  readonly isStopped: boolean;
  /** Nothing more is read; what still comes is overheard. */
  readonly hasEnded: boolean;
  release(): void;
  end(words?: string): void;
  overheard(bytes: Buffer): void;
  /** With an answer that was made without a call. */
  refuse(answer: string, payer: string | undefined): void;
}
