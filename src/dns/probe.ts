/** Asks one server what is known beforehand: that some names receive mail and have addresses, and that one which nobody has does not exist. */

import { randomInt } from 'node:crypto';
import { startDeadline } from './deadline.ts';
import { type Found, find, isReceiving, publicAddresses } from './finding.ts';
import type { Server } from './settings.ts';
import { type Carried, carry } from './transport.ts';
import type { QuestionType } from './wire.ts';

/** What a server gives for a name that does not exist. */
export type Invented = 'nothing' | 'addresses' | 'mx';

export interface Listener {
  /** A sentinel was said to receive mail, or denied. Silence and refusals say neither, and are not told. */
  said(name: string, gave: boolean): void;
  /** The same of its address: a server that keeps addresses back (BIND's filter-a) may be truthful about mail servers. */
  addressed(name: string, gave: boolean): void;
  invented(what: Invented): void;
  /** Of how many sentinels mail servers and addresses are still to be heard, and whether the other name is, after each that was. */
  left(sentinels: number, addresses: number, other: boolean): void;
}

export interface Probe {
  cancel(): void;
}

/** Within the budget of a lookup, since the first denial after the start waits for it. */
export const PROBE_MS = 1_500;

const LETTERS = 20;
/** What the name that nobody has is asked for: portals of IPv6 networks give an AAAA only. */
const OTHERS = ['MX', 'A', 'AAAA'] as const;

function randomName(): string {
  return `${Array.from({ length: LETTERS }, () => String.fromCharCode(97 + randomInt(26))).join('')}.com`;
}

/** Two questions for each sentinel and three for the other name, all at once, each sent once and over TCP where needed. */
export function probe(server: Server, sentinels: readonly string[], listener: Listener): Probe {
  const other = randomName();
  const open = new Set<Carried>();
  let sentinelsLeft = sentinels.length;
  let addressesLeft = sentinels.length;
  let othersLeft = OTHERS.length;
  let isOver = false;

  const cancel = () => {
    isOver = true;
    deadline.cancel();
    for (const carried of open) carried.close();
  };
  const deadline = startDeadline(PROBE_MS, () => {
    cancel();
    listener.left(0, 0, false);
  });

  const put = (name: string, type: QuestionType, heard: (found: Found | undefined) => void) => {
    const carried = carry(server, name, type, told => {
      open.delete(carried);
      heard('reply' in told ? find(told.reply, name, type) : undefined);
      if (isOver) return;
      if (sentinelsLeft + addressesLeft + othersLeft === 0) cancel();
      listener.left(sentinelsLeft, addressesLeft, othersLeft > 0);
    });
    open.add(carried);
  };

  for (const name of sentinels) {
    put(name, 'MX', found => {
      sentinelsLeft -= 1;
      if (found) listener.said(name, isReceiving(found));
    });
    put(name, 'A', found => {
      addressesLeft -= 1;
      if (found) listener.addressed(name, publicAddresses(found).length > 0);
    });
  }
  const about: Found[] = [];
  for (const type of OTHERS) {
    put(other, type, found => {
      othersLeft -= 1;
      if (found) about.push(found);
      if (othersLeft === 0 && about.length > 0) listener.invented(inventedIn(about));
    });
  }
  return { cancel };
}

function inventedIn(about: readonly Found[]): Invented {
  if (about.some(isReceiving)) return 'mx';
  return about.some(({ kind }) => kind === 'records') ? 'addresses' : 'nothing';
}
