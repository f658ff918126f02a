/** Asks one server what is known beforehand: that some names receive mail, and that one which nobody has does not exist. */

import { randomInt } from 'node:crypto';
import { startDeadline } from './deadline.ts';
import { type Found, find, isReceiving } from './finding.ts';
import type { Server } from './settings.ts';
import { type Carried, carry } from './transport.ts';
import type { QuestionType } from './wire.ts';

/** What a server gives for a name that does not exist. */
export type Invented = 'nothing' | 'addresses' | 'mx';

export interface Listener {
  /** A sentinel was said to receive mail, or denied. Silence and refusals say neither, and are not told. */
  said(name: string, gave: boolean): void;
  invented(what: Invented): void;
  /** How many sentinels are still to be heard, and whether the other name is, after each that was. */
  left(sentinels: number, other: boolean): void;
}

export interface Probe {
  cancel(): void;
}

/** Within the budget of a lookup, since the first denial after the start waits for it. */
export const PROBE_MS = 1_500;

const LETTERS = 20;

function randomName(): string {
  return `${Array.from({ length: LETTERS }, () => String.fromCharCode(97 + randomInt(26))).join('')}.com`;
}

/** One question for each sentinel and two for the other name, all at once, each sent once and over TCP where needed. */
export function probe(server: Server, sentinels: readonly string[], listener: Listener): Probe {
  const other = randomName();
  const open = new Set<Carried>();
  let sentinelsLeft = sentinels.length;
  let othersLeft = 2;
  let isOver = false;

  const cancel = () => {
    isOver = true;
    deadline.cancel();
    for (const carried of open) carried.close();
  };
  const deadline = startDeadline(PROBE_MS, () => {
    cancel();
    listener.left(0, false);
  });

  const put = (name: string, type: QuestionType, heard: (found: Found | undefined) => void) => {
    const carried = carry(server, name, type, told => {
      open.delete(carried);
      heard('reply' in told ? find(told.reply, name, type) : undefined);
      if (isOver) return;
      if (sentinelsLeft + othersLeft === 0) cancel();
      listener.left(sentinelsLeft, othersLeft > 0);
    });
    open.add(carried);
  };

  for (const name of sentinels) {
    put(name, 'MX', found => {
      sentinelsLeft -= 1;
      if (found) listener.said(name, isReceiving(found));
    });
  }
  const about: Found[] = [];
  for (const type of ['MX', 'A'] as const) {
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
