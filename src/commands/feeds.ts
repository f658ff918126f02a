/** `domain-risk feeds`: the lists that are followed, how fresh they are, and bringing fresh ones into the store. */

import type { Command } from 'commander';
import { openCommandStore } from '../command-store.ts';
import { loadCatalog, updateParts } from '../compose.ts';
import { ofFollowed } from '../core/freshness.ts';
import { FEED_IDS, feedsWithout } from '../feeds/sources.ts';
import { shownDropped, shownFeeds } from '../http/shown.ts';
import { type Updated, updateFeeds } from '../update.ts';
import { addFilter } from './filter.ts';
import { addOwnFeeds, checkKnown, placeInWords } from './own-feeds.ts';
import { CommandFailed, printable, printJson, printTable, startProgress, UsageProblem } from './print.ts';
import { inUseOf } from './rejected.ts';
import { addWaiting, printFlips, shownFlips } from './waiting.ts';
import { actor, hasStore, readWorld, tellNoStore, withStore } from './world.ts';

interface UpdateOptions {
  from?: ReadonlyMap<string, string>;
  force?: boolean;
  dryRun?: boolean;
  json?: boolean;
}

export function addFeeds(program: Command): void {
  const feeds = program.command('feeds').description('the lists that are followed');
  feeds
    .command('status')
    .description(
      'every feed with its version, when it was last checked and changed, and how many names count',
    )
    .option('--json', 'one JSON document on stdout')
    .action(status);
  feeds
    .command('update')
    .description(
      'download the lists, reject implausible ones and store the rest; running servers follow within a minute',
    )
    .argument('[feed...]', 'only these; all if none is named')
    .option(
      '--from <feed=place>',
      'take this feed from a file, an unpacked npm package or an https address; may be repeated, and without [feed...] only these are updated',
      placeValue,
    )
    .option('--force', 'accept every readable list, even if implausible; recorded in the audit log')
    .option('--dry-run', 'show what would happen; change nothing')
    .option('--json', 'one JSON document on stdout')
    .action((named: readonly string[] | undefined, options: UpdateOptions) => update(named, options));
  addOwnFeeds(feeds);
  addWaiting(feeds, feed => update([feed], {}, false));
  addFilter(feeds);
}

function placeValue(text: string, before: ReadonlyMap<string, string> = new Map()): Map<string, string> {
  const at = text.indexOf('=');
  if (at === -1) throw new UsageProblem('--from must be like castle=./castle.txt');
  return new Map([...before, [text.slice(0, at), text.slice(at + 1)]]);
}

async function status(options: { json?: boolean }): Promise<void> {
  const config = readWorld();
  const store = (await hasStore(config)) ? await openCommandStore(config) : undefined;
  if (!store) tellNoStore(config, 'only what is installed is shown');
  try {
    const { feedsOff } = config;
    const added = (await store?.addedFeeds()) ?? [];
    const used = <T extends { feed: string }>(rows: readonly T[] = []) =>
      ofFollowed(rows, feedsWithout(feedsOff), added);
    const stored = {
      checks: used(await store?.feedChecks()),
      inUse: used(await store?.snapshots()),
      past: used(await store?.pastSnapshots()),
      added,
    };
    const catalog = await loadCatalog(config, () => {}, store);
    const shown = shownFeeds(catalog, stored, Date.now());
    if (options.json) return printJson(shown);
    printTable(
      ['FEED', 'KIND', 'FAMILY', 'LICENCE', 'VERSION', 'CHECKED', 'CHANGED', 'CHANGE', 'NAMES', 'DROPPED'],
      shown.feeds.map(row => [
        row.feed,
        row.kind,
        row.family,
        row.licence,
        row.version,
        row.checked_at ?? 'never',
        row.updated_at ?? 'as installed',
        row.updated_at === null ? '' : `+${row.added} -${row.removed}`,
        row.names,
        sum(row.dropped),
      ]),
    );
    for (const { feed, problem, held } of [...shown.feeds, ...shown.missing]) {
      if (held)
        process.stdout.write(`\n${feed}: rolled back; "feeds rollback ${feed} --undo" goes forth again`);
      if (problem !== null) process.stdout.write(`\n${feed}: ${printable(problem)}`);
    }
    for (const told of stored.checks.flatMap(check => inUseOf(check, catalog, added) ?? []))
      process.stdout.write(`\n${told}`);
    for (const { feed, fallback } of shown.feeds)
      if (fallback !== null) process.stdout.write(`\n${feed}: from ${printable(fallback)}`);
    for (const { feed, origin } of shown.feeds.filter(({ own }) => own))
      process.stdout.write(`\n${feed}: added, from ${placeInWords(origin)}`);
    const isLeftAlone = (id: string) => shown.missing.some(({ feed, held }) => feed === id && held);
    const missing = [...FEED_IDS, ...stored.added.map(({ name }) => name)].filter(
      id => !shown.feeds.some(({ feed }) => feed === id) && !feedsOff.includes(id) && !isLeftAlone(id),
    );
    const adds = missing.length > 0 ? `; "domain-risk feeds update" adds ${missing.join(', ')}` : '';
    const more = feedsOff.length > 0 ? `${adds}; off by FEEDS_OFF: ${feedsOff.join(', ')}` : adds;
    const counts = `${shown.domains} disposable domains, ${shown.panel} popular ones in the panel`;
    process.stdout.write(`\n${counts}, snapshot ${shown.snapshot}${more}\n`);
  } finally {
    await store?.close();
  }
}

