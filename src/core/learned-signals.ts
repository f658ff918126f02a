/** What a verdict says of mail hosts that were learned: which signal, and why. */

import { LEARNING } from './guest.ts';
import type { Learned, LearnedBy } from './learned.ts';
import type { SignalName } from './signals.ts';

export const learnedSignal = ({ by, isFew, isResident }: Learned): SignalName =>
  isResident ? 'earlier_guest' : isFew ? 'few_listed_guests' : LEARNED_SIGNALS[by];
export const learnedDetail = (learned: Learned): string =>
  `${LEARNED_DETAILS[learned.by](learned)}${learned.isResident ? EARLIER + WHY_EARLIER[learned.by] : ''}`;

const EARLIER = ', but this domain has been seen there for a month or more, and ';
const NOT_ENOUGH = 'the surest of them are not enough';
const WHY_EARLIER: Readonly<Record<LearnedBy, string>> = {
  name: NOT_ENOUGH,
  address: NOT_ENOUGH,
  listed: 'two families of lists have not named that as long',
  siblings: 'fewer than four keys have asked for these as long',
};

const LEARNED_SIGNALS: Readonly<Record<LearnedBy, SignalName>> = {
  name: 'learned_hosts',
  listed: 'listed_exchange',
  address: 'learned_addresses',
  siblings: 'listed_siblings',
};

const LEARNED_DETAILS: Readonly<Record<LearnedBy, (learned: Learned) => string>> = {
  name: learned =>
    `${someOf(learned.hosts)}${learned.below ? ` (all mail hosts below ${learned.below})` : ''} ${alsoReceives(learned)}`,
  address: learned => `the address of ${someOf(learned.hosts)} ${alsoReceives(learned)}`,
  listed: ({ hosts, neighbours }) =>
    `${someOf(hosts)}: ${neighbours.join(', ')} ${neighbours.length > 1 ? 'are listed disposable domains' : 'is a listed disposable domain'}`,
  siblings: ({ hosts, listedGuests, neighbours }) =>
    `${listedGuests} names below ${hosts[0]} are listed disposable domains (${neighbours.join(', ')})`,
};

const someOf = (hosts: readonly string[]) => hosts.slice(0, 3).join(', ');

function alsoReceives({ listedGuests, neighbours, sum, enough }: Learned): string {
  const count = listedGuests < LEARNING.mostGuests ? listedGuests : `${listedGuests} or more`;
  const weight = `weighed ${(sum ?? 0).toFixed(1)}, enough from ${enough}`;
  return `also receives mail for ${count} listed disposable domains (${neighbours.join(', ')} …; ${weight})`;
}
