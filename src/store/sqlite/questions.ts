/** What a server asks of the embedded store: which of its threads does what, and how long it may take. */

import type { HostRecord } from '../../core/guest.ts';
import type { Store } from '../../core/ports.ts';
import { OVERRIDE } from '../columns.ts';
import { gathering } from '../gather.ts';
import { fromBytes, fromLines } from '../lines.ts';
import type { SqliteRow } from '../table.ts';
import { within } from '../wait.ts';
import { type Asking, NO_DEADLINE } from './asking.ts';
import type { Records } from './connection.ts';

export type Ask = Asking<Records>['ask'];

/** For a list of hosts: of 10,000 with 19 guests each it takes 1.3 s (2026-11-16), and a service must start with those too. */
const HOSTS_MS = 60_000;

/** 100,000 take 60 ms, and on a machine with ten times too much to do a second: nobody is answered without them. */
const OVERRIDES_MS = 10_000;

/** A page of keys takes 20 ms, and stands behind other bulk work, page after page. */
const KEYS_MS = 10_000;

/** A rare key among a million decisions: each is looked at, which takes a fraction of this. */
const DECISIONS_MS = 10_000;

/** Keys, their use, overrides and operators: what a call may have to wait for, but for lists of all keys' calls. */
export function records(direct: Ask, bulk: Ask, deadlineMs: number) {
  return {
    revision: () => direct('revision', []),
    keyByDigest: gathering(
      async (digests: readonly string[]) => {
        const { keys, revision } = await direct('keysByDigest', [digests]);
        return keys.map(key => ({ key, revision }));
      },
      answer => within(deadlineMs, 'the store', answer),
    ),
    used: (keyId, month) => direct('used', [keyId, month]),
    usageDays: (sinceDay, keyId) => direct('usageDays', [sinceDay, keyId]),
    createKey: (key, act, isNameUnique = false) => direct('createKey', [key, act, isNameUnique]),
    createFirstKey: (key, act) => direct('createFirstKey', [key, act]),
    updateKey: (key, was, act) => direct('updateKey', [key, was, act]),
    endingKeys: query => bulk('endingKeys', [query]),
    keyById: id => direct('keyById', [id]),
    keysNamed: name => direct('keysNamed', [name]),
    keyIdsOf: idOrName => direct('keyIdsOf', [idOrName]),
    keyNames: ids => direct('keyNames', [ids]),
    readKeys: async query => fromBytes(await bulk('readKeys', [query], KEYS_MS)),
    listKeys: () => direct('listKeys', []),
    setOverride: (override, act) => direct('setOverride', [override, act]),
    setOverrides: (overrides, was, act, more = []) =>
      direct('setOverrides', [overrides, was, act, more], NO_DEADLINE),
    removeOverride: (domain, act) => direct('removeOverride', [domain, act]),
    readOverrides: async known =>
      markedOverrides(await direct('readOverrides', [known], OVERRIDES_MS), known),
    changedOverrides: known => direct('changedOverrides', [known]),
    async listOverrides() {
      const { overrides = [], revision } = markedOverrides(
        await bulk('readOverrides', [undefined], OVERRIDES_MS),
        undefined,
      );
      return { overrides, revision };
    },
    addOperator: (operator, act) => direct('addOperator', [operator, act]),
    revokeOperator: (name, at, act) => direct('revokeOperator', [name, at, act]),
    // Callers ask for it with every page of changes, which may not wait behind what operators read.
    changesMark: () => direct('changesMark', []),
    // A token that was revoked ends, however long bulk work takes.
    listOperators: () => direct('listOperators', []),
  } satisfies Partial<Store>;
}

/** The first line says what the others are: rows, each made an override when it is asked for. */
function markedOverrides(bytes: Uint8Array, known: string | undefined) {
  const lines = fromBytes<unknown>(bytes)[Symbol.iterator]();
  const head = lines.next().value as { readonly revision: number; readonly mark: string };
  const overrides = lines.map(row => OVERRIDE.sqlite.record(row as SqliteRow));
  return { ...head, overrides: head.mark === known ? undefined : overrides };
}

