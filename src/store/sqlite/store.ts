/** The embedded store: one SQLite file, written in group commits from a worker thread. */

import { existsSync } from 'node:fs';
import type { Store } from '../../core/ports.ts';
import { Batcher } from '../batch.ts';
import type { OnFormChange } from '../form.ts';
import { fromLines } from '../lines.ts';
import { provedOnce } from '../proof.ts';
import { copyBeforeChange } from './before.ts';
import { createCopies } from './copies.ts';
import { examine, openDatabase } from './open.ts';
import { DEADLINE_MS, LateThread, NO_DEADLINE, Thread } from './thread.ts';
import type { Clerk, Counter } from './worker.ts';

type Ask = Thread<Clerk>['ask'];

/** Opens the file at `path`, or throws StoreRefused with a message that names the fix. */
export async function openSqliteStore(
  path: string,
  onDeath: (error: Error) => void,
  onFormChange: OnFormChange = () => {},
): Promise<Store> {
  if (existsSync(path)) {
    examine(path);
    copyBeforeChange(path, onFormChange);
  }
  const db = openDatabase(path);
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  db.close();
  const clerk = new Thread<Clerk>({ path, role: 'clerk' }, onDeath);
  const counter = new LateThread<Counter>(() => new Thread({ path, role: 'counter' }, onDeath));
  // Bulk work goes to a thread of its own: a call that needs its key read never waits behind it.
  const archivist = new LateThread<Clerk>(() => new Thread({ path, role: 'clerk' }, onDeath));
  const batcher = new Batcher({
    count: (groups, ms) => counter.ask('spend', [groups], ms),
    lanes: 1,
    deadlineMs: DEADLINE_MS,
  });
  await clerk.up;
  const askClerk: Ask = (...asked) => clerk.ask(...asked);
  let closing: Promise<void> | undefined;

  return {
    spend: (spend, revision) => batcher.spend(spend, revision),
    ready: provedOnce(() => counter.ask('prove', [])),
    ...records(askClerk, archivist.ask),
    ...archives(archivist.ask),
    ...createCopies(path, archivist.ask),
    close() {
      // One after the other: the last one out empties the journal, and two at once each take the other for it.
      closing ??= counter
        .stop()
        .then(() => clerk.stop())
        .then(() => archivist.stop());
      return closing;
    },
  };
}

/** Keys, their use and overrides: what a call may have to wait for, but for lists of all keys' calls. */
function records(clerk: Ask, archive: Ask) {
  return {
    revision: () => clerk('revision', []),
    keyByDigest: digest => clerk('keyByDigest', [digest]),
    used: (keyId, month) => clerk('used', [keyId, month]),
    usedInMonth: month => archive('usedInMonth', [month]),
    usageDays: (sinceDay, keyId) => (keyId === undefined ? archive : clerk)('usageDays', [sinceDay, keyId]),
    createKey: (key, act) => clerk('createKey', [key, act]),
    createFirstKey: (key, act) => clerk('createFirstKey', [key, act]),
    updateKey: (key, was, act) => clerk('updateKey', [key, was, act]),
    listKeys: () => clerk('listKeys', []),
    setOverride: (override, act) => clerk('setOverride', [override, act]),
    removeOverride: (domain, act) => clerk('removeOverride', [domain, act]),
    listOverrides: () => clerk('listOverrides', []),
  } satisfies Partial<Store>;
}

/** Flags, hosts, snapshots and the audit: bulk work. */
function archives(archive: Ask) {
  return {
    flag: (flags, sinceDay) => archive('flag', [flags, sinceDay], NO_DEADLINE),
    ranking: async (sinceDay, most, reason) => fromLines(await archive('ranking', [sinceDay, most, reason])),
    learn: (guests, shared, day, sinceDay) => archive('learn', [guests, shared, day, sinceDay], NO_DEADLINE),
    listHosts: (fewestFlagged, most) => archive('listHosts', [fewestFlagged, most]),
    forgetHost: (name, at, act) => archive('forgetHost', [name, at, act]),
    sweepMark: () => archive('sweepMark', []),
    markSweep: mark => archive('markSweep', [mark]),
    snapshots: () => archive('snapshots', []),
    snapshot: feed => archive('snapshot', [feed], NO_DEADLINE),
    acceptSnapshot: (snapshot, was, act) => archive('acceptSnapshot', [snapshot, was, act], NO_DEADLINE),
    removeSnapshot: (feed, act) => archive('removeSnapshot', [feed, act], NO_DEADLINE),
    audit: most => archive('audit', [most]),
  } satisfies Partial<Store>;
}
