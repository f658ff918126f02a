/** Names below which strangers register theirs, as the public suffix list has them, one after the other. */

import { edgeChild, edgeLength, edgeStart, labelText, rulesRoot } from 'tldts/dist/cjs/src/data/trie.js';
import { sharedSuffixes } from './domain.ts';

/**
 * With two labels and more, and what lies above them. What a rule has for any label (`*.ck`) is left out: nobody can tell
 * all of these. tldts only asks its list and does not show it; the version is pinned, and a test knows what it has.
 */
export function* allSuffixes(): Generator<string> {
  yield* sharedSuffixes();
  const places = labelPlaces();
  function* below(node: number, name: string): Generator<string> {
    for (let edge = edgeStart[node]!; edge < edgeStart[node + 1]!; edge++) {
      const label = labelText.slice(places[edge], places[edge]! + edgeLength[edge]!);
      // Each name in another script is there as its A-label too.
      if (!/^[a-z0-9-]+$/.test(label)) continue;
      const child = name === '' ? label : `${label}.${name}`;
      if (name !== '') yield child;
      yield* below(edgeChild[edge]!, child);
    }
  }
  yield* below(rulesRoot, '');
}

/** Labels stand behind each other without anything between them. */
function labelPlaces(): Uint32Array {
  const places = new Uint32Array(edgeLength.length);
  for (let edge = 1; edge < places.length; edge++) places[edge] = places[edge - 1]! + edgeLength[edge - 1]!;
  return places;
}
