/** How much of the panel a new version of a popularity list exchanges: within a month not more than a fifth. */

import type { Day } from './days.ts';
import type { Content, Snapshot } from './feed.ts';
import { PANEL_SIZE } from './folding.ts';

/** What counts as one step: many small ones must not do what one large one may not. */
export const STEP_DAYS = 30;

/**
 * A list of 90,000 strangers behind eleven mailbox providers took the panel from every name that has it and gave it to
 * names that nobody uses (2026-11-16). How many change in a month was not measured at the source; what is ranked by
 * links changes slowly, and a fifth is what any list may lose.
 */
const MOST_MOVED = 0.2;
/** A short list of an operator's own may change by so many names at once, whatever its share. */
export const FEW_OF_OWN = 20;

export interface Turnover {
  /** Why the version is refused; nothing where few have changed. */
  readonly problems: readonly string[];
  /** What the version is kept with. */
  readonly moved: Content['moved'];
}

/**
 * By name and by days of ours: one that came and left again is where it was. The first version has nothing to be held
 * against, and behind one that was forced in the count begins anew.
 */
export function turnoverOf(
  fresh: Snapshot,
  inUse: Snapshot | undefined,
  today: Day,
  agedBy: Day = today,
): Turnover {
  if (fresh.feed.kind !== 'popular' || !inUse) return { problems: [], moved: new Map() };
  const before = panelPart(inUse);
  const after = panelPart(fresh);
  const moved = new Map<string, Day>();
  for (const [name, day] of inUse.moved) if (agedBy - day < STEP_DAYS) moved.set(name, Math.min(day, today));
  const changed = before.symmetricDifference(after);
  for (const name of changed) if (!moved.delete(name)) moved.set(name, today);
  let came = 0;
  for (const name of moved.keys()) if (after.has(name)) came++;
  const left = moved.size - came;
  const most = MOST_MOVED * before.size;
  const isFew = changed.size <= (fresh.feed.isOwn ? FEW_OF_OWN : 0);
  if (isFew || Math.max(came, left) <= most) return { problems: [], moved };
  const problem = `${left} of the ${before.size} names most used left within ${STEP_DAYS} days and ${came} came, more than ${100 * MOST_MOVED} %: look at it before you force it`;
  return { problems: [problem], moved: new Map() };
}

function panelPart({ names }: Snapshot): Set<string> {
  return new Set(names.slice(0, PANEL_SIZE));
}
