/** What two sightings of one guest make together. */

import { BESIDE, type Guest } from './guest.ts';

/** As the stores do it with what they have (store/guests.ts). */
export function seenAgain(before: Guest, guest: Guest): Guest {
  return {
    ...guest,
    day: before.day > guest.day ? before.day : guest.day,
    sinceDay: before.sinceDay! < guest.sinceDay! ? before.sinceDay : guest.sinceDay,
    swept: before.swept === 0 && guest.swept === 1 ? 1 : before.swept,
    keys: guest.keys === null ? null : guest.keys | (before.keys ?? 0),
    via: viaOf(before.via, guest.via),
    registered: cameBy(before.registered, guest.registered),
  };
}

/** Names below a domain give way to the domain itself. */
function cameBy(before: string | null, now: string | null): string | null {
  if (before?.startsWith('*.')) return now;
  return now?.startsWith('*.') ? before : (before ?? now);
}

/** Once beside others it stays so: whoever frames a host may have been there alone for a day. */
function viaOf(before: string | null, now: string | null): string | null {
  if (before === null) return now;
  return now?.startsWith(BESIDE) && !before.startsWith(BESIDE) ? BESIDE + before : before;
}
