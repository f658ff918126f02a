/** Asks a server some seconds later for a few of the names that a registry has denied by it: they must still be denied. */

import { type Deadline, startDeadline } from './deadline.ts';
import { find, isReceiving } from './finding.ts';
import { PROBE_MS } from './probe.ts';
import type { Server } from './settings.ts';
import { type Carried, carry } from './transport.ts';

/** A name as it was asked for, and the registered one that it is or is below. */
interface Denied {
  readonly name: string;
  readonly registered: string;
  readonly at: number;
}

/**
 * One that has the sentinels in its cache, and denies all else for seconds, passes whatever is asked of it in these. That
 * a name is there so soon afterwards is found for one in so much time, so that a flood of denials costs no more.
 */
const LATER_MS = 10_000;
const GAP_MS = 250;
const MOST = LATER_MS / GAP_MS;

export class Later {
  readonly #server: Server;
  #waiting: readonly Denied[] = [];
  #takenAt = -Infinity;
  readonly #open = new Map<Carried, Deadline>();

  constructor(server: Server) {
    this.#server = server;
  }

  /** By the process's own time one in a while: how much is asked is no matter of the ticks. */
  add(denied: Denied): void {
    const now = performance.now();
    if (now - this.#takenAt < GAP_MS || this.#waiting.length >= MOST) return;
    this.#takenAt = now;
    this.#waiting = [...this.#waiting, denied];
  }

  /** Those whose time has come; `given` is told of each that receives mail by now. */
  ask(now: number, given: (denied: Denied) => void): void {
    const due = this.#waiting.filter(({ at }) => now - at >= LATER_MS);
    if (due.length === 0) return;
    this.#waiting = this.#waiting.filter(({ at }) => now - at < LATER_MS);
    for (const denied of due) this.#put(denied, given);
  }

  close(): void {
    for (const [carried, deadline] of this.#open) {
      carried.close();
      deadline.cancel();
    }
    this.#open.clear();
  }

  #put(denied: Denied, given: (denied: Denied) => void): void {
    const end = () => {
      this.#open.get(carried)?.cancel();
      this.#open.delete(carried);
    };
    const carried = carry(this.#server, denied.name, 'MX', told => {
      end();
      const found = 'reply' in told ? find(told.reply, denied.name, 'MX') : undefined;
      if (found && isReceiving(found)) given(denied);
    });
    const deadline = startDeadline(PROBE_MS, () => {
      end();
      carried.close();
    });
    this.#open.set(carried, deadline);
  }
}
