/** Whether new connections come: libuv accepts one in a turn of the event loop, so meanwhile turns are kept short. */

/** Nothing is served in so many turns at the most. Otherwise 1,000 connections had to wait for four seconds (2026-11-15). */
const MOST_TURNS = 256;
/** Where turns are slow, since calls that were let in before are answered in them, fewer. */
const FEWEST_TURNS = 32;
const MOST_MS = 20;

/** Where more come than were taken, strangers are served for so long before the next are. */
const STRANGERS_MS = 5;

export class Accepting {
  /** A connection came in this turn, or in the one before: there may be more behind it. */
  isUnderWay = false;
  #hasCome = false;
  #turns = 0;
  #since = 0;

  came(): void {
    this.isUnderWay = true;
    this.#hasCome = true;
  }

  endOfStrangers(turnEnds: number): number {
    return this.isUnderWay ? performance.now() + STRANGERS_MS : turnEnds;
  }

  /** A turn is over. Whether the next one is kept short as well. */
  goesOn(): boolean {
    this.isUnderWay = this.#hasCome;
    this.#hasCome = false;
    if (this.isUnderWay && this.#isShortEnough()) return true;
    this.#turns = 0;
    return false;
  }

  #isShortEnough(): boolean {
    const now = performance.now();
    if (this.#turns++ === 0) this.#since = now;
    if (this.#turns <= FEWEST_TURNS) return true;
    return this.#turns <= MOST_TURNS && now - this.#since < MOST_MS;
  }
}
