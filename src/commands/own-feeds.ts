/** `domain-risk feeds add|remove`: lists of the operator's own beside those that the service knows. */

import { existsSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { updateParts } from '../compose.ts';
import {
  ADDED_KINDS,
  type AddedFeed,
  addedInWords,
  FORMATS,
  type Format,
  parseFeedName,
} from '../core/added-feed.ts';
import type { FreshSource } from '../core/feed.ts';
import type { InUse } from '../core/history.ts';
import type { Store } from '../core/ports.ts';
import { FEED_IDS, SOURCES } from '../feeds/sources.ts';
import { type Updated, updateFeeds } from '../update.ts';
import { CommandFailed, printable, printJson, UsageProblem } from './print.ts';
import { rejectedStill } from './rejected.ts';
import { actor, done, operateOn, withStore } from './world.ts';

export function addOwnFeeds(feeds: Command): void {
  feeds
    .command('add')
    .description('follow a list of your own: it is read at once, and updated with the others from then on')
    .argument('<name>', 'lower-case letters, digits and hyphens')
    .argument('<place>', 'an https address, or a file that every server can read')
    .addOption(
      new Option('--kind <kind>', 'what the listed names are').choices(ADDED_KINDS).default('disposable'),
    )
    .addOption(
      new Option('--format <format>', 'defaults to the ending of the file, else lines').choices(FORMATS),
    )
    .option('--verified', 'you checked every name: the list flags domains on its own')
    .option('--force', 'accept it even if implausible; recorded in the audit log')
    .option('--json', 'one JSON document on stdout')
    .action(add);
  feeds
    .command('remove')
    .description(
      'remove a list that you added, with every version, or return another one to its bundled version, as "feeds rollback" does',
    )
    .argument('<feed>', 'as "feeds status" shows it')
    .option('--json', 'one JSON document on stdout')
    .action(remove);
}

/** Ends the command where it is neither one of ours nor one that was added. */
export function checkKnown(feed: string, added: readonly Pick<AddedFeed, 'name'>[]): void {
  const ids = [...FEED_IDS, ...added.map(({ name }) => name)];
  if (!ids.includes(feed))
    throw new UsageProblem(`there is no feed ${JSON.stringify(feed)}; there are ${ids.join(', ')}`);
}

interface AddOptions {
  kind: AddedFeed['kind'];
  format?: Format;
  verified?: boolean;
  force?: boolean;
  json?: boolean;
}

async function wantedFrom(name: string, place: string, options: AddOptions) {
  const { isAddress, placeProblem } = await import('../feeds/fresh.ts');
  const { kind, verified = false } = options;
  const parsed = parseFeedName(name);
  if (!parsed.ok) throw new UsageProblem(`the name ${JSON.stringify(name)} ${parsed.problem}`);
  if (FEED_IDS.includes(name)) throw new UsageProblem(`${name} is followed already: choose another name`);
  if (verified && kind !== 'disposable') throw new UsageProblem('--verified is for disposable lists');
  const problem = placeProblem(place);
  if (problem) throw new UsageProblem(problem);
  const format = options.format ?? formatOf(place);
  return { name, place: isAddress(place) ? place : resolve(place), kind, format, verified };
}

function formatOf(place: string): Format {
  const [path = ''] = place.split('?');
  return FORMATS.find(format => path.toLowerCase().endsWith(`.${format}`)) ?? 'lines';
}

async function add(name: string, place: string, options: AddOptions): Promise<void> {
  const wanted = await wantedFrom(name, place, options);
  const { added, updated } = await withStore((store, config) => addTo(store, config, wanted, options));
  // Such as on a full disk: the list itself was good a moment ago.
  if (!updated.after)
    throw new CommandFailed(
      `${name} is followed now, but no name of it counts yet: ${updated.problems.join('; ') || updated.outcome}; run "domain-risk feeds update ${name}" when that is mended`,
    );
  if (options.json) {
    const { verified, kind, format } = added;
    const { names } = updated.after;
    return printJson({ feed: name, kind, format, verified, names, outcome: updated.outcome });
  }
  const names = `${updated.after.names} names`;
  process.stdout.write(`${name} was added with ${names}: ${printable(addedInWords(added))}\n`);
  if (updated.outcome === 'waiting')
    process.stdout.write(`none of them counts yet: ${updated.problems.join('; ')}\n`);
}

type Wanted = Omit<AddedFeed, 'addedAt'>;

/** Read once and held against the gate before anything is kept of it. */
async function addTo(
  store: Store,
  config: Parameters<typeof updateParts>[0],
  wanted: Wanted,
  { force = false }: AddOptions,
): Promise<{ added: AddedFeed; updated: Updated }> {
  const { freshFeeds } = await import('../feeds/fresh.ts');
  const asAdded = { ...wanted, addedAt: 0 };
  const source = freshFeeds(new Map(), [asAdded]).find(({ feed }) => feed.id === wanted.name)!;
  let reading: ReturnType<FreshSource['read']> | undefined;
  const once: FreshSource = {
    feed: source.feed,
    read: () => {
      reading ??= source.read();
      return reading;
    },
  };
  const update = async (from: FreshSource, dryRun: boolean) => {
    const parts = updateParts(config, store, [from], actor());
    return (await updateFeeds(parts, { force, dryRun, evenHeld: true, progress: () => {} }))[0]!;
  };
  const tried = await update(once, true);
  if (tried.outcome === 'failed' || tried.outcome === 'refused') {
    const fix = tried.outcome === 'refused' ? '; --force takes it all the same' : '';
    throw new CommandFailed(`${wanted.name} was not added: ${tried.problems.join('; ')}${fix}`);
  }
  const added = done(await operateOn(store).addFeed(wanted, actor()), 'feeds status');
  return { added, updated: await update({ ...once, addedAt: added.addedAt }, false) };
}

async function remove(feed: string, options: { json?: boolean }): Promise<void> {
  const { told, rejected } = await withStore(async (store, config) => {
    const added = await store.addedFeeds();
    checkKnown(feed, added);
    if (added.some(({ name }) => name === feed)) {
      done((await operateOn(store).removeFeed(feed, actor())) ?? {}, 'feeds status');
      return { told: `${feed} was removed`, rejected: '' };
    }
    const cleared = done(await operateOn(store).clearFeed(feed, actor()), 'feeds status');
    return { told: inUseInWords(cleared), rejected: await rejectedStill(feed, store, config) };
  });
  if (options.json) printJson({ feed, removed: true });
  else process.stdout.write(`${told}\n`);
  process.stderr.write(rejected);
}

/** What is left of a list where no version of it is in use. */
const withoutUpdate = (feed: string): string =>
  SOURCES.feeds.some(source => source.feed.id === feed) ? 'as installed' : 'empty';

/** After an operator went back or forth. */
export function inUseInWords({ feed, version, isHeld }: InUse): string {
  const now = version ? `at version ${version.version} with ${version.names} names` : withoutUpdate(feed);
  const more = isHeld
    ? `; updates leave it alone until "feeds rollback --undo", or "feeds update ${feed}", after which what you went back from is not kept`
    : '';
  return `${feed} is ${now}${more}`;
}

/** Where a list of the operator's own comes from. */
export function placeInWords(origin: string): string {
  const isGone = isAbsolute(origin) && !existsSync(origin);
  return `${printable(origin)}${isGone ? ', where no file is any more' : ''}`;
}
