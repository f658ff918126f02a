/** Typing errors: names that are one slip of the finger away from another. */

/** Shorter ones, such as qq.com, are one letter away from too many. */
const SHORTEST_LABEL = 5;

/** The first of the names that somebody may have meant. */
export function typoOf(name: string, meant: Iterable<string>): string | undefined {
  for (const one of meant) if (one.indexOf('.') >= SHORTEST_LABEL && isSlip(name, one)) return one;
  return undefined;
}

/** One character more, less, another, or two that changed places. */
function isSlip(typed: string, meant: string): boolean {
  if (typed === meant || Math.abs(typed.length - meant.length) > 1) return false;
  let at = 0;
  while (typed[at] === meant[at]) at++;
  const rest = (text: string, from: number) => text.slice(at + from);
  if (typed.length > meant.length) return rest(typed, 1) === rest(meant, 0);
  if (typed.length < meant.length) return rest(typed, 0) === rest(meant, 1);
  if (rest(typed, 1) === rest(meant, 1)) return true;
  return typed[at] === meant[at + 1] && typed[at + 1] === meant[at] && rest(typed, 2) === rest(meant, 2);
}
