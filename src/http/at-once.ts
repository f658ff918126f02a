/** How many calls of a kind one caller may have under way. */

import { type Refusal, refuse } from '../core/refusal.ts';
import { type Call, whenFinished } from './call.ts';
import { sendRefusal } from './reply.ts';
import type { Sender } from './sender.ts';

/** Of one key, by the networks that send it. */
interface UnderWay {
  readonly networks: Map<string, number>;
  all: number;
}

export class AtOnce {
  readonly #most: number;
  readonly #mostInAll: number;
  readonly #busy: Refusal;
  readonly #byKey = new Map<string, UnderWay>();

  /** `mostInAll`: of one key, from however many networks. */
  constructor(most: number, mostInAll = most * 4) {
    this.#most = most;
    this.#mostInAll = mostInAll;
    this.#busy = refuse('overloaded', `at most ${most} of these calls at a time`, 1);
  }

  /** From here on it is under way; false where its caller has as many already, and it has its refusal. */
  lets(call: Call, { key, network }: Sender): boolean {
    const underWay = this.#byKey.get(key) ?? { networks: new Map<string, number>(), all: 0 };
    if (!this.#hasRoom(underWay, network)) {
      sendRefusal(call, this.#busy);
      return false;
    }
    const { networks } = underWay;
    networks.set(network, (networks.get(network) ?? 0) + 1);
    underWay.all++;
    this.#byKey.set(key, underWay);
    let isDone = false;
    whenFinished(call, () => {
      if (isDone) return;
      isDone = true;
      const left = networks.get(network)! - 1;
      if (left > 0) networks.set(network, left);
      else networks.delete(network);
      if (--underWay.all === 0) this.#byKey.delete(key);
    });
    return true;
  }

  /** No network keeps out the others that send the same key: each may have its part, one at least, though all is taken. */
  #hasRoom({ networks, all }: UnderWay, network: string): boolean {
    const own = networks.get(network) ?? 0;
    const senders = networks.size + (own === 0 ? 1 : 0);
    const part = Math.max(1, Math.floor(this.#most / senders));
    return all < this.#most || (senders > 1 && own < part && all < this.#mostInAll);
  }
}
