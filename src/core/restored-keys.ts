/** What becomes of keys when a backup is restored: limits go back, and of two secrets of a key the later one is valid. */

import { isDeepStrictEqual } from 'node:util';
import { changesIn, type KeyRecord, limitsIn, limitsOf } from './key.ts';
import { MOST_LABEL } from './label.ts';
import { toSecond } from './quota.ts';
import { type Change, changeOf, type Written } from './restored.ts';
import { hadBefore, mostFormer, type Secrets, secretsOf } from './rotation.ts';

type Keys = readonly KeyRecord[];

/**
 * After a disaster a new store begins with the first key that the settings name: a secret that the backup knows, as it is
 * or as one that was rotated away since, under another id. For each id of the backup the one here, of what is one key.
 */
export function oneKeys(present: Keys, old: Keys): Map<string, string> {
  const known = new Set(old.map(({ id }) => id));
  const here = new Map(present.map(key => [key.id, key]));
  const one = new Map<string, string>();
  for (const isOne of [hasSameSecret, isEarlierOrLater])
    for (const key of old.filter(({ id }) => !here.has(id) && !one.has(id))) {
      const same = [...here.values()].find(other => !known.has(other.id) && isOne(other, key));
      if (!same) continue;
      one.set(key.id, same.id);
      here.delete(same.id);
    }
  return one;
}

const hasSameSecret = (present: KeyRecord, old: KeyRecord) => present.digest === old.digest;

/** What was revoked on one side is not one with what was rotated on the other: who has the later secret keeps it. */
function isEarlierOrLater(present: KeyRecord, old: KeyRecord): boolean {
  if (hadBefore(old, present.digest)) return present.revokedAt === null;
  return hadBefore(present, old.digest) && old.revokedAt === null;
}

/** A revocation stays, on either side: what was taken away does not come back to life. */
function keyAgain(present: KeyRecord, old: KeyRecord): KeyRecord {
  return {
    ...present,
    ...limitsOf(old),
    ...secretsAgain(present, old),
    revokedAt: present.revokedAt ?? old.revokedAt,
  };
}

/** The backup has the later ones where it knows those of here as rotated away. Else those of here stay. */
function secretsAgain(present: KeyRecord, old: KeyRecord): Secrets {
  const isKnown = present.former !== null || old.former !== null;
  const former = isKnown ? mostFormer([...(old.former ?? []), ...(present.former ?? [])]) : null;
  if (hadBefore(old, present.digest)) return { ...secretsOf(old), former };
  const { previousDigest, previousUntil } = old;
  // An overlap of which a new store knows nothing, and not one that was ended here.
  const isMissed =
    present.digest === old.digest && previousDigest !== null && !hadBefore(present, previousDigest);
  return { ...secretsOf(present), ...(isMissed ? { previousDigest, previousUntil } : {}), former };
}

/** Without an old secret of which other keys, on the other side, say that it is no longer valid. */
function withoutEnded(key: KeyRecord, others: Keys, isEnded: (other: KeyRecord, digest: string) => boolean) {
  const { id, previousDigest } = key;
  if (previousDigest === null) return key;
  const ended = others.some(
    other =>
      other.id !== id &&
      (isEnded(other, previousDigest) || (other.digest === previousDigest && other.revokedAt !== null)),
  );
  if (!ended) return key;
  const former = mostFormer([...(key.former ?? []), previousDigest]);
  return { ...key, previousDigest: null, previousUntil: null, former };
}

/** Where both sides went on from one secret to two, only the backup's key may have that one, for as long as it says. */
const endedThere = hadBefore;
const endedHere = (present: KeyRecord, digest: string) =>
  hadBefore(present, digest) && present.previousDigest !== digest;

