/** What is remembered of names: which answer is given out, for how long, when to ask again, and what no longer counts. */

import { MAIL_UNKNOWN, type Mail } from '../core/mail.ts';
import type { Ticks } from '../core/ports.ts';
import { Cache, type Entry } from './cache.ts';
import type { Finding } from './finding.ts';
import type { Lied } from './testimony.ts';

export interface MemoryCaps {
  readonly cacheEntries: number;
  readonly cacheBytes: number;
  /** For how long a failure is not tried again. */
  readonly failureMemoMs: number;
  /** How old an answer may be that is served when asking fails. */
  readonly staleMs: number;
}

/** The share of its time to live after which an entry that is still asked for is refreshed. */
const REFRESH_AFTER = 0.9;

/** When a refresh found no place. */
const REFRESH_RETRY_MS = 1_000;

/** Spans of time that are remembered one by one; of more the oldest two become one. */
const MOST_LIES = 8;

/** From when to when a server may have lied unnoticed. */
interface Lies {
  readonly from: number;
  readonly to: number;
  readonly isAll: boolean;
}

export class Memory {
  readonly #ticks: Ticks;
  readonly #caps: MemoryCaps;
  readonly #cache: Cache;
  #lies: readonly Lies[] = [];

  constructor(caps: MemoryCaps, ticks: Ticks) {
    this.#ticks = ticks;
    this.#caps = caps;
    this.#cache = new Cache(caps.cacheEntries, caps.cacheBytes);
  }

  get size(): number {
    return this.#cache.size;
  }

  /** What may be given out without asking. Near its end `refresh` is called; false: it found no place. */
  recall(name: string, refresh: (name: string) => boolean): Mail | undefined {
    const entry = this.#cache.get(name);
    if (entry === undefined) return undefined;
    const now = this.#ticks();
    if (this.#lies.length > 0 && this.#isLie(entry)) return undefined;
    if (now < entry.lookAt) return entry.mail;
    if (now >= entry.expiresAt) return now < entry.quietUntil ? this.#usable(entry, now) : undefined;
    const next = now + (refresh(name) ? this.#caps.failureMemoMs : REFRESH_RETRY_MS);
    entry.lookAt = Math.min(entry.expiresAt, next);
    return entry.mail;
  }

  /** Whether asking now would be too early: there is a fresh answer, or asking failed just now. */
  isSettled(name: string): boolean {
    const entry = this.#cache.peek(name);
    if (!entry || this.#isLie(entry)) return false;
    return this.#ticks() < Math.max(entry.expiresAt, entry.quietUntil);
  }

  /** When asking failed for the first and the last time in a row; undefined unless it failed twice. */
  failures(name: string): { first: number; last: number } | undefined {
    const entry = this.#cache.peek(name);
    if (entry?.mail.state !== 'unknown') return undefined;
    const { obtainedAt, quietUntil } = entry;
    const { failureMemoMs } = this.#caps;
    // Sums are compared, since a sum less what was added is not always the same number again.
    if (quietUntil <= obtainedAt + failureMemoMs) return undefined;
    return { first: obtainedAt, last: quietUntil - failureMemoMs };
  }

  /** The last definite answer, however old up to the stale limit. */
  last(name: string): Mail | undefined {
    const entry = this.#cache.peek(name);
    return entry && this.#usable(entry, this.#ticks());
  }

  /** Gives out what is known now. Failures up to `troubleAt` were perhaps no fault of the name, and begin no row. */
  keep(name: string, { mail, ttl }: Finding, troubleAt: number): Mail {
    const now = this.#ticks();
    if (mail.state !== 'unknown') {
      const expiresAt = now + ttl * 1_000;
      const lookAt = now + ttl * 1_000 * REFRESH_AFTER;
      this.#cache.set(name, { mail, obtainedAt: now, expiresAt, lookAt, quietUntil: 0 });
      return mail;
    }
    const quietUntil = now + this.#caps.failureMemoMs;
    const old = this.#cache.peek(name);
    if (old && this.#usable(old, now)) {
      const kept = { ...old, quietUntil };
      this.#cache.set(name, kept);
      return this.#usable(kept, now) ?? MAIL_UNKNOWN;
    }
    const isInRow = old?.mail.state === 'unknown' && old.obtainedAt > troubleAt;
    const obtainedAt = isInRow ? old.obtainedAt : now;
    const times = { obtainedAt, expiresAt: quietUntil, lookAt: quietUntil, quietUntil };
    this.#cache.set(name, { mail: MAIL_UNKNOWN, ...times });
    return MAIL_UNKNOWN;
  }

  /** What was said between then and now counts no longer, whoever said it: it is asked again when somebody wants it. */
  drop(since: number, lied: Lied): void {
    const now = this.#ticks();
    const isRecent = ({ to }: Lies) => now - to <= this.#caps.staleMs;
    const isApart = ({ from }: Lies) => from < since;
    const recent = this.#lies.filter(isRecent);
    const isAll = lied === 'everything' || recent.some(one => one.isAll && !isApart(one));
    const lies = [...recent.filter(isApart), { from: since, to: now, isAll }];
    const [first, second, ...others] = lies;
    const isOneTooMany = first && second && lies.length > MOST_LIES;
    this.#lies = isOneTooMany ? [joined(first, second), ...others] : lies;
  }

  /** It is asked again when somebody wants it. */
  forget(name: string): void {
    this.#cache.delete(name);
  }

  /** Whether a server may have lied then, of whatever. */
  isDoubted(at: number): boolean {
    return this.#lies.some(({ from, to }) => from <= at && at <= to);
  }

  #isLie({ mail: { state }, obtainedAt }: Entry): boolean {
    if (state === 'unknown') return false;
    return this.#lies.some(
      ({ from, to, isAll }) => from <= obtainedAt && obtainedAt <= to && (isAll || state !== 'mx'),
    );
  }

  /** The definite answer kept, marked when it is past its time; undefined when there is none or it is too old. */
  #usable(entry: Entry, now: number): Mail | undefined {
    if (entry.mail.state === 'unknown' || now - entry.obtainedAt > this.#caps.staleMs) return undefined;
    if (this.#isLie(entry)) return undefined;
    if (now < entry.expiresAt) return entry.mail;
    // One object for all, since who remembers verdicts knows an answer by its identity.
    entry.stale ??= { ...entry.mail, stale: true };
    return entry.stale;
  }
}

function joined(first: Lies, second: Lies): Lies {
  return { from: first.from, to: second.to, isAll: first.isAll || second.isAll };
}
