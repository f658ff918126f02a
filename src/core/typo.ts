/** Typing errors: names that are one slip of the finger away from another, or that look much like it. */

import { run } from '@zootools/email-spell-checker';

/** Shorter ones, such as qq.com, are one letter away from too many. */
const SHORTEST_LABEL = 5;

/** Those of the names that a typing error can be told from. */
export function typable(names: Iterable<string>): string[] {
  return [...names].filter(name => name.indexOf('.') >= SHORTEST_LABEL);
}

/** The first of the names that somebody may have meant. */
export function typoOf(name: string, meant: readonly string[]): string | undefined {
  return meant.find(one => isSlip(name, one));
}

/** One character more, less, another, or two that changed places: what is left between a common head and tail. */
function isSlip(typed: string, meant: string): boolean {
  const more = typed.length - meant.length;
  if (more < -1 || more > 1 || typed === meant) return false;
  const shorter = more < 0 ? typed.length : meant.length;
  let head = 0;
  while (head < shorter && typed.charCodeAt(head) === meant.charCodeAt(head)) head++;
  let end = meant.length;
  while (end > head && end + more > head && typed.charCodeAt(end + more - 1) === meant.charCodeAt(end - 1))
    end--;
  // What is left of each begins at `head`.
  if (Math.max(end, end + more) - head < 2) return true;
  const isSwapped = typed[head] === meant[head + 1] && typed[head + 1] === meant[head];
  return more === 0 && end - head === 2 && isSwapped;
}

/** Two characters that changed places, or two others: as the library has it by default. */
const MOST_DISTANCE = 2;

/** The one of the names that somebody most likely meant, though it is more than one slip away. */
export function nearestOf(name: string, meant: readonly string[]): string | undefined {
  return run({
    // It wants an address, and reads nothing of this part.
    email: `x@${name}`,
    domains: [...meant],
    domainThreshold: MOST_DISTANCE,
    // Only whole names: it would make up others from parts.
    secondLevelDomains: [],
    topLevelDomains: [],
  })?.domain;
}
