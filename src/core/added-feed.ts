/** A list of the operator's own, beside those that the service knows: kept in the store, and updated with the others. */

import { bad, type Checked, good } from './checked.ts';
import type { Feed, FeedKind } from './feed.ts';

export const ADDED_KINDS = [
  'disposable',
  'free',
  'relay',
  'popular',
  'protected',
] as const satisfies FeedKind[];
export const FORMATS = ['lines', 'json', 'csv'] as const;
export type Format = (typeof FORMATS)[number];

export interface AddedFeed {
  readonly name: string;
  /** An address, or the absolute path of a file. An address may have a secret in its query: it is shown without. */
  readonly place: string;
  readonly kind: (typeof ADDED_KINDS)[number];
  readonly format: Format;
  /** Every name of it was looked at, so that it alone is enough; otherwise another family must name a domain too. */
  readonly verified: boolean;
  /** Milliseconds since the epoch. */
  readonly addedAt: number;
}

/** Each update fetches them all, one after the other. */
export const MOST_ADDED = 50;

const NAME = /^[a-z][a-z0-9-]{0,39}$/;

export function parseFeedName(text: string): Checked<string> {
  return NAME.test(text)
    ? good(text)
    : bad('must be 1 to 40 lower-case letters, digits and hyphens, with a letter first');
}

/** The place as anybody may see it. */
export function shownPlace(place: string): string {
  if (!URL.canParse(place)) return place;
  const { origin, pathname, protocol } = new URL(place);
  return protocol === 'https:' || protocol === 'http:' ? origin + pathname : place;
}

/** How long it should be nobody knows. */
export function feedOf({ name, place, kind, verified }: AddedFeed): Feed {
  const family = verified ? 'verified' : 'broad';
  return { id: name, kind, family, licence: 'own', origin: shownPlace(place), atLeast: 1, isOwn: true };
}

export function addedInWords({ place, kind, format, verified }: AddedFeed): string {
  return `${kind}${verified ? ', verified' : ''}, ${format} from ${shownPlace(place)}`;
}
