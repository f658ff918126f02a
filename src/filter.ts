/** Confirmed names → a signed filter, from which clients tell them without a call. Made once for each state of things. */

import { createHash, createHmac, generateKeyPair, type KeyObject, sign } from 'node:crypto';
import { promisify } from 'node:util';
import { type Confirming, confirming } from './core/confirmed.ts';
import { fusing, numbering, withAbove } from './core/fuse.ts';
import type { NameList } from './core/names.ts';
import type { Clock, Store } from './core/ports.ts';
import { publicKeyOf, signingKeyOf } from './core/signing-key.ts';
import { STEP, type Steps } from './core/steps.ts';

export interface FilterFile {
  /** With its signature. */
  readonly bytes: Buffer;
  /** The same on every server that knows the same names and overrides. */
  readonly etag: string;
  readonly names: number;
}

export interface Filters {
  /** One is made at a time: whoever comes meanwhile waits for that, or with all others who need a newer one for the next. */
  current(): Promise<FilterFile>;
  /** 32 bytes in base64, by which clients know that it is ours. */
  publicKey(): Promise<string>;
}

type InTurns = <T>(steps: Steps<T>) => Promise<T>;

export interface FilterParts {
  readonly store: Pick<Store, 'signingKey'>;
  /** The same catalog and the same overrides until one of them changes. */
  readonly sources: () => Confirming;
  /** When an override of these ends next. */
  readonly nextEnd: (now: number) => number;
  /** Another after each change of keys and overrides, and after a restore. */
  readonly revision: () => number;
  readonly clock: Clock;
  /** `makeFilter`, here or in a thread of its own. */
  readonly make: (of: Confirming, now: number, secret: string) => Promise<FilterFile>;
}

/** Clients take none that is older than a week, and ask for one that was signed anew once a day. */
const RENEW_MS = 12 * 3_600_000;

interface Made {
  readonly of: Confirming;
  readonly since: number;
  readonly until: number;
  readonly secret: Promise<string>;
  readonly file: Promise<FilterFile>;
  /** The same, since it was found to be signed with the key of this revision; those who ask meanwhile wait for one look. */
  seen: { readonly revision: number; readonly file: Promise<FilterFile> };
}

export function createFilters({ store, sources, nextEnd, revision, clock, make }: FilterParts): Filters {
  let made: Made | undefined;
  /** Over when the one under way is made or has failed. */
  let making: Promise<void> | undefined;
  /** The one after it, for all who need another than that. */
  let next: Promise<FilterFile> | undefined;

  const keptSecret = secretIn(store);

  function current(): Promise<FilterFile> {
    const now = clock();
    const of = sources();
    const isSame = made?.of.catalog === of.catalog && made.of.overrides === of.overrides;
    if (made && isSame && made.since <= now && now < made.until) return seenIn(made, revision(), signedStill);
    if (!making) return begin(of, now);
    // Made of what stands when its turn comes, which is no older than what anybody who waits for it has seen.
    next ??= making.then(() => {
      next = undefined;
      return current();
    });
    return next;
  }

  /** The key is another where a backup was restored since. */
  async function signedStill(one: Made): Promise<FilterFile> {
    if ((await keptSecret()) === (await one.secret)) return one.file;
    if (made === one) made = undefined;
    return current();
  }

  function begin(of: Confirming, now: number): Promise<FilterFile> {
    const secret = keptSecret();
    const file = secret.then(key => make(of, now, key));
    const until = Math.min(now + RENEW_MS, nextEnd(now));
    made = { of, since: now, until, secret, file, seen: { revision: revision(), file } };
    making = file.then(
      () => {
        making = undefined;
      },
      () => {
        // The next one tries again.
        making = made = undefined;
      },
    );
    return file;
  }

  return {
    current,
    publicKey: async () => publicKeyOf(await keptSecret()),
  };
}

/**
 * Looked at once for each change, and not for each call behind it: 400 of one key had all connections to PostgreSQL wait,
 * and nobody else was answered (2026-11-18).
 */
function seenIn(one: Made, revision: number, look: (one: Made) => Promise<FilterFile>): Promise<FilterFile> {
  const was = one.seen;
  if (was.revision === revision) return was.file;
  const file = look(one);
  one.seen = { revision, file };
  file.catch(() => {
    one.seen = was;
  });
  return file;
}

/** Of ten million names it takes one to three minutes. */
export async function makeFilter(
  of: Confirming,
  now: number,
  secret: string,
  inTurns: InTurns,
): Promise<FilterFile> {
  // 7 ms and 5 MB that a start does without: most never make one.
  const { allSuffixes } = await import('./core/all-suffixes.ts');
  const { names, above, spared } = await inTurns(confirming(of, now, allSuffixes()));
  const sum = (await inTurns(summing(names))).slice(0, 22);
  const key = signingKeyOf(secret);
  const numbered = withAbove(await inTurns(numbering(names)), above);
  const { body, passed } = await inTurns(fusing(numbered, now, seedOf(key, sum), spared));
  // Of the same names with another seed it is another: an operator has allowed what the first one took for one of them.
  const etag = passed === 0 ? `"${sum}"` : `"${sum}-${passed}"`;
  return { bytes: Buffer.concat([body, sign(null, body, key)]), etag, names: names.length };
}

/** A name on each line. */
function* summing(names: NameList): Steps<string> {
  const sum = createHash('sha256');
  let some: string[] = [];
  let before = '';
  for (const name of names) {
    some.push(name);
    if (some.length < STEP) continue;
    sum.update(before + some.join('\n'));
    before = '\n';
    some = [];
    yield;
  }
  if (some.length > 0) sum.update(before + some.join('\n'));
  return sum.digest('base64url');
}

/**
 * The same on all servers, and foreseen by nobody else: whoever writes a list could otherwise choose names by which the
 * filter takes a certain company's for one of them.
 */
function seedOf(key: KeyObject, sum: string): number {
  const secret = key.export({ format: 'der', type: 'pkcs8' });
  return createHmac('sha256', secret).update(sum).digest().readUInt32LE();
}

/** The first one that was ever made: clients were given its other half. */
function secretIn(store: FilterParts['store']): () => Promise<string> {
  let ours: Promise<string> | undefined;
  return async () => {
    ours ??= newSecret();
    return store.signingKey(await ours);
  };
}

async function newSecret(): Promise<string> {
  const { privateKey } = await promisify(generateKeyPair)('ed25519');
  return privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64');
}
