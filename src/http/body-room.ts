/**
 * Room for bodies, taken as their bytes come: where there is too little, who takes most makes room. By the length that is
 * announced, first come first served, four keys that sent nothing kept everybody else out (2026-11-17).
 */

import type { Sender } from './sender.ts';

/** Of all keys, and of one of them: many slow bodies, or answers to them that are being made. */
const MOST_BYTES = 24 * 1024 * 1024;
const SHARE_OF_KEY = 1 / 4;

/** Of one network that sends a key. */
interface Share {
  /** Those that came no further for longest first. */
  readonly bodies: Set<Body>;
  sum: number;
}

interface OfKey {
  readonly networks: Map<string, Share>;
  sum: number;
}

export class BodyRoom {
  readonly #most: number;
  readonly #mostOfKey: number;
  readonly #keys = new Map<string, OfKey>();
  #sum = 0;

  /** A share of what all workers of the process may have, and at least one body. */
  constructor(workers: number, largestBody: number) {
    this.#most = MOST_BYTES / workers;
    this.#mostOfKey = Math.max(this.#most * SHARE_OF_KEY, largestBody);
  }

  /** `giveWay`: what it does when others need its room. */
  enter(sender: Sender, giveWay: () => void): Body {
    return new Body(this, sender, giveWay);
  }

  /** So much more, or less. */
  add(body: Body, bytes: number): void {
    const { key, network } = body.sender;
    const ofKey = this.#keys.get(key) ?? { networks: new Map<string, Share>(), sum: 0 };
    const share = ofKey.networks.get(network) ?? { bodies: new Set<Body>(), sum: 0 };
    share.bodies.delete(body);
    if (body.bytes > 0) share.bodies.add(body);
    share.sum += bytes;
    ofKey.sum += bytes;
    this.#sum += bytes;
    if (share.sum > 0) ofKey.networks.set(network, share);
    else ofKey.networks.delete(network);
    if (ofKey.sum > 0) this.#keys.set(key, ofKey);
    else this.#keys.delete(key);
  }

  /** Until there is room for what has come, or it has to make room itself. */
  fit(body: Body): void {
    const own = this.#keys.get(body.sender.key);
    while (own && own.sum > this.#mostOfKey && !body.isGone) this.#oneGives([own], body);
    while (this.#sum > this.#most && !body.isGone) this.#oneGives([...this.#keys.values()], body);
  }

  /** The key that takes most, and there the network. */
  #oneGives(keys: OfKey[], body: Body): void {
    for (const { networks } of keys.sort(bySum))
      for (const { bodies, sum } of [...networks.values()].sort(bySum)) {
        const isOwn = bodies.has(body);
        const goes = leaverOf(bodies, sum / bodies.size, isOwn) ?? (isOwn ? body : undefined);
        if (goes) return goes.leaveEarly();
      }
    body.leaveEarly();
  }
}

const bySum = (a: { readonly sum: number }, b: { readonly sum: number }) => b.sum - a.sum;

/**
 * Whose bytes came no further for longest, else the last that waits for its turn; of those that take no less than the
 * average, or thousands with a byte each would have to go.
 */
function leaverOf(bodies: Set<Body>, average: number, isOwn: boolean): Body | undefined {
  const large = [...bodies].filter(({ bytes, canLeave }) => canLeave && bytes >= average);
  return large.find(({ isWaiting }) => !isWaiting) ?? (isOwn ? undefined : large.at(-1));
}

/** One that is on its way, or whose call waits or is at work. */
export class Body {
  readonly sender: Sender;
  readonly #room: BodyRoom;
  #giveWay: (() => void) | undefined;
  /** As far as it has come, until somebody reads it. */
  readonly chunks: Buffer[] = [];
  bytes = 0;
  /** All of it is there, and its call waits for its turn. */
  isWaiting = false;
  isGone = false;

  constructor(room: BodyRoom, sender: Sender, giveWay: () => void) {
    this.#room = room;
    this.sender = sender;
    this.#giveWay = giveWay;
  }

  get canLeave(): boolean {
    return this.#giveWay !== undefined;
  }

  /** Some more has come; where it had to make room for others, nothing of it is kept. */
  take(chunk: Buffer): void {
    if (this.isGone) return;
    this.chunks.push(chunk);
    this.bytes += chunk.length;
    this.#room.add(this, chunk.length);
    this.#room.fit(this);
  }

  /** Its call waits, and was not counted. */
  waits(giveWay: () => void): void {
    this.isWaiting = true;
    this.#giveWay = giveWay;
  }

  /** All of it is there, or its call is at work: from here on it stays. */
  stays(): void {
    this.#giveWay = undefined;
  }

  leaveEarly(): void {
    const giveWay = this.#giveWay;
    this.leave();
    giveWay?.();
  }

  /** Again does nothing. */
  leave(): void {
    if (this.isGone) return;
    const { bytes } = this;
    this.isGone = true;
    this.#giveWay = undefined;
    this.bytes = 0;
    this.chunks.length = 0;
    if (bytes > 0) this.#room.add(this, -bytes);
  }
}
