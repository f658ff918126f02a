/** Guests of mail hosts as a first sweep finds them: settled, and named by two families of feeds where they are listed. */

import type { Guest, GuestGroup } from '../../src/core/guest.ts';

export function guestOf(facts: Pick<Guest, 'host' | 'domain' | 'entry' | 'day'> & Partial<Guest>): Guest {
  const listed = facts.entry !== null;
  return {
    sinceDay: '2026-01-01',
    days: 1,
    swept: true,
    keys: listed ? 0 : null,
    corroborated: listed ? true : null,
    earned: false,
    ...facts,
  };
}

export function groupOfGuests(count: number, facts: Partial<GuestGroup> = {}): GuestGroup {
  return {
    listed: true,
    corroborated: true,
    earned: false,
    swept: true,
    keys: 0,
    sinceDay: '2026-01-01',
    days: 1,
    count,
    ...facts,
  };
}
