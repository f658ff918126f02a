/** Listed names, and innocent ones before → their mail hosts → guests. Asks slowly, so that hosts can be learned. */

import { setTimeout as pause } from 'node:timers/promises';
import { type Catalog, firstNamed } from './core/catalog.ts';
import { type Domain, lineage } from './core/domain.ts';
import { isByTwoFamilies, WEEK_DAYS } from './core/guest.ts';
import { HashedNames } from './core/hashed.ts';
import type { MailState } from './core/mail.ts';
import type { Clock, Resolver, Store, SweepMark } from './core/ports.ts';
import type { ListedAs, Sweeping } from './core/sighting.ts';
import { zoneOf } from './core/zone.ts';
import type { Learn } from './learn.ts';

export interface SweepParts {
  readonly store: Pick<Store, 'sweepMark' | 'markSweep' | 'listKeys'>;
  readonly resolver: Resolver;
  readonly catalog: Catalog;
  readonly learn: Learn;
  readonly clock: Clock;
}

export interface SweepOptions {
  /** Names to ask at most; all that are left when undefined. */
  readonly limit: number | undefined;
  /** Names to begin in one second. */
  readonly rate: number;
  /** So long after a denial it is known whether it was one; the last ones are waited for. */
  readonly settledMs: number;
  /** Ends it early and in order: what was asked counts. */
  readonly stop: AbortSignal;
  readonly progress: (name: string, done: number, total: number) => void;
}

export interface Swept {
  readonly asked: number;
  /** Of those, names whose mail has exchanges. */
  readonly received: number;
  /** Of those, names that DNS gave no answer for. */
  readonly unanswered: number;
  /** Names that a next sweep would go on with. */
  readonly left: number;
}

/** DNS does not answer: going on would mark names as done that nobody looked at. */
export class SweepFailed extends Error {
  override readonly name = 'SweepFailed';
}

/** By a definite answer. An address alone is what parking looks like. */
const RECEIVES_NOTHING: ReadonlySet<MailState> = new Set<MailState>([
  ...(['nxdomain', 'no_mail', 'null_mx', 'implicit_mx'] as const),
]);

const DAY_MS = 86_400_000;
/** The sweep's share of the resolver: as much as one key may have. */
const KEY = 'sweep';
const AT_ONCE = 16;
/** What is found is written, and the place marked, after so many seconds' worth of names. */
const BATCH_SECONDS = 10;
const SMALLEST_BATCH = 50;
const LARGEST_BATCH = 2_000;
/** More unanswered names than this in a batch are no longer the fault of the names. */
const MOST_UNANSWERED = 0.9;

export async function sweep(parts: SweepParts, options: SweepOptions): Promise<Swept> {
  const { store, catalog, learn, clock } = parts;
  const mark = await store.sweepMark();
  const names = namesLeft(catalog, mark);
  const firstEndedAt = mark?.firstEndedAt ?? null;
  // What the first one finds of a service that others know for a week may have been pointed there since.
  const keys = await store.listKeys();
  const isYoung = keys.every(({ createdAt }) => clock() - createdAt < WEEK_DAYS * DAY_MS);
  const sweeping = { isFirst: firstEndedAt === null && isYoung };
  const dead = new HashedNames(mark?.dead);
  dead.keepOnly(catalog.disposableNames());
  const total = Math.min(names.length, options.limit ?? names.length);
  const size = Math.min(LARGEST_BATCH, Math.max(SMALLEST_BATCH, Math.ceil(options.rate * BATCH_SECONDS)));
  const swept = { asked: 0, received: 0, unanswered: 0 };
  let denied: Denied[] = [];
  while (swept.asked < total && !options.stop.aborted) {
    const batch = names.slice(swept.asked, Math.min(total, swept.asked + size));
    const done = await askAll(parts, options, batch, sweeping, denied, at =>
      options.progress(batch[at]!.name, swept.asked + at, total),
    );
    if (done.asked >= SMALLEST_BATCH && done.unanswered > MOST_UNANSWERED * done.asked)
      throw new SweepFailed(
        'DNS answers next to nothing: the sweep will begin here again; check DNS_SERVERS',
      );
    swept.asked += done.asked;
    swept.received += done.received;
    swept.unanswered += done.unanswered;
    const isLast = swept.asked === total || options.stop.aborted;
    denied = await bury(parts.resolver, options, denied, isLast, dead);
    await learn.settle();
    await learn.flush();
    if (done.asked === 0) continue;
    const endedAt = swept.asked === names.length ? clock() : null;
    // Another sweep may be under way: what it has found out must not be lost.
    const beside = await store.sweepMark();
    dead.addAll(beside?.dead);
    await store.markSweep({
      generation: catalog.generation,
      last: names[swept.asked - 1]!.order,
      endedAt,
      firstEndedAt: firstEndedAt ?? beside?.firstEndedAt ?? endedAt,
      dead: dead.toText(),
    });
  }
  await learn.reload();
  return { ...swept, left: names.length - swept.asked };
}

