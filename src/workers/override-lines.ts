/** Overrides on their way to a thread: 100,000 as objects hold the event loop for 65 ms (2026-11-17). */

import type { Override } from '../core/override.ts';
import type { Steps } from '../core/steps.ts';

/** So many take 0.1 ms. */
const PORTION = 100;

/** In portions of bytes, each in a buffer of its own that can be given away. */
export function* packingOverrides(
  overrides: ReadonlyMap<string, Override>,
): Steps<readonly Uint8Array<ArrayBuffer>[]> {
  const portions: Uint8Array<ArrayBuffer>[] = [];
  let some: Override[] = [];
  const pack = () => portions.push(new TextEncoder().encode(JSON.stringify(some)));
  for (const override of overrides.values()) {
    some.push(override);
    if (some.length < PORTION) continue;
    pack();
    some = [];
    yield;
  }
  pack();
  return portions;
}

export function unpackOverrides(portions: readonly Uint8Array[]): Map<string, Override> {
  const text = new TextDecoder();
  const all = portions.flatMap(portion => JSON.parse(text.decode(portion)) as Override[]);
  return new Map(all.map(override => [override.domain, override]));
}