/** Old rows go with what comes, in one question after the other, and those of others between them. */
function forgetting(bulk: Ask) {
  return {
    async flag(flags, sinceDay) {
      await bulk('flag', [flags], NO_DEADLINE);
      while (await bulk('forgetFlags', [sinceDay], NO_DEADLINE));
    },
    async learn(...page) {
      const gone = await bulk('learn', page, NO_DEADLINE);
      while (await bulk('forgetGuests', [gone, page[2]], NO_DEADLINE));
    },
    async swapChangesMark(mark, ...more) {
      const swapped = await bulk('swapChangesMark', [mark, ...more], NO_DEADLINE);
      while (swapped && (await bulk('forgetChanges', [mark.floor], NO_DEADLINE)));
      return swapped;
    },
  } satisfies Partial<Store>;
}

/** Flags, hosts, snapshots and the audit: bulk work. */
export function bulkWork(bulk: Ask) {
  const readHosts = async (fewestFlagged: number, most: number): Promise<Iterable<HostRecord>> =>
    fromBytes(await bulk('readHosts', [fewestFlagged, most], HOSTS_MS));
  return {
    ...forgetting(bulk),
    ranking: async (sinceDay, most, reason) => fromLines(await bulk('ranking', [sinceDay, most, reason])),
    listHosts: async (fewestFlagged, most) => [...(await readHosts(fewestFlagged, most))],
    readHosts,
    sharedNames: () => bulk('sharedNames', [], HOSTS_MS),
    established: today => bulk('established', [today], HOSTS_MS),
    keepWhereabouts: (kept, sinceDay) => bulk('keepWhereabouts', [kept, sinceDay], NO_DEADLINE),
    whereabouts: async sinceDay => fromBytes(await bulk('whereabouts', [sinceDay], HOSTS_MS)),
    forgetHost: (name, at, act) => bulk('forgetHost', [name, at, act]),
    lastGuestDay: () => bulk('lastGuestDay', [], NO_DEADLINE),
    sweepMark: () => bulk('sweepMark', [], NO_DEADLINE),
    markSweep: mark => bulk('markSweep', [mark], NO_DEADLINE),
    snapshots: () => bulk('snapshots', []),
    snapshot: (...args) => bulk('snapshot', args, NO_DEADLINE),
    acceptSnapshot: (snapshot, was, act, where = {}) =>
      bulk('acceptSnapshot', [snapshot, was, act, where], NO_DEADLINE),
    pastSnapshots: () => bulk('pastSnapshots', []),
    swapSnapshot: (feed, to, was, act) => bulk('swapSnapshot', [feed, to, was, act], NO_DEADLINE),
    recordAct: act => bulk('recordAct', [act]),
    audit: most => bulk('audit', [most]),
    signingKey: candidate => bulk('signingKey', [candidate], NO_DEADLINE),
    showSign: sign => bulk('showSign', [sign], NO_DEADLINE),
    removeSign: id => bulk('removeSign', [id]),
    listServers: () => bulk('listServers', []),
    feedChecks: () => bulk('feedChecks', []),
    addedFeeds: () => bulk('addedFeeds', []),
    addFeed: (feed, most, act) => bulk('addFeed', [feed, most, act]),
    removeFeed: (name, act) => bulk('removeFeed', [name, act], NO_DEADLINE),
    noteCheck: (check, was, act) => bulk('noteCheck', [check, was, act], NO_DEADLINE),
    keepAsked: (asked, sinceDay) => bulk('keepAsked', [asked, sinceDay], NO_DEADLINE),
    askedNames: () => bulk('askedNames', [], NO_DEADLINE),
    writeChanges: (...args) => bulk('writeChanges', args, NO_DEADLINE),
    changesAfter: async (id, most) => JSON.parse(await bulk('changesAfter', [id, most])),
    changesBefore: at => bulk('changesBefore', [at]),
    addTraffic: (slots, now) => bulk('addTraffic', [slots, now], NO_DEADLINE),
    traffic: (span, from) => bulk('traffic', [span, from]),
    writeDecisions: (decisions, now, keptMs) => bulk('writeDecisions', [decisions, now, keptMs], NO_DEADLINE),
    decisions: async query => JSON.parse(await bulk('decisions', [query], DECISIONS_MS)),
    addVerdicts: (verdicts, sinceDay) => bulk('addVerdicts', [verdicts, sinceDay], NO_DEADLINE),
    verdictsSince: (day, keyIds) => bulk('verdictsSince', [day, keyIds], KEYS_MS),
    raiseEvent: (event, since) => bulk('raiseEvent', [event, since], NO_DEADLINE),
    lease: name => bulk('lease', [name], NO_DEADLINE),
    // All who share the file are on one machine.
    moment: async () => Date.now(),
    swapLease: (lease, was) => bulk('swapLease', [lease, was], NO_DEADLINE),
  } satisfies Partial<Store>;
}
