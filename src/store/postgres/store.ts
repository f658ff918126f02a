/** The shared store: one PostgreSQL database for any number of servers. */

import { type Clock, type Store, StoreUnavailable } from '../../core/ports.ts';
import type { OnFormChange } from '../form.ts';
import { provedOnce } from '../proof.ts';
import { StoreRefused } from '../refused.ts';
import { createAddedFeeds } from './added-feeds.ts';
import { createAudit } from './audit.ts';
import { bringUpToDate, hasTables } from './change.ts';
import { createChanges } from './changes.ts';
import { type Connections, DEADLINE_MS, openConnections, STARTING_MS } from './connect.ts';
import { COMMITS_AT_ONCE, createCounting, SHORT_LOCK_MS } from './counting.ts';
import { createDecisions } from './decisions.ts';
import { createEvents } from './events.ts';
import { createFeedChecks } from './feed-checks.ts';
import { createFlags } from './flags.ts';
import { createHosts } from './hosts.ts';
import { createKeyNames } from './key-names.ts';
import { createKeyUses } from './key-uses.ts';
import { createKeyReads, createKeys } from './keys.ts';
import { createLeases } from './leases.ts';
import { createVerdicts } from './mix.ts';
import { withConnection } from './open.ts';
import { createOperators } from './operators.ts';
import { createOverrides } from './overrides.ts';
import { createRevisions } from './revision.ts';
import { checkRights } from './rights.ts';
import { checkServer } from './schema.ts';
import { createServers } from './servers.ts';
import { SCHEMA } from './session.ts';
import { createSigning } from './signing.ts';
import { createSnapshots } from './snapshots.ts';
import { prove } from './spender.ts';
import { createTraffic } from './traffic.ts';
import { createUsage } from './usage.ts';
import { createWhereabouts } from './whereabouts.ts';

/** Beside these: one to read the keys of calls, all that wait at once. */
const CALL_CONNECTIONS = COMMITS_AT_ONCE + 1;
/**
 * As many as commits are open before a call needs them: connecting takes some ways there and back, and where one takes 0.2 s
 * all first calls after a quiet minute were 500 (2026-11-19). Used sooner than the pool closes them, and a firewall forgets.
 */
const WARM_MS = 30_000;
/** Connecting may take as long at the most. With a minute, two that had died silently were held for it, and soon the third. */
const WARMING_MS = 4_000;
/** For keys whose rows somebody holds: opened when there is one. */
const PATIENT_CONNECTIONS = 1;
/** For all the rest. Ten connections per server in all; no listing ever keeps a call from being counted. */
const RECORD_CONNECTIONS = 6;
/** A worker has its share of these, and never waits behind one long listing. */
const FEWEST_RECORD_CONNECTIONS = 2;
/** Calls near a month's end would be counted in the wrong month. */
const MOST_SKEW_MS = 2_000;

const WHERE = '--host=HOST --username=USER';
const PASSWORD =
  '(with the password in ~/.pgpass or PGPASSWORD: others on this machine can see what is typed)';

export async function restoreThere(): Promise<never> {
  throw new StoreRefused(
    'this store is PostgreSQL, which has its own restore',
    `stop all servers, then pg_restore --clean --if-exists ${WHERE} --dbname=DATABASE backup.dump ${PASSWORD}`,
  );
}

/** PostgreSQL has its own. */
const NO_COPIES: Pick<Store, 'backup' | 'isOwnBackup' | 'compareBackup' | 'restore'> = {
  async backup() {
    throw new StoreRefused(
      'this store is PostgreSQL, which has its own backup',
      `pg_dump --format=custom --schema=${SCHEMA} --file=backup.dump ${WHERE} DATABASE ${PASSWORD}`,
    );
  },
  isOwnBackup: async () => false,
  compareBackup: restoreThere,
  restore: restoreThere,
};

/** What needs neither the count nor the clock. */
function recordsOn(records: Connections) {
  const revisions = createRevisions(records);
  return {
    ...createKeys(records, revisions),
    ...createKeyNames(records),
    ...createKeyUses(records),
    ...createUsage(records),
    ...createOverrides(records, revisions),
    ...createSnapshots(records),
    ...createAudit(records),
    ...createSigning(records),
    ...createServers(records),
    ...createLeases(records),
    ...createFeedChecks(records),
    ...createAddedFeeds(records),
    ...createOperators(records, revisions),
    ...createChanges(records),
    ...createEvents(records),
  };
}

