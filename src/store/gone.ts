/** Where listed domains no longer are, in statements that both stores make alike. */

import type { SeenListed } from '../core/guest.ts';

/** A listed domain that was seen, by the places that a store has for it. */
interface SeenAt {
  readonly registered: string;
  readonly day: string;
  readonly monthAgo: string;
  /** A month before, in terms of `earned_by`. */
  readonly earnedBy: string;
  /** Whether the host of a guest is where it was seen. */
  readonly isThere: string;
}

/**
 * For `WHERE`: guests that a listed domain, by the name `registered` seen on `day`, is no longer; those that were so for a
 * month stay, and were listed for as long. Days before it was listed cost nobody any mail: with three of them, and one
 * day's mail, a service in use had the customers of any hoster flagged (2026-11-18). Once for each time that one goes.
 */
export const isGone = ({ registered, day, monthAgo, earnedBy, isThere }: SeenAt) =>
  `NOT ${isThere} AND coalesce(guest.registered = ${registered}, true) AND guest.day <= ${day} AND (entry IS NULL OR since_day > ${monthAgo} OR guest.earned_by > ${earnedBy}) AND coalesce(elsewhere_day, '') < guest.day`;

/** In one text, each between spaces. */
export const placesIn = ({ at }: SeenListed): string => ` ${at.join(' ')} `;
