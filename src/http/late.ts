/** Requests whose time was over while their rest waited here: Node looks at each only once, and from then on we do. */

import type { Connection } from './connection.ts';

export class Late {
  readonly #all = new Map<Connection, { readonly nth: number; by: number }>();
  readonly #timeMs: number;
  readonly #end: (one: Connection) => void;

  /** So long each has once it does not wait any more. */
  constructor(timeMs: number, end: (one: Connection) => void) {
    this.#timeMs = timeMs;
    this.#end = end;
  }

  add(one: Connection): void {
    const nth = one.requests + Number(one.inHeadSince !== undefined);
    this.#all.set(one, { nth, by: performance.now() + this.#timeMs });
  }

  tend(now: number): void {
    for (const [one, request] of this.#all) {
      const isWhole = one.inHeadSince === undefined && one.last?.req.complete !== false;
      if (one.isGone || isWhole || one.requests > request.nth) this.#all.delete(one);
      else if (one.isHeldUp) request.by = now + this.#timeMs;
      else if (now > request.by) {
        this.#all.delete(one);
        this.#end(one);
      }
    }
  }
}
