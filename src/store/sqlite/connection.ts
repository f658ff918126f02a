/** One connection to the embedded store, and all that is done over it, in whatever thread. */

import { openSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { OnFormChange } from '../form.ts';
import { type AddedFeeds, createAddedFeeds } from './added-feeds.ts';
import { type Audit, createAudit } from './audit.ts';
import { copyingBefore } from './before.ts';
import { type Changes, createChanges } from './changes.ts';
import { createDecisions, type Decisions } from './decisions.ts';
import { createEvents, type Events } from './events.ts';
import { createFeedChecks, type FeedChecks } from './feed-checks.ts';
import { createFlags, type Flags } from './flags.ts';
import { guardFile } from './guard.ts';
import { createHosts, type Hosts } from './hosts.ts';
import { enterUse, type Use } from './in-use.ts';
import { createKeyNames, type KeyNames } from './key-names.ts';
import { createKeyUses, type PagedKeys } from './key-uses.ts';
import { createKeys, type Keys } from './keys.ts';
import { createLeases, type Leases } from './leases.ts';
import { createVerdicts, type KeptVerdicts } from './mix.ts';
import { refuseOtherNames } from './one-name.ts';
import { openDatabase, openFirst, prepareFolder } from './open.ts';
import { createOperators, type Operators } from './operators.ts';
import { createOverrides, type Overrides } from './overrides.ts';
import { realOf, setStrangersAside } from './pair.ts';
import { createRestore, type Restore } from './restore.ts';
import { createRevisions, type Revisions } from './revision.ts';
import { createServers, type Servers } from './servers.ts';
import { createSigning, type Signing } from './signing.ts';
import { createSnapshots, type Snapshots } from './snapshots.ts';
import { createSpender, type Spender } from './spender.ts';
import { createTraffic, type TrafficSlots } from './traffic.ts';
import { createUsage, type Usage } from './usage.ts';
import { createWhereabouts, type KeptWhereabouts } from './whereabouts.ts';

interface Closing {
  close(): void;
}

export interface Counter extends Closing, Spender {}

export interface Records
  extends Closing,
    Pick<Revisions, 'revision'>,
    Keys,
    KeyNames,
    PagedKeys,
    Usage,
    Overrides,
    Flags,
    Hosts,
    Snapshots,
    Audit,
    Signing,
    Servers,
    Leases,
    FeedChecks,
    AddedFeeds,
    Operators,
    Changes,
    TrafficSlots,
    Decisions,
    KeptVerdicts,
    Events,
    KeptWhereabouts,
    Restore {}

/** What it does, what is looked at before and behind each work, and a descriptor of the file for further ones. */
export interface Connection<T> {
  readonly ops: T;
  before(): void;
  behind(): void;
  readonly file: number;
}

/**
 * Looks the file over and changes its tables where they have to, which takes seconds for a large one. `isServed`: by a
 * server, which goes on with the file that is there, whatever was there before.
 */
export function connectFirst(
  path: string,
  isServed: boolean,
  onFormChange: OnFormChange,
): Connection<Records> {
  let use: Use | undefined;
  try {
    const real = realOf(path);
    prepareFolder(dirname(real));
    refuseOtherNames(real);
    use = enterUse(real);
    const change = setStrangersAside(path, use, isServed);
    if (change) onFormChange(change);
    const db = openFirst(path, copyingBefore(path, onFormChange));
    // Not closed with the thread: as in heads.ts.
    return recordsOn(db, path, openSync(path, 'r'), use);
  } catch (error) {
    use?.end();
    throw error;
  }
}

/** `file`: the descriptor that the first one has opened. */
export function connectRecords(path: string, file: number): Connection<Records> {
  return recordsOn(openDatabase(path), path, file);
}

/** `use`: of the first one, which is the last one to leave. */
function recordsOn(db: DatabaseSync, path: string, file: number, use?: Use): Connection<Records> {
  const guard = guardFile(path, file, use !== undefined);
  const close = () => {
    guard.close(db);
    use?.end();
  };
  return { ops: { ...nounsOn(db), close }, before: guard.checkNowAndThen, behind: guard.check, file };
}

export function connectCounter(path: string, file: number): Connection<Counter> {
  const db = openDatabase(path);
  const guard = guardFile(path, file, false);
  const close = () => guard.close(db);
  const ops = { ...createSpender(db), close };
  return { ops, before: guard.checkNowAndThen, behind: guard.checkFile, file };
}

function nounsOn(db: DatabaseSync): Omit<Records, 'close'> {
  const revisions = createRevisions(db);
  return {
    revision: revisions.revision,
    ...createKeys(db, revisions),
    ...createKeyNames(db),
    ...createKeyUses(db),
    ...createUsage(db),
    ...createOverrides(db, revisions),
    ...createFlags(db),
    ...createHosts(db),
    ...createSnapshots(db),
    ...createAudit(db),
    ...createSigning(db),
    ...createServers(db),
    ...createLeases(db),
    ...createFeedChecks(db),
    ...createAddedFeeds(db),
    ...createOperators(db, revisions),
    ...createChanges(db),
    ...createTraffic(db),
    ...createDecisions(db),
    ...createVerdicts(db),
    ...createEvents(db),
    ...createWhereabouts(db),
    ...createRestore(db, revisions),
  };
}
