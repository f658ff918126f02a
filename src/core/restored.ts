/** What becomes of overrides, lists and operators when a backup is restored: what it knows goes back, what came since stays. */

import { isDeepStrictEqual } from 'node:util';
import { type AddedFeed, addedInWords } from './added-feed.ts';
import { type Act, shortDetail } from './audit.ts';
import type { SnapshotHead } from './feed.ts';
import type { FeedCheck } from './freshness.ts';
import type { OperatorRecord } from './operator.ts';
import { type Override, overrideInWords } from './override.ts';

/** One line of the audit. */
export type Change = Pick<Act, 'action' | 'subject' | 'detail'>;

export interface Restored {
  readonly changes: readonly Change[];
  /** What an operator should look at, since the backup cannot tell. */
  readonly warnings: readonly Change[];
  /** How many rows of what nobody decided, such as counts and flags, were taken over, by table. */
  readonly rows: Readonly<Record<string, number>>;
}

/** A record to be written, and how the audit tells of it. */
export interface Written<R> {
  readonly record: R;
  readonly change: Change;
}

export function changeOf(action: Change['action'], subject: string, detail: string): Change {
  return { action, subject, detail: shortDetail(detail) };
}

export function overridesAgain(present: readonly Override[], old: readonly Override[]): Written<Override>[] {
  const byDomain = new Map(present.map(override => [override.domain, override]));
  return old
    .filter(override => !isDeepStrictEqual(override, byDomain.get(override.domain)))
    .map(record => {
      const was = byDomain.get(record.domain);
      const before = was ? `${overrideInWords(was)} → ` : '';
      return { record, change: changeOf('override.set', record.domain, before + overrideInWords(record)) };
    });
}

/** Lists do not grow old again, and one that an operator went back from does not come again: `present` are all versions. */
export function listsAgain(
  present: readonly SnapshotHead[],
  old: readonly SnapshotHead[],
): Written<SnapshotHead>[] {
  const versions = Map.groupBy(present, ({ feed }) => feed);
  return old
    .filter(({ feed, acceptedAt }) => versions.get(feed)?.every(one => acceptedAt > one.acceptedAt) ?? true)
    .map(record => ({ record, change: changeOf('feed.update', record.feed, `version ${record.version}`) }));
}

/**
 * What was decided about versions that were held back, where nothing was since. What waits goes on waiting: the backup's
 * rejected names were approved in its place (2026-11-18). An approval may have been used by a check
 * that went well since. What a server said of the version that was in use then is left out: another one may be now.
 */
export function checksAgain(present: readonly FeedCheck[], old: readonly FeedCheck[]): Written<FeedCheck>[] {
  const byFeed = new Map(present.map(check => [check.feed, check]));
  return old.flatMap(({ approved: letIn, rejected, ...check }) => {
    const was = byFeed.get(check.feed);
    const approved = was?.problem === null ? null : letIn;
    if ((was?.approved ?? was?.rejected ?? null) !== null) return [];
    const open = was ?? { ...check, tag: null };
    const decided = new Set([...(approved ?? []), ...(rejected ?? [])]);
    const waiting = open.waiting?.filter(name => !decided.has(name)) ?? [];
    const record = { ...open, waiting: waiting.length > 0 ? waiting : null, approved, rejected };
    const told = (action: Change['action'], names: readonly string[] | null) =>
      names ? [{ record, change: changeOf(action, check.feed, names.slice(0, 20).join(', ')) }] : [];
    return [...told('feed.approve', approved), ...told('feed.reject', rejected)];
  });
}

/** Only those that are not there: no revoked token comes back to life. */
export function operatorsAgain(
  present: readonly OperatorRecord[],
  old: readonly OperatorRecord[],
): Written<OperatorRecord>[] {
  const names = new Set(present.map(({ name }) => name));
  return old
    .filter(({ name }) => !names.has(name))
    .map(record => ({ record, change: { action: 'operator.add', subject: record.name, detail: null } }));
}

/** Only those that are not there. */
export function addedAgain(present: readonly AddedFeed[], old: readonly AddedFeed[]): Written<AddedFeed>[] {
  const names = new Set(present.map(({ name }) => name));
  return old
    .filter(({ name }) => !names.has(name))
    .map(record => ({ record, change: changeOf('feed.add', record.name, addedInWords(record)) }));
}

/**
 * Own lists of here that are not those of the backup, though they are called so: removed since, and added again. Nothing
 * of the ones before is theirs: protected customers were at 100 as the names of a verified list (2026-11-18).
 */
export function otherLists(present: readonly AddedFeed[], old: readonly AddedFeed[]): Change[] {
  const byName = new Map(old.map(feed => [feed.name, feed]));
  return present
    .filter(feed => !isDeepStrictEqual(feed, byName.get(feed.name)))
    .map(({ name }) => {
      const was = byName.get(name);
      const told = was ? ` (${addedInWords(was)})` : '';
      const detail = `the list ${name} was added after the backup was made: nothing is taken over of the one that was called so then${told}`;
      return changeOf('store.restore', name, detail);
    });
}

/** All in one line. */
export function restoredInWords({ changes, rows, warnings }: Restored): string {
  const kinds = Map.groupBy(changes, ({ action }) => action);
  const words = [
    ...[...kinds].map(([action, ofKind]) => `${ofKind.length} × ${action}`),
    ...Object.entries(rows).map(([table, count]) => `${count} in ${table}`),
    ...(warnings.length > 0 ? [`${warnings.length} to look at`] : []),
  ];
  return words.join(', ') || 'nothing to change';
}
