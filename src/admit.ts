/** Key → origin → rate → quota. A call gets an Admission, counted durably, or a Refusal without effect. */

import { Meters, type MetersParts } from './admit/meters.ts';
import { Spending, type SpendingParts } from './admit/spending.ts';
import {
  type Admission,
  type Credentials,
  keyRefusal,
  letIn,
  type OpenedKey,
  openKey,
  type Passed,
  remembered,
  rowOf,
  secretOf,
  turnedAway,
} from './core/door.ts';
import {
  bearerSecret,
  digestOf,
  isLive,
  isWellFormedSecret,
  type KeyRecord,
  MOST_REMEMBERED,
} from './core/key.ts';
import { lru } from './core/lru.ts';
import { originAllowed } from './core/origin.ts';
import type { Clock, Store, Ticks, Waiter } from './core/ports.ts';
import { lastDays } from './core/quota.ts';
import { type Refusal, refuse } from './core/refusal.ts';

export interface Admit {
  /** Counts the call, with all its names. Rejects with StoreUnavailable when the count cannot be confirmed. */
  spend(caller: Credentials, waiter: Waiter<Passed>, names?: number): void;
  /** Why it would not be let in, before there is anything to count. Whom it lets in may still be refused then. */
  refusal(caller: Credentials): Promise<Refusal | undefined>;
  /**
   * The id of the key by which a call waits to be counted, where that is known from before, would let it in and has so many
   * names left, as far as is remembered. Asks nobody.
   */
  waiting(caller: Credentials, names: number): string | undefined;
  /** So many calls of this key, or of any, were counted and have yet to be answered that no more should be let in. */
  isBehind(keyId?: string): boolean;
  /** The same door without counting: for what a key may ask about itself. */
  enter(caller: Credentials): Promise<Admission | Refusal>;
  /**
   * In which row calls with this Authorization header wait, where their key is known from before and would let them in
   * from that address (undefined: who it really is stands in the header of a proxy) and origin: the key of a web page is
   * no secret, and whoever is refused with it is a stranger. Asks nobody.
   */
  known(
    authorization: string,
    address: string | undefined,
    origin: () => string | undefined,
  ): string | undefined;
  /** What was counted on each of the last so many days in UTC, the oldest first, today last. */
  days(key: KeyRecord, count: number): Promise<DayCount[]>;
}

export interface DayCount {
  readonly day: string;
  readonly count: number;
}

interface AdmitParts extends Omit<MetersParts, 'ticks'> {
  readonly ticks?: Ticks | undefined;
}

export function createAdmit(parts: AdmitParts): Admit {
  const { store, clock, ticks = () => performance.now(), buckets } = parts;
  const { peek, recall, inspect } = createKeyring(store, clock);
  const meters = new Meters({ store, clock, ticks, buckets });

  async function open(caller: Credentials, known: typeof recall): Promise<OpenedKey | Refusal> {
    const secret = secretOf(caller);
    if (secret === undefined) return refuse('unauthorized');
    const digest = remembered(caller, secret);
    const passed = known(digest, caller) ?? (await inspect(secret, digest, caller));
    if ('refused' in passed) return turnedAway(caller, passed);
    letIn(caller, digest, passed.key);
    return passed;
  }

  const spending: SpendingParts = { store, clock, recall, inspect, meters };

  return {
    spend(caller, waiter, names = 1) {
      const secret = secretOf(caller);
      if (secret === undefined) return waiter.resolve(refuse('unauthorized'));
      new Spending(spending, { caller, secret, digest: remembered(caller, secret), names }, waiter).begin();
    },

    async refusal(caller) {
      const passed = await open(caller, () => undefined);
      return 'refused' in passed ? passed : undefined;
    },

    isBehind: keyId => store.isBehind(keyId),

    waiting(caller, names) {
      const secret = secretOf(caller);
      const known = secret === undefined ? undefined : recall(remembered(caller, secret), caller);
      return known && !meters.lacks(known.key, names) ? known.key.id : undefined;
    },

    async enter(caller) {
      const passed = await open(caller, () => undefined);
      if ('refused' in passed) return passed;
      return { ...passed, allowance: await meters.readAllowance(passed.key) };
    },

    known(authorization, address, origin) {
      const secret = bearerSecret(authorization);
      const digest = secret === undefined ? undefined : digestOf(secret);
      const cached = digest && peek(digest);
      // A secret that opens nothing any more must not fill the row of whoever has the new one.
      if (!cached || !isLive(cached.key, digest, clock())) return undefined;
      const { key, inNetwork } = cached;
      if (address !== undefined && key.networks.length > 0 && !inNetwork(address)) return undefined;
      if (key.origins.length > 0 && !originAllowed(key.origins, origin() ?? '')) return undefined;
      return rowOf(key, address);
    },

    days: (key, count) => countDays(store, key, lastDays(clock(), count)),
  };
}

/** Key records as they were read last. */
function createKeyring(store: Store, clock: Clock) {
  const keys = lru<OpenedKey>(MOST_REMEMBERED);

  async function read(digest: string): Promise<OpenedKey | undefined> {
    const { key, revision } = await store.keyByDigest(digest);
    if (!key) {
      keys.delete(digest);
      return undefined;
    }
    const cached = openKey(key, revision);
    keys.set(digest, cached);
    return cached;
  }

  /** A cached record may admit, because the spend proves its revision; it may never refuse: that needs a fresh one. */
  function recall(digest: string, caller: Credentials): OpenedKey | undefined {
    const known = keys.get(digest);
    return known && keyRefusal(known, digest, caller, clock()) === undefined ? known : undefined;
  }

  async function inspect(secret: string, digest: string, caller: Credentials): Promise<OpenedKey | Refusal> {
    if (!isWellFormedSecret(secret)) return refuse('unauthorized');
    const cached = await read(digest);
    if (!cached) return refuse('unauthorized');
    return keyRefusal(cached, digest, caller, clock()) ?? cached;
  }

  return { peek: (digest: string) => keys.peek(digest), recall, inspect };
}

async function countDays(store: Store, key: KeyRecord, days: readonly string[]): Promise<DayCount[]> {
  const used = new Map((await store.usageDays(days[0]!, key.id)).map(one => [one.day, one.used]));
  return days.map(day => ({ day, count: used.get(day) ?? 0 }));
}
