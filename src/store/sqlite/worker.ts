/** A thread that owns one connection to the embedded store, so that no lock and no fsync stops the event loop. */

import { randomInt } from 'node:crypto';
import { openSync } from 'node:fs';
import { backup, DatabaseSync } from 'node:sqlite';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { FormChange, SetAside } from '../form.ts';
import { StoreRefused } from '../refused.ts';
import { type AddedFeeds, createAddedFeeds } from './added-feeds.ts';
import type { Answer, Newcomer, Question } from './asking.ts';
import { type Audit, createAudit } from './audit.ts';
import { copyingBefore } from './before.ts';
import { type Changes, createChanges } from './changes.ts';
import { createDecisions, type Decisions } from './decisions.ts';
import { createEvents, type Events } from './events.ts';
import { createFeedChecks, type FeedChecks } from './feed-checks.ts';
import { createFlags, type Flags } from './flags.ts';
import { guardFile } from './guard.ts';
import { createHosts, type Hosts } from './hosts.ts';
import { createKeys, type Keys } from './keys.ts';
import { createLeases, type Leases } from './leases.ts';
import { LOCK_WAIT_MS } from './lock.ts';
import { createVerdicts, type KeptVerdicts } from './mix.ts';
import { openDatabase, openFirst } from './open.ts';
import { createOperators, type Operators } from './operators.ts';
import { createOverrides, type Overrides } from './overrides.ts';
import { isCopyOf, isWholeCopy } from './own-copy.ts';
import { setStrangersAside } from './pair.ts';
import { createRestore, type Restore } from './restore.ts';
import { createRevisions, type Revisions } from './revision.ts';
import { createServers, type Servers } from './servers.ts';
import { failureOf, SharedCommits } from './shared-commits.ts';
import { createSigning, type Signing } from './signing.ts';
import { createSnapshots, type Snapshots } from './snapshots.ts';
import { createSpender, type Spender } from './spender.ts';
import { createTraffic, type TrafficSlots } from './traffic.ts';
import { createUsage, type Usage } from './usage.ts';
import { createWhereabouts, type KeptWhereabouts } from './whereabouts.ts';

export interface WorkerData {
  readonly path: string;
  /** The counter counts calls and does nothing else, a copier makes copies; one of records does all the rest. */
  readonly role: 'counter' | 'records' | 'copier';
  /** It looks the file over and changes its tables where they have to: seconds for a large one. */
  readonly isFirst: boolean;
  /** A descriptor of the file, which the first one has opened. */
  readonly file?: number;
}

export type Reply =
  | { readonly isUp: true; readonly file: number | undefined }
  | { readonly change: FormChange | SetAside }
  | { readonly refused: Pick<StoreRefused, 'problem' | 'fix'> }
  | { readonly failed: Error }
  | Answer;

interface Connection {
  close(): void;
}

export interface Counter extends Connection, Spender {}

export interface Records
  extends Connection,
    Pick<Revisions, 'revision'>,
    Keys,
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

export interface Copier extends Connection {
  backup(path: string): Promise<void>;
  /** Reads every page of a copy: what cannot be read back is none. */
  isWholeCopy(path: string): boolean;
  isOwnCopy(path: string): boolean;
}

const port = parentPort!;
const { path, role, isFirst, file } = workerData as WorkerData;
const tell = (reply: Reply, to = port) => to.postMessage(reply, handedOver(reply));
/** The question that is being worked at, and who has asked it. */
let current = { id: 0, from: port };

/** Bytes are not copied: whoever made them has no more use for them. */
function handedOver(reply: Reply): ArrayBuffer[] {
  const value = 'value' in reply ? reply.value : undefined;
  return value instanceof Uint8Array && value.buffer instanceof ArrayBuffer ? [value.buffer] : [];
}

/** Nothing where the start is refused. It is told in words: on the way an error loses its kind. */
function open(): DatabaseSync | undefined {
  if (!isFirst) return openDatabase(path);
  try {
    const change = setStrangersAside(path);
    if (change) tell({ change });
    return openFirst(
      path,
      copyingBefore(path, change => tell({ change })),
    );
  } catch (error) {
    if (error instanceof StoreRefused) tell({ refused: { problem: error.problem, fix: error.fix } });
    else tell({ failed: error as Error });
    return undefined;
  }
}

function recordsOn(db: DatabaseSync): Omit<Records, 'close'> {
  const revisions = createRevisions(db);
  return {
    revision: revisions.revision,
    ...createKeys(db, revisions),
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

/** On a disk that may not answer; it has no connection of its own in between. */
const COPIER: Copier = {
  backup: backUp,
  isWholeCopy,
  isOwnCopy: copy => isCopyOf(path, copy),
  close() {},
};

/**
 * From a connection of its own that stays in one read transaction: SQLite's online backup starts anew whenever another
 * connection has written, and beside a busy server it would never end.
 */
async function backUp(target: string): Promise<void> {
  const { id, from } = current;
  const source = new DatabaseSync(path, { readOnly: true, timeout: LOCK_WAIT_MS });
  try {
    source.exec('BEGIN; SELECT value FROM revision');
    await backup(source, target, {
      progress: ({ totalPages, remainingPages }) =>
        tell({ id, done: totalPages - remainingPages, total: totalPages }, from),
    });
  } finally {
    source.close();
  }
  markCopy(target);
}

/** By which it can be told from the store, should it be put in its place while that is in use: as in heads.ts. */
function markCopy(path: string): void {
  const copy = new DatabaseSync(path, { defensive: false });
  try {
    copy.exec(`PRAGMA schema_version = ${randomInt(1, 2 ** 30)}`);
  } finally {
    copy.close();
  }
}

function serve(db: DatabaseSync): void {
  // Not closed with the thread: as in heads.ts.
  const opened = file ?? openSync(path, 'r');
  const guard = guardFile(path, opened, isFirst);
  const close = () => guard.close(db);
  const before = guard.checkNowAndThen;
  if (role !== 'counter')
    return answerWith({ ...recordsOn(db), close }, { before, behind: guard.check, opened });
  const spender = createSpender(db);
  answerWith({ ...spender, close }, { before, behind: before, opened }, spender);
}

/** What is looked at before and behind each work, and the descriptor of the file that others are to have. */
interface Watch {
  before(): void;
  behind(): void;
  readonly opened?: number;
}

const NOTHING_WATCHED: Watch = { before() {}, behind() {} };

function answerWith(ops: Counter | Records | Copier, watch: Watch, spender?: Spender): void {
  async function answer({ id, op, args }: Question, from: MessagePort): Promise<void> {
    current = { id, from };
    try {
      if (op !== 'close') watch.before();
      const value = await (ops[op as keyof typeof ops] as (...args: readonly unknown[]) => unknown)(...args);
      if (op !== 'close') watch.behind();
      tell({ id, value }, from);
    } catch (error) {
      tell(failureOf(id, error), from);
    }
  }

  const spend: Spender['spend'] = groups => {
    watch.before();
    const results = spender!.spend(groups);
    watch.behind();
    return results;
  };
  const commits = spender && new SharedCommits(spend, tell);
  port.on('message', (message: Question | Newcomer) => {
    if (!('newcomer' in message)) return void answer(message, port);
    const { newcomer } = message;
    newcomer.on('message', (question: Question) => {
      if (commits && question.op === 'spend') commits.add(question, newcomer);
      else void answer(question, newcomer);
    });
  });
  tell({ isUp: true, file: watch.opened });
}

if (role === 'copier') answerWith(COPIER, NOTHING_WATCHED);
else {
  const db = open();
  if (db) serve(db);
}
