/** Which sightings were noted: each once a day, and where a listed domain is looked at again every few minutes. */

import { lru } from '../core/lru.ts';
import { onceOf, type Sighting } from '../core/sighting.ts';

const MOST = 50_000;
/**
 * At moments that nobody knows before: who was at a hoster for the first ten minutes of each day, when every key looked, had
 * its customers flagged, though all of them asked for him at home for the rest of it (2026-11-18).
 */
const AGAIN_MS = 300_000;

export class Noted {
  /** Zone, and mark of the key where it is listed, to the day. */
  readonly #days = lru<string>(MOST);
  /** Listed domains to when they are looked at again. */
  readonly #due = lru<number>(MOST);

  has(sighting: Sighting, day: string, now: number): boolean {
    if (this.#days.get(onceOf(sighting)) !== day) return false;
    return sighting.listed === null || now < (this.#due.peek(sighting.domain) ?? 0);
  }

  add(sighting: Sighting, day: string, now: number): void {
    this.#days.set(onceOf(sighting), day);
    if (sighting.listed) this.#due.set(sighting.domain, now + AGAIN_MS * (1 + Math.random()));
  }

  delete(sighting: Sighting): void {
    this.#days.delete(onceOf(sighting));
  }
}
