/** What was used last, by name, and no more than that. */

import { LRUCache } from 'lru-cache';

/** By its `max` it would fill all places when it is made: 8 ms for 50,000 of them at every start (2026-11-17). */
export function lru<Value extends {}>(most: number): LRUCache<string, Value> {
  return new LRUCache({ maxSize: most, sizeCalculation: () => 1 });
}
