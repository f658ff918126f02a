/** Asks a server some seconds later for a few of the names that it has denied: they must still be denied. */

import { paidDomain } from '../core/domain.ts';
import { type Deadline, startDeadline } from './deadline.ts';
import { type Found, find, isReceiving, publicAddresses } from './finding.ts';
import { PROBE_MS } from './probe.ts';
import type { Server } from './settings.ts';
import { type Carried, carry } from './transport.ts';
import type { QuestionType } from './wire.ts';

interface Denied {
  readonly name: string;
  readonly type: QuestionType;
  readonly denial: Found;
  readonly at: number;
}

/** How often it was asked for since. */
interface Waiting extends Denied {
  readonly looks: number;
  /** What was denied besides. */
  readonly address?: Found;
}

/** A name that is there by now, and the registered one that it is or is below, where no owner could have it denied. */
type Given = (name: string, registered: string | undefined) => void;

/**
 * What proves a denial begins after it, and a server that denies everything for moments, or has the sentinels in its cache
 * and denies all else for seconds, passes each time (13 of 800 companies did not exist, 2026-11-18). That a name is there so
 * soon afterwards, one time or the other, is found for one in so much time: a flood of denials costs no more.
 */
const LATER_MS = [2_000, 10_000];
const GAP_MS = 250;
const MOST = LATER_MS.at(-1)! / GAP_MS;
/** After so long what was denied is denied still, as far as this can tell. */
export const SETTLED_MS = LATER_MS.at(-1)! + PROBE_MS;

export class Later {
  readonly #server: Server;
  #waiting: readonly Waiting[] = [];
  #takenAt = -Infinity;
  readonly #open = new Map<Carried, Deadline>();

  constructor(server: Server) {
    this.#server = server;
  }

  /**
   * By the process's own time one in a while: how much is asked is no matter of the ticks. An address only of a name that
   * waits: there is none without that its mail servers were denied before.
   */
  add(denied: Denied): void {
    if (denied.type !== 'MX') {
      const isSame = ({ name, looks }: Waiting) => name === denied.name && looks === 0;
      this.#waiting = this.#waiting.map(one => (isSame(one) ? { ...one, address: denied.denial } : one));
      return;
    }
    const now = performance.now();
    if (now - this.#takenAt < GAP_MS || this.#waiting.length >= MOST) return;
    this.#takenAt = now;
    this.#waiting = [...this.#waiting, { ...denied, looks: 0 }];
  }

  /** Those whose time has come; `given` is told of each that is there by now. */
  ask(now: number, given: Given): void {
    const isDue = ({ at, looks }: Waiting) => now - at >= LATER_MS[looks]!;
    const due = this.#waiting.filter(isDue);
    if (due.length === 0) return;
    this.#waiting = this.#waiting
      .map(one => (isDue(one) ? { ...one, looks: one.looks + 1 } : one))
      .filter(({ looks }) => looks < LATER_MS.length);
    for (const denied of due) {
      this.#put(denied, given);
      const { address } = denied;
      if (address) this.#put({ ...denied, type: 'A', denial: address }, given);
    }
  }

  close(): void {
    for (const [carried, deadline] of this.#open) {
      carried.close();
      deadline.cancel();
    }
    this.#open.clear();
  }

  #put({ name, type, denial }: Denied, given: Given): void {
    const end = () => {
      this.#open.get(carried)?.cancel();
      this.#open.delete(carried);
    };
    const carried = carry(this.#server, name, type, told => {
      end();
      const found = 'reply' in told ? find(told.reply, name, type) : undefined;
      if (!found || !isRefuted(denial, found)) return;
      this.#waiting = this.#waiting.filter(one => one.name !== name);
      given(name, deniedByRegistry(name, denial));
    });
    const deadline = startDeadline(PROBE_MS, () => {
      end();
      carried.close();
    });
    this.#open.set(carried, deadline);
  }
}

/**
 * What was denied is given; or a name that did not exist does. While only mail servers counted, companies without any
 * stayed denied for an hour: 74 of 74 (2026-11-18).
 */
function isRefuted(denial: Found, found: Found): boolean {
  const isNoName = (one: Found) => one.kind === 'none' && one.nxdomain;
  return isReceiving(found) || publicAddresses(found).length > 0 || (isNoName(denial) && !isNoName(found));
}

/**
 * The registered name that a registry has denied, or the root. No server of its owner can do that, whatever it says,
 * since resolvers leave out what is above the zone that they asked: so nobody has a resolver taken for a liar by names of
 * his own that are there by turns.
 */
export function deniedByRegistry(name: string, denial: Found): string | undefined {
  const paid = paidDomain(name);
  const zone = denial.kind === 'none' ? denial.zone : undefined;
  if (paid === undefined || zone === undefined) return undefined;
  return zone === '.' || paid.endsWith(`.${zone}`) ? paid : undefined;
}