interface Target {
  readonly name: Domain;
  readonly listed: ListedAs | null;
  /** What the mark remembers. Names of another catalog still fall into the same order. */
  readonly order: string;
}

/**
 * Innocent names first, the panel's among them: hosts that they share with listed ones are never learned, not even for
 * the time of a sweep. After a whole sweep the next one begins anew, since guests that are not seen again are forgotten.
 */
function namesLeft(catalog: Catalog, mark: SweepMark | undefined): Target[] {
  const targets: Target[] = [];
  for (const name of catalog.innocentNames().union(new Set(catalog.panelNames())))
    targets.push({ name: name as Domain, listed: null, order: `0 ${name}` });
  for (const name of catalog.disposableNames()) {
    const listing = catalog.listed(lineage(name));
    const { families } = listing;
    const listed = { entry: name, corroborated: isByTwoFamilies(families), since: firstNamed(listing) };
    targets.push({ name: name as Domain, listed, order: `1 ${name}` });
  }
  targets.sort((a, b) => (a.order < b.order ? -1 : 1));
  return mark && mark.endedAt === null ? targets.filter(({ order }) => order > mark.last) : targets;
}

/** Begins them in order and at an even pace, a few at a time. */
async function askAll(
  { resolver, learn, catalog }: SweepParts,
  { rate, stop }: SweepOptions,
  batch: readonly Target[],
  sweeping: Sweeping,
  denied: Denied[],
  progress: (at: number) => void,
): Promise<{ asked: number; received: number; unanswered: number }> {
  const startedAt = performance.now();
  const done = { asked: 0, received: 0, unanswered: 0 };
  async function askOn(): Promise<void> {
    while (done.asked < batch.length && !stop.aborted) {
      const at = done.asked++;
      progress(at);
      const early = startedAt + (at * 1_000) / rate - performance.now();
      if (early > 1) await pause(early);
      const { name, listed } = batch[at]!;
      const mail = await resolver.resolve(name, KEY);
      if (mail.state === 'mx') done.received++;
      if (mail.state === 'unknown') done.unanswered++;
      if (listed && RECEIVES_NOTHING.has(mail.state)) denied.push({ name, at: performance.now() });
      learn.note(name, zoneOf(name, catalog), listed, mail, sweeping);
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, askOn));
  return done;
}

/** A listed name that receives nothing, and since when that was said. */
interface Denied {
  readonly name: Domain;
  readonly at: number;
}

/**
 * Marks what is denied still, and gives what it is too early for. The mark is for good: a resolver that denied everything
 * for a moment had 30 of 1,200 names marked, whose hosts were learned two months later (2026-11-18).
 */
async function bury(
  resolver: Resolver,
  { settledMs, stop }: SweepOptions,
  denied: readonly Denied[],
  isLast: boolean,
  dead: HashedNames,
): Promise<Denied[]> {
  const left = (denied.at(-1)?.at ?? 0) + settledMs - performance.now();
  if (isLast && left > 0) await pause(left, undefined, { signal: stop }).catch(() => {});
  // Nobody waits for the last ones of a sweep that is ended early: those are marked by the next.
  const isSettled = isLast && !stop.aborted;
  const isEarly = ({ at }: Denied) => !isSettled && performance.now() - at < settledMs;
  for (const one of denied)
    if (!isEarly(one) && RECEIVES_NOTHING.has(resolver.last(one.name)?.state ?? 'unknown'))
      dead.add(one.name);
  return denied.filter(isEarly);
}