/** A look at a database, perhaps at a wrong one, makes nothing there. */
export const isPostgresStore = (url: string): Promise<boolean> => withConnection(url, hasTables);

function noStoreAt(url: string): StoreRefused {
  const { host, pathname } = new URL(url);
  return new StoreRefused(
    `there is no store: postgres://${host}${pathname} has no tables of this program`,
    'set DATABASE_URL to the database that holds it, or start the service to make one',
  );
}

/** Opens the database at `url`, or throws StoreRefused with a message that names the fix. */
export async function openPostgresStore(
  url: string,
  clock: Clock = Date.now,
  onFormChange: OnFormChange = () => {},
  workers = 1,
  mayMake = true,
): Promise<Store> {
  await withConnection(url, async session => {
    await checkServer(session);
    if (!mayMake && !(await hasTables(session))) throw noStoreAt(url);
    await bringUpToDate(session, onFormChange);
    await checkRights(session);
  });
  const counters = openConnections(url, CALL_CONNECTIONS, { lockMs: SHORT_LOCK_MS });
  const patient = openConnections(url, PATIENT_CONNECTIONS);
  /** Until it is first asked whether it is ready: that ends a start. */
  let isStarting = true;
  const records = openConnections(
    url,
    Math.max(FEWEST_RECORD_CONNECTIONS, Math.floor(RECORD_CONNECTIONS / workers)),
    { usualMs: () => (isStarting ? STARTING_MS : DEADLINE_MS) },
  );
  let closing: Promise<void> | undefined;
  let isClockRight = true;
  let warming: NodeJS.Timeout | undefined;

  async function proveAndCompareClocks(): Promise<void> {
    isStarting = false;
    const before = clock();
    const theirs = await counters.run(prove);
    const after = clock();
    if (!closing) warming ??= keepWarm(counters);
    // The answer may have been on its way for a while: what counts is by how much it cannot be right.
    const skew = theirs < before ? before - theirs : Math.max(0, theirs - after);
    isClockRight = skew <= MOST_SKEW_MS;
    if (!isClockRight)
      throw new StoreUnavailable(`this machine's clock is ${Math.round(skew)} ms off the database's`);
  }

  return {
    ...recordsOn(records),
    ...createKeyReads(counters),
    ...agingOn(records, () => isClockRight),
    ...createCounting(counters, patient),
    ready: provedOnce(proveAndCompareClocks),
    ...NO_COPIES,
    close() {
      clearInterval(warming);
      closing ??= Promise.all([counters.close(), patient.close(), records.close()]).then(() => {});
      return closing;
    },
  };
}

/** All at once, so that each is another. Whatever goes wrong is for calls to tell. */
function keepWarm(counters: Connections): NodeJS.Timeout {
  const warm = () => {
    for (let count = 0; count < COMMITS_AT_ONCE; count++)
      counters.run(session => session.query('SELECT 1'), WARMING_MS).catch(() => {});
  };
  warm();
  return setInterval(warm, WARM_MS).unref();
}

/** What goes with its age. By a wrong clock nothing is too old to be kept. */
function agingOn(records: Connections, isClockRight: () => boolean) {
  const flags = createFlags(records);
  const hosts = createHosts(records);
  const traffic = createTraffic(records);
  const decided = createDecisions(records);
  const verdicts = createVerdicts(records);
  const placed = createWhereabouts(records);
  const keptSince = (day: string) => (isClockRight() ? day : '');
  return {
    ...flags,
    ...hosts,
    ...traffic,
    ...decided,
    ...verdicts,
    ...placed,
    writeDecisions: (decisions, now, keptMs) =>
      decided.writeDecisions(decisions, now, isClockRight() ? keptMs : now),
    flag: (given, sinceDay) => flags.flag(given, keptSince(sinceDay)),
    learn: (guests, shared, day, sinceDay, listed) =>
      hosts.learn(guests, shared, day, keptSince(sinceDay), listed),
    keepWhereabouts: (given, sinceDay) => placed.keepWhereabouts(given, keptSince(sinceDay)),
    addVerdicts: (given, sinceDay) => verdicts.addVerdicts(given, keptSince(sinceDay)),
    addTraffic: (slots, now) => traffic.addTraffic(slots, isClockRight() ? now : 0),
  } satisfies Partial<Store>;
}
