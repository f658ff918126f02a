/**
 * Large answers that may not have been read. The kernel takes one whole and keeps it until its peer has: 160 KB each, 0.8
 * GB for 5,000 peers who read nothing (2026-11-15). So few connections of one address get any, each of them a few, and
 * none idles for long behind one.
 */

export const LARGE_BYTES = 32 * 1024;
const MOST_PER_ADDRESS = 64;
/** Of one connection: whoever wants more comes again, and is known to have read these. */
export const MOST_LARGE = 8;
/** Behind a large answer a connection is kept for so long: whoever reads at 10 KB/s or more gets all of it. */
export const LARGE_IDLE_MS = 15_000;

export class LargeAnswers {
  readonly #byNetwork = new Map<string, number>();

  /** For one connection. False where there are enough, but not for a trusted proxy, nor for what a key has paid for. */
  take(network: string, isLimited: boolean): boolean {
    const count = this.#byNetwork.get(network) ?? 0;
    if (isLimited && count >= MOST_PER_ADDRESS) return false;
    this.#byNetwork.set(network, count + 1);
    return true;
  }

  /** That connection is gone. */
  give(network: string): void {
    const count = this.#byNetwork.get(network) ?? 0;
    if (count > 1) this.#byNetwork.set(network, count - 1);
    else this.#byNetwork.delete(network);
  }
}
