/** Where Node's parser stands in what a peer sends, as far as that can be told from outside. */

import type { Refusal } from '../core/refusal.ts';
import { blankEnd, endsHead, headEnd, isBlank, joined, lastThree, linesIn, MOST_HEAD } from './bytes.ts';
import { TOO_LONG, TOO_MANY_LINES } from './transport.ts';

/**
 * Node makes objects of each line of a head: 8 KB of short ones took 75 KB (2026-11-15). Of shorter pieces the lines are
 * counted only where something is missing: 1 KB of 143 lines took 21 (2026-11-16).
 */
const MOST_HEAD_LINES = 128;
const FEW_LINES = 1_024;
/**
 * Of the empty lines before a request (RFC 9112 2.2), which count as lines of its head. One by one, 64 KB of them held the
 * event loop for 10 ms, and went on for as long as the connection did (2026-11-17).
 */
const MOST_BLANK = MOST_HEAD_LINES * 2;
/** 8 KB take 16 in one line, and 40 in 120 of them (2026-11-16); and what has come is kept, to be answered by. */
const BYTES_TIMES = 3;
const LINE_BYTES = 256;
/** Of a body in chunks: 64 KB of chunks of one byte kept the event loop for 20 ms, 4 KB take 1.3 (2026-11-17). */
const MOST_CHUNKED = 4 * 1024;

const NOTHING = Buffer.alloc(0);

/** What the parser has made of all that it got so far. */
export interface Made {
  readonly requests: number;
  /** The last request has a body that is not whole, of so many bytes. */
  readonly isInBody: boolean;
  readonly bodyLength: number;
}

/** In memory of its own; what came alone has that already. */
function ownOf(before: Buffer | undefined, piece: Buffer): Buffer {
  if (!before && piece.length === piece.buffer.byteLength) return piece;
  return joined(before ?? NOTHING, piece);
}

export class Parsing {
  /** It is certainly between two requests: what comes next begins one. */
  isBetween = true;
  /** A part of a head has come, and not yet the rest. */
  isInHead = false;
  #inHeadSince = 0;
  /** Of a head that is not whole, all that has come: whoever is refused over it is answered by that. */
  headSoFar: Buffer | undefined;
  /** Of a body that is not whole: what comes behind so many bytes begins a request. */
  bodyLeft = 0;
  /** Bytes of empty lines since the last request. */
  #blank = 0;
  /** Of what is not whole. */
  #lastThree = 0;
  #headLines = 0;
  #headBytes = 0;
  /** Its lines are among those. */
  #isCounted = false;

  /** Since when a part of a head has come, and not yet the rest. */
  get inHeadSince(): number | undefined {
    return this.isInHead ? this.#inHeadSince : undefined;
  }

  /** A body that has no known end has begun (RFC 9112 7.1). */
  get isInChunks(): boolean {
    return this.bodyLeft === Number.POSITIVE_INFINITY;
  }

  /**
   * How much it may be given: up to the end of one head or one body, so that at most one request comes of it, or of the
   * empty lines before it.
   */
  endOf(bytes: Buffer): number {
    if (this.isBetween) return blankEnd(bytes, MOST_BLANK + 1) || headEnd(bytes);
    if (this.bodyLeft > 0 && !this.isInChunks) return Math.min(this.bodyLeft, bytes.length);
    const end = headEnd(bytes, this.#lastThree);
    return this.isInChunks ? Math.min(end, MOST_CHUNKED) : end;
  }

  /** Before a piece is given to it: why it is not, where the head has more than anybody needs. */
  refusalOf(piece: Buffer, { isInBody }: Made): Refusal | undefined {
    if (this.isBetween && isBlank(piece)) {
      this.#blank += piece.length;
      return this.#blank > MOST_BLANK ? TOO_MANY_LINES : undefined;
    }
    // Node's own limit, which counts no separators, comes first, but behind a request with Upgrade there is none.
    if (this.isInHead && this.#headBytes + piece.length > 2 * MOST_HEAD) return TOO_LONG;
    this.#isCounted = !isInBody && (this.isInHead || piece.length > FEW_LINES);
    if (this.#isCounted) this.#headLines += linesIn(piece);
    return this.#headLines > MOST_HEAD_LINES ? TOO_MANY_LINES : undefined;
  }

  /**
   * After it. A head that is whole and became no request is lost, and given back: behind a request with Upgrade Node's
   * parser tells of no errors, and what it refused was read for ever (Node 24.21, 2026-11-19).
   */
  took(piece: Buffer, before: Made, after: Made): Buffer | undefined {
    const isNew = after.requests > before.requests;
    if (isNew) this.#blank = 0;
    // Between two requests it is passed over; it may also be what a head still needs.
    const isEmpty = !this.isInHead && isBlank(piece);
    if (!isEmpty) this.isBetween = (isNew || before.isInBody) && !after.isInBody;
    const isInHead = !isNew && !after.isInBody && !before.isInBody && !isEmpty;
    if (isInHead && !this.isInHead) this.#inHeadSince = performance.now();
    this.isInHead = isInHead;
    this.headSoFar = isInHead ? ownOf(this.headSoFar, piece) : undefined;
    // A head that is whole is kept until its body is.
    if (isInHead || (isNew && after.isInBody)) {
      this.#headBytes += piece.length;
      if (!this.#isCounted) this.#headLines += linesIn(piece);
    } else if (!after.isInBody) {
      this.#headBytes = 0;
      this.#headLines = 0;
    }
    this.#lastThree = this.isBetween ? 0 : lastThree(this.#lastThree, piece);
    const left = isNew ? after.bodyLength : this.bodyLeft - piece.length;
    this.bodyLeft = after.isInBody ? left : 0;
    // An empty line may come in two pieces.
    return this.headSoFar && endsHead(this.headSoFar) ? this.headSoFar : undefined;
  }

  /** Nobody is answered by it any more: its memory is free at once, and not when somebody collects it. */
  forget(): void {
    (this.headSoFar?.buffer as ArrayBuffer | undefined)?.transfer(0);
    this.headSoFar = undefined;
  }

  headWith(piece: Buffer): Buffer {
    return joined(this.headSoFar ?? NOTHING, piece);
  }

  /** Memory that a head takes of which a part has come, or all but its body. */
  get kept(): number {
    return this.#headBytes * BYTES_TIMES + this.#headLines * LINE_BYTES;
  }
}
