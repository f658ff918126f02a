/**
 * Large answers that may not have been read. The kernel takes one whole and keeps it until its peer has: 160 KB each, 0.8
 * GB for 5,000 peers who read nothing (2026-11-15). So each is the last of its connection, whose end tells that it was
 * read, and one address has a few of them at a time.
 */

export const LARGE_BYTES = 32 * 1024;
const MOST_PER_ADDRESS = 128;

export class LargeAnswers {
  readonly #byNetwork = new Map<string, number>();

  /** False where there are enough: as many as a trusted proxy likes, and as a key has paid for. */
  take(network: string, isLimited: boolean): boolean {
    const count = this.#byNetwork.get(network) ?? 0;
    if (isLimited && count >= MOST_PER_ADDRESS) return false;
    this.#byNetwork.set(network, count + 1);
    return true;
  }

  /** It was read, or is gone. */
  give(network: string): void {
    const count = this.#byNetwork.get(network) ?? 0;
    if (count > 1) this.#byNetwork.set(network, count - 1);
    else this.#byNetwork.delete(network);
  }
}
