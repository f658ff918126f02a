/** Guests of mail hosts that weigh as much as they can: settled, and where listed, named by two families of feeds and asked for by four keys. */

import type { Catalog } from '../../src/core/catalog.ts';
import {
  type Guest,
  type GuestGroup,
  type HostRecord,
  type JudgedHost,
  STAYING_DAYS,
} from '../../src/core/guest.ts';
import { isEnough, learnableSum } from '../../src/core/learnable.ts';
import { relisting } from '../../src/core/relist.ts';
import { allAtOnce } from '../../src/core/steps.ts';

export function guestOf(facts: Pick<Guest, 'host' | 'domain' | 'entry' | 'day'> & Partial<Guest>): Guest {
  const listed = facts.entry !== null;
  return {
    sinceDay: '2026-01-01',
    days: listed ? STAYING_DAYS : 1,
    swept: 2,
    keys: listed ? 0b1111 : null,
    corroborated: listed ? true : null,
    earnedBy: listed ? '2026-01-01' : null,
    earned: false,
    via: null,
    elsewhereDay: null,
    beforeListed: null,
    registered: null,
    ...facts,
  };
}

/** What lists name, as a catalog of the test has to know them: by two families, or by one. */
const LISTED = { corroborated: 'burner.com', single: 'broad-host.net' };

/** So many entries, of some names in turn. */
export function entriesOf(count: number, names: readonly string[]): string {
  return Array.from({ length: count }, (_, at) => names[at % names.length]).join(' ');
}

export function groupOfGuests(count: number, facts: Partial<GuestGroup> = {}): GuestGroup {
  const { listed = true, corroborated = true } = facts;
  const name = LISTED[corroborated ? 'corroborated' : 'single'];
  return {
    listed: true,
    corroborated: true,
    earned: false,
    swept: 2,
    keys: 0b1111,
    sinceDay: '2026-01-01',
    lastDay: '2026-11-15',
    days: listed ? STAYING_DAYS : 1,
    via: '',
    count,
    entries: listed ? entriesOf(count, [name]) : '',
    ...facts,
  };
}

/** As today's lists know its guests. */
export const relisted = (host: HostRecord, catalog: Catalog): JudgedHost =>
  allAtOnce(relisting(host, catalog));

export const isLearned = (host: HostRecord, catalog: Catalog, today: string): boolean =>
  isEnough(learnableSum(relisted(host, catalog), catalog, today), host.name);
