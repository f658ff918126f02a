/** What an operator may do, from the command line and over HTTP alike. Each act is audited with its change. */

import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { type Act, type Actor, actOf } from './core/audit.ts';
import {
  changesIn,
  digestOf,
  type KeyRecord,
  type Limits,
  limitsIn,
  NO_LIMITS,
  namedOf,
  secretFrom,
  shownParts,
} from './core/key.ts';
import { BEFORE_ALL_KEYS, KEYS_AT_ONCE, type KeyMark, type KeyUses } from './core/key-store.ts';
import { type Override, overrideInWords } from './core/override.ts';
import type { Clock, Store } from './core/ports.ts';
import type { Problem } from './core/problem.ts';
import { lastDays, monthOf, WINDOW_DAYS } from './core/quota.ts';
import { endedBy, type Rotation, rotation, rotationInWords } from './core/rotation.ts';
import { type ActsOnFeeds, actsOnFeeds } from './operate/feeds.ts';
import { type ActsOnHosts, actsOnHosts } from './operate/hosts.ts';
import { type ActsOfImport, actsOfImport } from './operate/imports.ts';

export type { Problem };
export interface MadeKey {
  readonly key: KeyRecord;
  /** Shown once, kept nowhere. */
  readonly secret: string;
  /** Of a rotation that ended an overlap: until when that would have run. */
  readonly ended?: number | null;
}

export interface KeyUse extends Omit<KeyUses, 'days'> {
  /** On each of the last `WINDOW_DAYS` days, today last. */
  readonly days: readonly number[];
}

type WantedKey = Partial<Limits> & Pick<Limits, 'name'>;

export interface Operate extends ActsOnFeeds, ActsOnHosts, ActsOfImport {
  /** No two keys that are not revoked get the same name, or one that differs in case only. */
  createKey(limits: WantedKey, actor: Actor): Promise<MadeKey | Problem>;
  /** Nothing where there is a key already. */
  createFirstKey(name: string, actor: Actor, secret?: string): Promise<MadeKey | undefined>;
  /** By id, or by name where only one key that is not revoked has it, or else one that differs in case only. */
  findKey(idOrName: string): Promise<KeyRecord | Problem>;
  /** So many, the oldest first, from behind one on: as they are read from the store, some at a time. */
  listKeys(most?: number, after?: KeyMark): AsyncGenerator<KeyUse[]>;
  usedBy(key: KeyRecord): Promise<number>;
  /** What is not named stays as it is. */
  updateKey(id: string, limits: Partial<Limits>, actor: Actor): Promise<KeyRecord | Problem>;
  rotateKey(id: string, wanted: Rotation, actor: Actor): Promise<MadeKey | Problem>;
  revokeKey(id: string, actor: Actor): Promise<KeyRecord | Problem>;

  setOverride(override: Omit<Override, 'createdAt'>, actor: Actor): Promise<Override>;
  removeOverride(domain: string, actor: Actor): Promise<Problem | undefined>;
}

/** Of an act that others get in the way of. */
const MOST_TRIES = 20;

export const newSecret = (): string => secretFrom(randomBytes(32));

export function newKey(limits: WantedKey, now: number, secret = newSecret()): MadeKey {
  const key: KeyRecord = {
    id: `key_${randomBytes(8).toString('hex')}`,
    digest: digestOf(secret),
    ...shownParts(secret),
    previousDigest: null,
    previousUntil: null,
    former: null,
    ...NO_LIMITS,
    ...limits,
    createdAt: now,
    revokedAt: null,
  };
  return { key, secret };
}

interface Parts {
  readonly store: Store;
  readonly clock: Clock;
}

export function createOperate(parts: Parts): Operate {
  return {
    ...{ ...keysKept(parts), ...actsOnKeys(parts), ...actsOnOverrides(parts), ...actsOnHosts(parts) },
    ...actsOnFeeds(parts),
    ...actsOfImport(parts),
  };
}

function keysKept({ store, clock }: Parts): Pick<Operate, 'findKey' | 'listKeys' | 'usedBy'> {
  return {
    async findKey(idOrName) {
      const byId = await store.keyById(idOrName);
      if (byId) return byId;
      const byName = namedOf(await store.keysNamed(idOrName), idOrName);
      if (byName.length > 1) return problem('ambiguous', 'several keys have this name: use the id');
      return byName[0] ?? NO_SUCH_KEY;
    },

    async *listKeys(most = Number.POSITIVE_INFINITY, after = BEFORE_ALL_KEYS) {
      const now = clock();
      const days = lastDays(now, WINDOW_DAYS);
      const asked = { month: monthOf(now).name, sinceDay: days[0]! };
      for (let left = most, mark = after; left > 0; ) {
        const read = await store.readKeys({ ...asked, after: mark, most: Math.min(left, KEYS_AT_ONCE) });
        const page = Array.from(read, one => ({ ...one, days: days.map(day => one.days[day] ?? 0) }));
        if (page.length > 0) yield page;
        if (page.length < KEYS_AT_ONCE) return;
        mark = page.at(-1)!.key;
        left -= page.length;
      }
    },

    usedBy: key => store.used(key.id, monthOf(clock()).name),
  };
}