/** Of the backup the keys have the ids that they have here, where they are one (`oneKeys`). */
export function keysAgain(present: Keys, old: Keys): Written<KeyRecord>[] {
  const before = new Map(present.map(key => [key.id, key]));
  const known = new Set(old.map(({ id }) => id));
  const nameFor = namesFor(present, old);
  // First, since no two keys may have one old secret.
  const ended = present
    .filter(({ id }) => !known.has(id))
    .map(key => [key, withoutEnded(key, old, endedThere)] as const)
    .filter(([key, record]) => key !== record)
    .map(([key, record]) => ({ record, change: changeInKey(key, record) }));
  const again = old.flatMap(one => {
    const key = withoutEnded(one, present, endedHere);
    const was = before.get(key.id);
    if (!was) {
      const record = { ...key, name: nameFor(key) };
      return { record, change: changeOf('key.create', key.id, limitsIn(record)) };
    }
    const kept = keyAgain(was, key);
    const record = { ...kept, name: nameFor(kept, was) };
    return isDeepStrictEqual(record, was) ? [] : { record, change: changeInKey(was, record) };
  });
  return [...ended, ...again];
}

function changeInKey(was: KeyRecord, is: KeyRecord): Change {
  if (is.revokedAt !== was.revokedAt) return changeOf('key.revoke', is.id, `name ${JSON.stringify(is.name)}`);
  const isRotated = is.digest !== was.digest || is.previousDigest !== was.previousDigest;
  const detail = [...secretsInWords(was, is), changesIn(was, is)].filter(words => words !== '');
  return changeOf(isRotated ? 'key.rotate' : 'key.update', is.id, detail.join(', '));
}

function secretsInWords(was: KeyRecord, is: KeyRecord): string[] {
  const { previousUntil } = is;
  const isOther = is.digest !== was.digest;
  const overlap = previousUntil === null ? 'ends' : `is valid until ${toSecond(previousUntil)}`;
  if (isOther)
    return [`secret ${shown(was)} → ${shown(is)} (rotated before the backup)`, `the old secret ${overlap}`];
  if (previousUntil !== was.previousUntil) return [`the old secret ${overlap}`];
  return isDeepStrictEqual(is.former, was.former) ? [] : [`old secrets known: ${is.former?.length}`];
}

const shown = ({ prefix, last4 }: KeyRecord) => `${prefix}…${last4}`;

/**
 * What neither side can tell: of a rotation without an overlap, by a version that did not note former secrets, nothing is
 * left. `first` are the ids of keys that the first start of a store made.
 */
export function doubtsAbout(present: Keys, old: Keys, first: ReadonlySet<string>): Change[] {
  const byId = new Map(old.map(key => [key.id, key]));
  return present
    .filter(({ revokedAt }) => revokedAt === null)
    .flatMap(key => {
      const { id, name, digest, former } = key;
      const then = byId.get(id);
      if (!then) {
        const isUnknown = first.has(id) && former === null && old.length > 0;
        return isUnknown ? changeOf('store.restore', id, unknownFirst(key)) : [];
      }
      const isTold = then.digest === digest || hadBefore(then, digest) || hadBefore(key, then.digest);
      if (isTold || then.revokedAt !== null) return [];
      const told = `the key ${JSON.stringify(name)} keeps its secret ${shown(key)}; ${shown(then)}, which it has in the backup, is not valid`;
      return changeOf('store.restore', id, told);
    });
}

const unknownFirst = (key: KeyRecord) =>
  `the key ${JSON.stringify(key.name)} was made at the first start, of a secret (${shown(key)}) that the backup does not know: if FIRST_KEY or FIRST_KEY_FILE still names one that was rotated away, it is valid again; end it with "domain-risk keys revoke ${key.id}"`;

/** No key gets the name of another that is not revoked: one that has a name keeps it, one that had none gets a new one. */
function namesFor(present: readonly KeyRecord[], old: readonly KeyRecord[]) {
  const live = Map.groupBy(
    present.filter(({ revokedAt }) => revokedAt === null),
    ({ name }) => name,
  );
  const names = new Set([...live.keys(), ...old.map(({ name }) => name)]);
  function free(name: string, tries = 1): string {
    const other = `${name.slice(0, LONGEST_BEGIN)} (restored${tries > 1 ? ` ${tries}` : ''})`;
    if (names.has(other)) return free(name, tries + 1);
    names.add(other);
    return other;
  }
  return ({ id, name, revokedAt }: KeyRecord, was?: KeyRecord): string => {
    const isTaken = revokedAt === null && live.get(name)?.some(other => other.id !== id);
    return isTaken && name !== was?.name ? (was?.name ?? free(name)) : name;
  };
}

/** So that the whole is no longer than a name may be. */
const LONGEST_BEGIN = MOST_LABEL - ' (restored 99)'.length;
