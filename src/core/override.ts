/** What an operator decided about a name. It wins over every list and over DNS. */

import { type Act, shortDetail } from './audit.ts';
import { toSecond } from './quota.ts';

export const OVERRIDE_ACTIONS = ['allow', 'deny', 'role'] as const;
export type OverrideAction = (typeof OVERRIDE_ACTIONS)[number];

export interface Override {
  /** Canonical name. */
  readonly domain: string;
  readonly action: OverrideAction;
  /** True: the name and everything below it; false: the exact name only. */
  readonly below: boolean;
  readonly note: string | null;
  readonly author: string | null;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly expiresAt: number | null;
}

export interface MarkedOverrides {
  readonly revision: number;
  /** Another after every change of an override; a change of a key leaves it as it is. */
  readonly mark: string;
  /** Each is made when it is asked for. Undefined where they are those of the mark that is known. */
  readonly overrides: Iterable<Override> | undefined;
}

/** What became of overrides since a mark. */
export interface ChangedOverrides extends Pick<MarkedOverrides, 'revision' | 'mark'> {
  /** As they are now. */
  readonly overrides: readonly Override[];
  /** Domains that have none any more. */
  readonly gone: readonly string[];
}

/** The override that decides: the exact name's, else the nearest parent's that reaches below. */
export function findOverride(
  overrides: ReadonlyMap<string, Override>,
  names: readonly string[],
  now: number,
): Override | undefined {
  if (overrides.size === 0) return undefined;
  for (const [depth, name] of names.entries()) {
    const found = overrides.get(name);
    if (!found || (depth > 0 && !found.below)) continue;
    if (found.expiresAt !== null && found.expiresAt <= now) continue;
    return found;
  }
  return undefined;
}

/** For the audit. */
export function overrideInWords({ action, below, note, expiresAt }: Override): string {
  const words = [
    action,
    below ? 'with subdomains' : [],
    expiresAt === null ? [] : `until ${toSecond(expiresAt)}`,
    note === null ? [] : `note ${JSON.stringify(note)}`,
  ];
  return words.flat().join(', ');
}

export function withAuthor(override: Override): string {
  const { author } = override;
  return author === null ? overrideInWords(override) : `${overrideInWords(override)}, by ${author}`;
}

/** Of one that is set or removed, with what stood in its place: of an imported one nothing else tells that (2026-11-18). */
export function actOver(was: Override | undefined, act: Act): Act {
  if (!was) return act;
  const words = act.detail === null ? withAuthor(was) : `${withAuthor(was)} → ${act.detail}`;
  return { ...act, detail: shortDetail(words) };
}
