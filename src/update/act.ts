/** What the audit tells of a new version. */

import { type Act, type Actor, shortDetail } from '../core/audit.ts';

/** Of a list. */
export interface Version {
  readonly version: string;
  readonly names: number;
}

interface Changed {
  readonly feed: string;
  readonly outcome: 'accepted' | 'forced';
  readonly before: Version | null;
  readonly after: Version | null;
  readonly problems: readonly string[];
}

export function actOf(
  { feed, outcome, before, after, problems }: Changed,
  origin: string,
  at: number,
  actor: Actor,
): Act {
  const shown = ({ version, names }: Version) => `${version} with ${names} names`;
  const change = `${before ? shown(before) : 'nothing'} → ${after ? shown(after) : 'nothing'}`;
  return {
    ...actor,
    at,
    action: outcome === 'forced' ? 'feed.force' : 'feed.update',
    subject: feed,
    detail: shortDetail([`${change} from ${origin}`, ...problems].join('; ')),
  };
}
