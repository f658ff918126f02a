/** What a catalog keeps of a snapshot, so that the next one can be made of it when another feed changed. */

import { type PackedDays, packDays } from './days.ts';
import type { Snapshot } from './feed.ts';
import { type NameList, packing } from './names.ts';
import type { Steps } from './steps.ts';

/** Names as bytes: as strings 10 million of them would take a gigabyte. */
export interface Kept
  extends Pick<Snapshot, 'feed' | 'version' | 'labels' | 'dropped' | 'digest' | 'acceptedAt' | 'flagged'> {
  readonly names: NameList;
  readonly since: PackedDays;
  /** Of a rotating list: the last day on which it showed each of them. */
  readonly last: PackedDays | undefined;
}

/** One that is kept already stays as it is. */
export function* keeping(snapshot: Snapshot | Kept): Steps<Kept> {
  return 'last' in snapshot ? snapshot : yield* keepingOf(snapshot, yield* packing(snapshot.names));
}

export function* keepingOf(snapshot: Omit<Snapshot, 'names'>, names: NameList): Steps<Kept> {
  const { feed, version, labels, dropped, digest, acceptedAt, flagged, shown } = snapshot;
  const since = packDays(snapshot.since);
  yield;
  const last = shown && packDays(shown.last);
  return { feed, version, labels, dropped, digest, acceptedAt, flagged, names, since, last };
}
