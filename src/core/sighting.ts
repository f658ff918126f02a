/** One sighting of a domain, by a caller or a sweep, and the guest that it makes of the domain. */

import type { Catalog } from './catalog.ts';
import { type Day, dayText } from './days.ts';
import { type Domain, registrableDomain } from './domain.ts';
import { type Guest, markOf, REVIVED_DAYS, UPDATE_LAG_DAYS, WEEK_DAYS } from './guest.ts';
import type { Mail } from './mail.ts';
import { dayOf } from './quota.ts';
import type { SweptNames } from './swept.ts';

const DAY_MS = 86_400_000;
/** Some list changes every day. */
const FRESH_DAYS = 2;

export interface ListedAs {
  /** The name that stands in a feed. */
  readonly entry: string;
  /** By two families of feeds. */
  readonly corroborated: boolean;
  /** The day of the first list that names it; 0 where nobody knows. */
  readonly since: Day;
}

/** Found by a sweep. What the first one finds was there before anybody could know of this service. */
export interface Sweeping {
  readonly isFirst: boolean;
}

export interface Sighting {
  readonly domain: Domain;
  readonly zone: string;
  /** Null when no list names it. */
  readonly listed: ListedAs | null;
  /** Of the key; nought for a sweep, and where the name is unlisted: which key asked for that is nobody's business. */
  readonly mark: number;
  readonly sweeping: Sweeping | undefined;
}

/** A sighting, with the mail that was known then. */
export interface Seen extends Sighting {
  readonly by: string;
  readonly mail: Mail;
  readonly tries: number;
}

/** `by`: a key, or a sweep. */
export function sightingOf(
  domain: Domain,
  zone: string,
  listed: ListedAs | null,
  by: string | Sweeping,
): Sighting {
  const mark = listed === null || typeof by !== 'string' ? 0 : markOf(by);
  return { domain, zone, listed, mark, sweeping: typeof by === 'string' ? undefined : by };
}

/** By the very name: by its domain, whoever asks first for another name below it would hide it for a day. */
export const onceOf = ({ domain, mark }: Sighting) => (mark === 0 ? domain : `${domain} ${mark}`);

export function guestOf(
  { domain, zone, listed, mark, sweeping }: Sighting,
  swept: SweptNames,
  catalog: Catalog,
  now: number,
): Omit<Guest, 'host'> {
  const wasDead = listed !== null && swept.wasDead(listed.entry);
  const registered = registrableDomain(domain) ?? zone;
  const daysOff = wasDead ? REVIVED_DAYS : sweeping?.isFirst ? -WEEK_DAYS : 0;
  return {
    domain: listed && !isWhole(zone, listed) ? `*.${zone}` : zone,
    entry: listed?.entry ?? null,
    day: dayOf(now),
    sinceDay: dayOf(now + DAY_MS * daysOff),
    days: 1,
    swept: sweeping ? 1 : listed === null && areFresh(catalog, now) ? 2 : 0,
    keys: listed && mark,
    corroborated: listed?.corroborated ?? null,
    earnedBy: listed && dayText(Math.max(0, listed.since - UPDATE_LAG_DAYS)),
    earned: false,
    via: null,
    elsewhereDay: null,
    beforeListed: null,
    registered: registered !== zone ? registered : listed || domain === zone ? null : `*.${zone}`,
  };
}

/**
 * Whether a list names all that one party registered. Names below a suffix are strangers' of each other: a listed one
 * must not have since when, and how, another was seen unlisted.
 */
function isWhole(zone: string, { entry }: ListedAs): boolean {
  return entry === zone && registrableDomain(zone) === zone;
}

/** Whether updates go on: what lists do not name that were left alone may stand in them since weeks. */
function areFresh({ status }: Catalog, now: number): boolean {
  return status.some(
    ({ feed, updatedAt }) => feed.kind === 'disposable' && now - (updatedAt ?? 0) <= FRESH_DAYS * DAY_MS,
  );
}
