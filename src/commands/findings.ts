/** What the doctor says of disk, descriptors, lists and backups, from what it has seen of them. */

import type { BackupRecord } from '../backup-record.ts';
import { checkedBy, type FeedCheck, freshnessOf } from '../core/freshness.ts';
import { toSecond } from '../core/quota.ts';

export interface Finding {
  readonly check: string;
  readonly state: 'ok' | 'warning' | 'failed';
  readonly detail: string;
  /** What to do; null where nothing is to be done. */
  readonly fix: string | null;
}

export const ok = (check: string, detail: string): Finding => ({ check, state: 'ok', detail, fix: null });
export const warning = (check: string, detail: string, fix: string): Finding => ({
  ...{ check, state: 'warning', detail, fix },
});
export const failed = (check: string, detail: string, fix: string): Finding => ({
  ...{ check, state: 'failed', detail, fix },
});

const FIX_FEEDS =
  'run "domain-risk feeds update": it says why; a server does it by itself unless FEEDS_UPDATE is off';

/** `used`: ids of the lists that updates fetch here. */
export function feedsFinding(checks: readonly FeedCheck[], used: readonly string[], now: number): Finding {
  const ofUsed = checks.filter(({ feed }) => used.includes(feed));
  const { status, checkedAt, failing } = freshnessOf(ofUsed, now);
  if (checkedAt === null) return warning('feeds', 'as installed, none was ever fetched', FIX_FEEDS);
  const detail = `${used.length} lists, last checked ${toSecond(checkedAt)}`;
  const fetched = new Set(ofUsed.filter(check => checkedBy(now, check) !== null).map(({ feed }) => feed));
  const never = used.filter(id => !fetched.has(id));
  const wrong = [
    ...(never.length > 0 ? [`never fetched: ${never.join(', ')}`] : []),
    ...(failing.length > 0 ? [`failing: ${failing.join(', ')}`] : []),
  ];
  if (wrong.length > 0) return warning('feeds', `${detail}; ${wrong.join('; ')}`, FIX_FEEDS);
  return status === 'stale' ? warning('feeds', detail, FIX_FEEDS) : ok('feeds', detail);
}

/** Places for 5,000 who have no key: where there are more of them, everybody's new connection waits (docs/edge.md). */
const FEW_DESCRIPTORS = 8_192;

export function descriptorsFinding(most: number): Finding {
  const detail = `${most} may be open`;
  if (most >= FEW_DESCRIPTORS) return ok('descriptors', detail);
  return warning(
    'descriptors',
    detail,
    `raise the limit to ${FEW_DESCRIPTORS} or more (ulimit -n, LimitNOFILE of systemd): each connection takes one`,
  );
}

/** A store of many guests has 400 MB, and each copy before a change takes as much again. */
const LOW_BYTES = 2 ** 30;
const LEAST_BYTES = 64 * 2 ** 20;

export function diskFinding(folder: string, free: number): Finding {
  const detail = `${Math.floor(free / 2 ** 20)} MiB free in ${folder}`;
  if (free < LEAST_BYTES)
    return failed('disk', detail, 'free some space: calls fail when nothing can be counted');
  return free < LOW_BYTES ? warning('disk', detail, 'free some space soon') : ok('disk', detail);
}

const FIX_BACKUPS =
  '"domain-risk audit" has backup.fail with the reason; "domain-risk backup FILE" makes one now';

/** `lastGood`: when the last one was due, 0 where there is none; a text where the folder cannot be read. `known`: what the store has of it. */
export function backupsFinding(
  { folder, everyMs }: { readonly folder: string; readonly everyMs: number },
  lastGood: number | string,
  known: Pick<BackupRecord, 'slot' | 'problem'>,
  now: number,
): Finding {
  if (typeof lastGood === 'string')
    return failed(
      'backups',
      `${folder}: ${lastGood}`,
      'see that its disk is there and may be read and written',
    );
  const detail =
    lastGood === 0
      ? `none of this store in ${folder}`
      : `the last one in ${folder} is of ${toSecond(lastGood)}`;
  const { slot, problem } = known;
  if (problem !== null) return failed('backups', `${detail}; the last try failed: ${problem}`, FIX_BACKUPS);
  if (lastGood === 0 && slot > 0)
    return failed(
      'backups',
      `${detail}, though the one of ${toSecond(slot)} was made there`,
      'see that its disk is mounted',
    );
  if (lastGood === 0) return warning('backups', detail, 'a running server makes the first one');
  return now - lastGood > 2 * everyMs ? failed('backups', detail, FIX_BACKUPS) : ok('backups', detail);
}
