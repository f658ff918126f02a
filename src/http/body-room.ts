/**
 * Room for bodies, taken as their bytes come: where there is too little, who takes most makes room. By the length that is
 * announced, first come first served, four keys that sent nothing kept everybody else out (2026-11-17).
 */

import { Pieces } from './pieces.ts';
import type { Sender } from './sender.ts';

/** Of all keys, and of one of them: many slow bodies, or answers to them that are being made. */
const MOST_BYTES = 24 * 1024 * 1024;
const SHARE_OF_KEY = 1 / 4;

/** Whoever has come no further for so long makes room first: a sender that is there sends something. */
const STALLED_MS = 1_000;

interface Share {
  /** Those that came no further for longest first. */
  readonly bodies: Set<Body>;
  sum: number;
}

interface OfKey extends Share {
  /** That send it. */
  readonly networks: Map<string, Share>;
}

const newShare = (): Share => ({ bodies: new Set(), sum: 0 });

export class BodyRoom {
  readonly #most: number;
  readonly #mostOfKey: number;
  readonly #largestBody: number;
  readonly #keys = new Map<string, OfKey>();
  #sum = 0;

  /** A share of what all workers of the process may have, and at least one body. */
  constructor(workers: number, largestBody: number) {
    this.#most = MOST_BYTES / workers;
    this.#mostOfKey = Math.max(this.#most * SHARE_OF_KEY, largestBody);
    this.#largestBody = largestBody;
  }

  /** `giveWay`: what it does when others need its room. */
  enter(sender: Sender, giveWay: () => void): Body {
    return new Body(this, sender, giveWay);
  }

  /** So much more, or less. */
  add(body: Body, bytes: number): void {
    const { key, network } = body.sender;
    const ofKey = this.#keys.get(key) ?? { ...newShare(), networks: new Map<string, Share>() };
    const share = ofKey.networks.get(network) ?? newShare();
    for (const one of [share, ofKey]) {
      one.bodies.delete(body);
      if (body.bytes > 0) one.bodies.add(body);
      one.sum += bytes;
    }
    this.#sum += bytes;
    if (share.sum > 0) ofKey.networks.set(network, share);
    else ofKey.networks.delete(network);
    if (ofKey.sum > 0) this.#keys.set(key, ofKey);
    else this.#keys.delete(key);
  }

  /** Until there is room for what has come, or it has to make room itself. */
  fit(body: Body): void {
    const own = this.#keys.get(body.sender.key);
    if (own) this.#makeRoom([own], body, () => own.sum > this.#mostOfKey);
    this.#makeRoom(this.#keys.values(), body, () => this.#sum > this.#most);
  }

  /** Of the key that takes most. */
  #makeRoom(keys: Iterable<OfKey>, body: Body, isTooMuch: () => boolean): void {
    if (!isTooMuch()) return;
    const rows = new Map(Array.from(keys, key => [key, leaversOf(key, body, this.#largestBody)]));
    while (isTooMuch() && !body.isGone) {
      const key = largestOf(rows.keys());
      const goes = key ? rows.get(key)!.next().value : body;
      if (goes) goes.leaveEarly();
      else rows.delete(key!);
    }
  }
}

function largestOf(keys: Iterable<OfKey>): OfKey | undefined {
  let largest: OfKey | undefined;
  for (const key of keys) if (!largest || key.sum > largest.sum) largest = key;
  return largest;
}

/** Not much less than the average: thousands with a byte each would have to go. */
const isLarge = ({ bytes }: Body, { bodies, sum }: Share) => bytes * 2 >= sum / bodies.size;

/**
 * Who has stalled; then of the networks that take most, as long as that is more than anybody needs; then of all alike. By
 * network alone 310 of them with 21 kB each had every body refused that was a little larger (2026-11-17). One look for all
 * that go: with one for each, a piece of 64 KB beside 7,000 small bodies held the event loop for 0.7 s (2026-11-19).
 */
function* leaversOf(key: OfKey, body: Body, largestBody: number): Generator<Body, undefined> {
  const now = performance.now();
  for (const one of key.bodies) if (one.hasStalled(now) && isLarge(one, key)) yield one;
  const many = [...key.networks.values()].filter(({ sum }) => sum > largestBody);
  for (const share of many.sort((a, b) => b.sum - a.sum))
    for (const one of leaversIn(share, body)) {
      if (share.sum <= largestBody) break;
      yield one;
    }
  yield* leaversIn(key, body);
}

/** Whose bytes came no further for longest, then who waits for a turn, the last first, and is none of the network's own. */
function* leaversIn(share: Share, body: Body): Generator<Body, undefined> {
  const isOwn = share.bodies.has(body);
  for (const one of share.bodies) if (one.canLeave && !one.isWaiting && isLarge(one, share)) yield one;
  const waiting = [...share.bodies].filter(one => one.canLeave && isLarge(one, share)).reverse();
  for (const one of waiting) if (!isOwn || one.sender.network !== body.sender.network) yield one;
  if (isOwn) yield body;
}

/** One that is on its way, or whose call waits or is at work. */
export class Body {
  readonly sender: Sender;
  readonly #room: BodyRoom;
  #giveWay: (() => void) | undefined;
  /** As far as it has come, until somebody reads it. */
  readonly pieces = new Pieces();
  bytes = 0;
  #cameAt = performance.now();
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

  /** Some of it is there, and for a while nothing came of the rest. */
  hasStalled(now: number): boolean {
    return this.canLeave && !this.isWaiting && now - this.#cameAt > STALLED_MS;
  }

  /** Some more has come; where it had to make room for others, nothing of it is kept. */
  take(piece: Buffer): void {
    if (this.isGone) return;
    this.pieces.add(piece);
    this.bytes += piece.length;
    this.#cameAt = performance.now();
    this.#room.add(this, piece.length);
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
    this.pieces.forget();
    if (bytes > 0) this.#room.add(this, -bytes);
  }
}
