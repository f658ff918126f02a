/** `domain-risk feeds approve|reject|rollback`: which version of a list counts, and what one would change. */

import type { Command } from 'commander';
import type { FeedsConfig } from '../compose.ts';
import type { Store } from '../core/ports.ts';
import type { Flip } from '../core/what-if.ts';
import { shownInUse } from '../http/shown.ts';
import type { Updated } from '../update.ts';
import { checkKnown, inUseInWords } from './own-feeds.ts';
import { printJson } from './print.ts';
import { rejectedStill } from './rejected.ts';
import { actor, done, hasStore, operateOn, readWorld, withStore } from './world.ts';

const SEEN =
  'those that you looked at: nothing is decided if they no longer wait; whatever waits if none is named';

interface DecideOptions {
  takeBack?: boolean;
  json?: boolean;
}

/** `update` fetches the list anew: of names that were not looked at it takes as few as ever. */
export function addWaiting(feeds: Command, update: (feed: string) => Promise<void>): void {
  feeds
    .command('rollback')
    .description(
      'return to the previous version; updates skip the list until --undo, or until you update it by name',
    )
    .argument('<feed>', 'as "feeds status" shows it')
    .option('--undo', 'undo the rollback, one version at a time')
    .option('--json', 'one JSON document on stdout')
    .action(rollBack);
  feeds
    .command('approve')
    .description(
      'accept a version that was held back because it flags established domains, and update the list',
    )
    .argument('<feed>', 'as "feeds status" shows it')
    .argument('[domain...]', SEEN)
    .option('--take-back', 'the domains that you name do not wait: take back that they were rejected')
    .action(async (feed: string, seen: readonly string[], { takeBack }: DecideOptions) => {
      const { told } = await decide(feed, 'approveFeed', seen, takeBack);
      process.stderr.write(`${feed} may flag ${told}\n`);
      await update(feed);
    });
  feeds
    .command('reject')
    .description('reject it; later versions that flag the same domains are rejected too')
    .argument('<feed>', 'as "feeds status" shows it')
    .argument('[domain...]', SEEN)
    .option('--take-back', 'the domains that you name do not wait: take back that they were approved')
    .option('--json', 'one JSON document on stdout')
    .action(async (feed: string, seen: readonly string[], { takeBack, json }: DecideOptions) => {
      const { names, told, inUse } = await decide(feed, 'rejectFeed', seen, takeBack);
      if (json) printJson({ feed, rejected: names });
      else process.stdout.write(`${feed} may not flag ${told}\n`);
      process.stderr.write(inUse);
    });
}

async function decide(
  feed: string,
  act: 'approveFeed' | 'rejectFeed',
  seen: readonly string[],
  takesBack: boolean | undefined,
): Promise<{ names: readonly string[]; told: string; inUse: string }> {
  const work = async (store: Store, config: FeedsConfig) => {
    checkKnown(feed, await store.addedFeeds());
    const before = (await store.feedChecks()).find(check => check.feed === feed);
    const decided = await operateOn(store)[act](feed, actor(), seen.length > 0 ? seen : 'any', takesBack);
    const names = done(decided, 'feeds status');
    // Who names none may know only that they waited: another operator may have decided since (2026-11-18).
    const [others, did] =
      act === 'approveFeed' ? [before?.rejected, 'rejected'] : [before?.approved, 'approved'];
    const isTakenBack = names.some(name => others?.includes(name));
    const told = `${names.join(', ')}${isTakenBack ? `, which an operator had ${did}` : ''}`;
    return { names, told, inUse: act === 'rejectFeed' ? await rejectedStill(feed, store, config) : '' };
  };
  if (!(await hasStore(readWorld()))) checkKnown(feed, []);
  return withStore(work);
}

async function rollBack(feed: string, options: { undo?: boolean; json?: boolean }): Promise<void> {
  const act = options.undo ? 'returnFeed' : 'rollBackFeed';
  const work = async (store: Store, config: FeedsConfig) => {
    checkKnown(feed, await store.addedFeeds());
    const stepped = done(await operateOn(store)[act](feed, actor()), 'feeds status');
    return { stepped, rejected: await rejectedStill(feed, store, config) };
  };
  const { stepped, rejected } = await withStore(work);
  if (options.json) printJson(shownInUse(stepped));
  else process.stdout.write(`${inUseInWords(stepped)}\n`);
  process.stderr.write(rejected);
}

/** Of each way; an operator looks at a few. */
const MOST_SHOWN = 20;

export function shownFlips(flips: readonly Flip[]) {
  const of = (change: Flip['change']) => flips.filter(flip => flip.change === change);
  const flagged = of('flagged').toSorted((a, b) => Number(b.isEstablished) - Number(a.isEstablished));
  const cleared = of('cleared');
  return {
    flagged: flagged.length,
    cleared: cleared.length,
    established: flagged.filter(({ isEstablished }) => isEstablished).length,
    domains: [...flagged.slice(0, MOST_SHOWN), ...cleared.slice(0, MOST_SHOWN)].map(
      ({ domain, change, isEstablished }) => ({ domain, change, established: isEstablished }),
    ),
  };
}

export function printFlips(results: readonly Updated[]): void {
  for (const { feed, flips } of results) {
    if (!flips || flips.length === 0) continue;
    const { flagged, cleared, established, domains } = shownFlips(flips);
    const some = domains
      .map(({ domain, change }) => `${change === 'flagged' ? '+' : '-'}${domain}`)
      .join(' ');
    process.stdout.write(
      `\n${feed}, of the domains asked lately: ${flagged} flagged (${established} established), ${cleared} cleared: ${some}\n`,
    );
  }
}