type ActsOnKeys = Pick<Operate, 'createKey' | 'createFirstKey' | 'updateKey' | 'rotateKey' | 'revokeKey'>;

function actsOnKeys({ store, clock }: Parts): ActsOnKeys {
  const creation = (key: KeyRecord, actor: Actor) =>
    actOf(clock(), 'key.create', key.id, actor, limitsIn(key));

  return {
    async createKey(limits, actor) {
      const made = newKey(limits, clock());
      if (await store.createKey(made.key, creation(made.key, actor), true)) return made;
      const [double] = await store.keysNamed(limits.name);
      return taken(double?.name ?? limits.name);
    },

    async createFirstKey(name, actor, secret) {
      const made = newKey({ name }, clock(), secret);
      return (await store.createFirstKey(made.key, creation(made.key, actor))) ? made : undefined;
    },

    updateKey: (id, limits, actor) =>
      change(
        store,
        id,
        () => limits,
        (key, changed) => actOf(clock(), 'key.update', id, actor, changesIn(key, changed)),
      ),

    async rotateKey(id, wanted, actor) {
      const now = clock();
      const { key: fresh, secret } = newKey({ name: id }, now);
      let ended: number | null = null;
      const key = await change(
        store,
        id,
        before => rotation(before, fresh, wanted, now),
        (before, after) => {
          ended = endedBy(before, now);
          return actOf(clock(), 'key.rotate', id, actor, rotationInWords(before, after, now));
        },
      );
      return 'problem' in key ? key : { key, secret, ended };
    },

    revokeKey: (id, actor) =>
      change(
        store,
        id,
        () => ({ revokedAt: clock() }),
        ({ name }) => actOf(clock(), 'key.revoke', id, actor, `name ${JSON.stringify(name)}`),
      ),
  };
}

/** Optimistic concurrency: who finds the key changed between reading and writing begins again from what stands. */
async function change(
  store: Store,
  id: string,
  edit: (key: KeyRecord) => Partial<KeyRecord> | Problem,
  actFor: (key: KeyRecord, changed: KeyRecord) => Act,
): Promise<KeyRecord | Problem> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const key = await store.keyById(id);
    if (!key) return NO_SUCH_KEY;
    if (key.revokedAt !== null)
      return problem('revoked', `the key ${key.id} is revoked, which cannot be undone: create a new one`);
    const edited = edit(key);
    if ('problem' in edited) return edited;
    const changed = { ...key, ...edited };
    if (isDeepStrictEqual(changed, key)) return key;
    if (await store.updateKey(changed, key, actFor(key, changed))) return changed;
    // A key that has its name since before keeps it.
    const alike = changed.name === key.name ? [] : await store.keysNamed(changed.name);
    const double = alike.find(one => one.id !== id);
    if (double) return taken(double.name);
  }
  return problem('contended', 'others change this key all the time, and nothing was changed here: try again');
}

const taken = (name: string) =>
  problem('taken', `there is a key named ${JSON.stringify(name)} already: choose another name`);

/**
 * Each change of an override has the calls that are being counted judged anew, and all overrides read: beside 2,000 in a
 * second one call of twenty was answered, and some with 500; beside 100 more than half (2026-11-18). Many are imported.
 */
const APART_MS = 10;

function actsOnOverrides({ store, clock }: Parts): Pick<Operate, 'setOverride' | 'removeOverride'> {
  let turn: Promise<void> = Promise.resolve();
  const nextTurn = (): Promise<void> => {
    const mine = turn;
    turn = mine.then(() => pause(APART_MS));
    return mine;
  };
  return {
    async setOverride(wanted, actor) {
      await nextTurn();
      const override = { ...wanted, createdAt: clock() };
      const act = actOf(clock(), 'override.set', override.domain, actor, overrideInWords(override));
      await store.setOverride(override, act);
      return override;
    },

    async removeOverride(domain, actor) {
      await nextTurn();
      const removed = await store.removeOverride(domain, actOf(clock(), 'override.remove', domain, actor));
      return removed ? undefined : problem('not_found', `there is no override for ${domain}`);
    },
  };
}

function problem(kind: Problem['problem'], detail: string): Problem {
  return { problem: kind, detail };
}

const NO_SUCH_KEY = problem('not_found', 'there is no such key');