const sum = (counts: object) => Object.values(counts).reduce((total: number, count) => total + count, 0);

/** A dry run makes no store. */
const NO_STORE: Parameters<typeof updateParts>[1] = {
  addedFeeds: async () => [],
  askedNames: async () => [],
  listOverrides: async () => ({ overrides: [], revision: 0 }),
  snapshots: async () => [],
  snapshot: async () => undefined,
  acceptSnapshot: async () => false,
  pastSnapshots: async () => [],
  feedChecks: async () => [],
  audit: async () => [],
  noteCheck: async () => true,
  lease: async () => undefined,
  swapLease: async () => true,
  moment: async () => Date.now(),
};

/** `isNamed`: what an operator went back from is updated all the same where the operator names it. */
export async function update(
  feeds: readonly string[] | undefined,
  options: UpdateOptions,
  isNamed = true,
): Promise<void> {
  const { freshFeeds, isAddress, placeProblem } = await import('../feeds/fresh.ts');
  const { endingNpm } = await import('./ending-npm.ts');
  const { from = new Map(), force = false, dryRun = false } = options;
  for (const [feed, place] of from) {
    const problem = placeProblem(place);
    if (problem) throw new UsageProblem(`--from ${feed}: ${problem}`);
  }
  const config = readWorld();
  const { feedsOff } = config;
  const wanted = new Set([...(feeds ?? []), ...from.keys()]);
  for (const id of feedsOff)
    if (wanted.has(id)) throw new UsageProblem(`${id} is off: take it out of FEEDS_OFF first`);
  const isWanted = (id: string) => (wanted.size === 0 ? !feedsOff.includes(id) : wanted.has(id));
  const atHand = new Set(from.keys());
  const work = async (store: Parameters<typeof updateParts>[1]) => {
    const added = await store.addedFeeds();
    for (const { name, place } of added) if (!isAddress(place)) atHand.add(name);
    for (const id of wanted) checkKnown(id, added);
    const sources = freshFeeds(from, added).filter(({ feed }) => isWanted(feed.id));
    const bar = startProgress('Updating the feeds');
    const progress = (feed: string, done: number, total: number) => bar.at(feed, done, total);
    const parts = updateParts(config, store, sources, actor());
    const how = { force, dryRun, evenHeld: isNamed && wanted.size > 0, progress };
    return endingNpm(() => updateFeeds(parts, how)).then(done => {
      const taken = `${done.filter(isTaken).length} of ${done.length} feeds have a new version`;
      bar.end(dryRun ? `${taken}; a dry run: nothing was changed` : taken);
      return done;
    });
  };
  const isStored = await hasStore(config);
  if (!isStored) for (const id of wanted) checkKnown(id, []);
  const results = await (dryRun && !isStored ? work(NO_STORE) : withStore(work));
  if (options.json) printJson({ dry_run: dryRun, feeds: results.map(shownUpdate) });
  else printUpdates(results);
  if (!options.json) printFlips(results);
  for (const { feed, fallback } of results)
    if (fallback !== null) process.stderr.write(`feed ${feed} came from ${fallback}\n`);
  for (const one of results)
    if (one.outcome === 'forced' || isHeld(one)) process.stderr.write(`${told(one)}\n`);
  for (const { fault } of results)
    if (fault instanceof Error) process.stderr.write(`domain-risk: ${fault.stack}\n`);
  const bad = results.filter(isKept);
  if (bad.length > 0) throw new CommandFailed([...bad.map(told), ...fixes(bad, atHand)].join('\n'));
}

const isTaken = ({ outcome }: Updated) => outcome === 'accepted' || outcome === 'forced';
const isKept = ({ outcome }: Updated) =>
  outcome === 'refused' || outcome === 'failed' || outcome === 'waiting';
const isHeld = ({ outcome }: Updated) => outcome === 'held';

function told({ feed, outcome, problems }: Updated): string {
  return `feed ${feed} ${outcome}: ${problems.join('; ')}`;
}

/** One line for each kind of trouble, however many feeds have it. `atHand`: no network brings these. */
function fixes(bad: readonly Updated[], atHand: ReadonlySet<string>): string[] {
  const refused = bad.some(({ outcome }) => outcome === 'refused');
  const unread = bad.find(({ feed, isUnread }) => isUnread && !atHand.has(feed));
  return [
    ...(unread ? [`check the network, or bring the list by --from ${unread.feed}=<file>`] : []),
    ...(refused ? ['what was refused was not taken; --force takes it all the same'] : []),
  ];
}

function shownUpdate({ dropped, ...one }: Updated) {
  const { feed, outcome, before, after, problems, fallback, turnover, flips } = one;
  const list = {
    feed,
    outcome,
    before,
    after,
    dropped: dropped && shownDropped(dropped),
    problems,
    fallback,
  };
  return { ...list, ...turnover, flips: flips && shownFlips(flips) };
}

function printUpdates(done: readonly Updated[]): void {
  printTable(
    ['FEED', 'OUTCOME', 'VERSION', 'NAMES', 'DROPPED'],
    done.map(one => [
      one.feed,
      one.outcome,
      change(one, one.before?.version ?? 'none', one.after?.version),
      change(one, one.before?.names ?? 0, one.after?.names),
      one.dropped && sum(one.dropped),
    ]),
  );
}

/** An arrow away from a list that stays would read as if it were gone. */
function change(one: Updated, before: string | number, after: string | number | undefined): string {
  if (isHeld(one)) return 'kept';
  if (!isKept(one)) return `${before} → ${after}`;
  return one.before ? `${before}, kept` : 'none';
}
