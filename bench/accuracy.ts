/** `npm run accuracy`: how right the verdicts are, on lists that are no feeds of the product and in a simulated internet. */

import { buildCatalog } from '../src/assemble.ts';
import { printTable } from '../src/commands/print.ts';
import { loadCatalog } from '../src/compose.ts';
import type { Catalog } from '../src/core/catalog.ts';
import { lineage, parseDomain, registrableDomain } from '../src/core/domain.ts';
import type { Feed } from '../src/core/feed.ts';
import { takeSnapshot } from '../src/core/snapshot.ts';
import { isSpecialUse } from '../src/core/special-use.ts';
import { SOURCES } from '../src/feeds/sources.ts';
import { knownAnswers, wrongAnswers } from '../test/support/known-answers.ts';
import { measurePairs } from './pairs.ts';
import { DISPOSABLE, FREE, INNOCENT, installSets, type LabelledSet } from './sets.ts';
import { hardSimulation, percent, say, simulation } from './simulations.ts';
import { namesIn, updatedCatalog } from './updated.ts';

/** Names that could be asked for: canonical, no suffix, no special use. */
async function usable({ read }: LabelledSet): Promise<string[]> {
  const names = new Set<string>();
  for (const text of await read()) {
    const parsed = parseDomain(text.trim());
    if (parsed.ok && !isSpecialUse(parsed.domain)) names.add(parsed.domain);
  }
  return [...names];
}

const listingOf = (catalog: Catalog, name: string) => catalog.listed(lineage(name)).hits;
const isListed = (catalog: Catalog, name: string) => listingOf(catalog, name).length > 0;
const isGuarded = (catalog: Catalog, name: string) =>
  lineage(name).some(parent => catalog.isProtected(parent));

async function leaveOneOut(whole: Catalog): Promise<void> {
  say('\nEach feed by the others: how much of it they know (by lists alone)\n');
  const rows: unknown[][] = [];
  for (const left of SOURCES.feeds.filter(({ feed }) => feed.kind === 'disposable')) {
    const others = { ...SOURCES, feeds: SOURCES.feeds.filter(source => source !== left) };
    const catalog = await buildCatalog(others, () => {});
    const { names } = takeSnapshot(left.feed, await left.read());
    const counted = names.filter(name => !isGuarded(whole, name));
    const found = counted.filter(name => isListed(catalog, name)).length;
    rows.push([left.feed.id, counted.length, found, percent(found, counted.length)]);
  }
  printTable(['FEED', 'NAMES', 'KNOWN TO THE OTHERS', 'RECALL'], rows);
}

/** As installed and, where there is one, after an update. */
async function recallOfDisposable(catalog: Catalog, updated: Catalog | undefined): Promise<void> {
  say('\nDisposable domains of lists that are no feeds, fresh ones apart (by lists alone)\n');
  const rows: unknown[][] = [];
  const fresh = process.env.FRESH;
  const apart = fresh ? [{ label: `fresh: ${fresh}`, read: async () => namesIn(fresh) }] : [];
  for (const set of [...DISPOSABLE, ...apart]) {
    const names = await usable(set);
    const counted = names.filter(name => !isGuarded(catalog, name));
    const share = (by: Catalog) => percent(counted.filter(name => isListed(by, name)).length, counted.length);
    const after = updated ? share(updated) : 'not measured';
    rows.push([set.label, counted.length, share(catalog), after, names.length - counted.length]);
  }
  printTable(['SET', 'NAMES', 'FOUND AS INSTALLED', 'AFTER AN UPDATE', 'PROTECTED, NOT COUNTED'], rows);
  if (!fresh) say('No FRESH=file of names first seen lately, one per line: fresh names are not looked at.');
}

/** UPDATED: undefined where it is not set. */
async function afterUpdate(): Promise<Catalog | undefined> {
  const from = process.env.UPDATED;
  if (!from) {
    say(
      'No UPDATED=fetch, or a folder of lists called like their feeds: nothing is measured after an update.',
    );
    return undefined;
  }
  const { catalog, feeds } = await updatedCatalog(from);
  say(`After an update from ${from}: snapshot ${catalog.generation}, ${catalog.size} listed domains`);
  for (const { feed, outcome, problems } of feeds) say(`  ${[feed, outcome, ...problems].join(' ')}`);
  return catalog;
}

async function recallOfFree(catalog: Catalog): Promise<void> {
  say('\nConsumer webmail of lists that are no feeds\n');
  const rows: unknown[][] = [];
  for (const set of FREE) {
    const names = await usable(set);
    const listed = names.filter(name => isListed(catalog, name)).length;
    const free = names.filter(name => catalog.isFree(registrableDomain(name))).length;
    const rest = names.length - listed;
    rows.push([set.label, names.length, listed, free, percent(free, rest)]);
  }
  printTable(['SET', 'NAMES', 'FLAGGED DISPOSABLE', 'FREE PROVIDER', 'OF THOSE NOT FLAGGED'], rows);
}

/** Whoever is called free webmail is no corporate name any more. */
async function innocentCalledFree(catalog: Catalog): Promise<void> {
  say('\nUniversities and companies called consumer webmail\n');
  const rows: unknown[][] = [];
  for (const set of INNOCENT) {
    const names = await usable(set);
    const free = names.filter(name => catalog.isFree(registrableDomain(name)));
    rows.push([set.label, names.length, free.length, free.slice(0, 8).join(' ')]);
  }
  printTable(['SET', 'NAMES', 'CALLED FREE', 'SUCH AS'], rows);
}

/** Gives the share of right answers. */
async function knownOnes(catalog: Catalog): Promise<number> {
  const known = knownAnswers();
  const wrong = await wrongAnswers(catalog, known);
  const right = known.length - wrong.length;
  say(
    `\nKnown answers (test/known-answers.csv): ${right} of ${known.length}, ${percent(right, known.length)}`,
  );
  for (const { domain, expected, answered } of wrong)
    say(`  ${domain}: ${JSON.stringify(answered)}, right is ${JSON.stringify(expected)}`);
  return right / known.length;
}

/** Gives the number of universities flagged. */
async function falsePositives(catalog: Catalog, when: string): Promise<number> {
  say(`\nInnocent domains (by lists alone, ${when}): flagged, and by which feed\n`);
  const rows: unknown[][] = [];
  let wrong = 0;
  for (const set of INNOCENT) {
    const names = await usable(set);
    const flagged = names.filter(name => isListed(catalog, name));
    const feeds = new Map<string, number>();
    for (const name of flagged)
      for (const feed of new Set(listingOf(catalog, name).map(hit => hit.feed)))
        feeds.set(feed, (feeds.get(feed) ?? 0) + 1);
    const blamed = [...feeds].map(([feed, times]) => `${feed} ${times}`).join(', ');
    rows.push([set.label, names.length, flagged.length, blamed || 'none', flagged.slice(0, 4).join(' ')]);
    if (set.mustBeClean) wrong += flagged.length;
  }
  printTable(['SET', 'NAMES', 'FLAGGED', 'BY', 'SUCH AS'], rows);
  return wrong;
}

const PUBLIC_BODY = /\.(?:gov|mil)$|\.(?:gob|gouv|gov|govt|mil)\.[a-z]{2}$/;

/**
 * POPULAR=file, the most used names one per line, gzipped or not: how many of them lists alone would block, as installed
 * and with these names as the panel, which an update brings.
 */
async function popularNames(catalog: Catalog, path: string | undefined): Promise<void> {
  if (path === undefined) return say('\nNo POPULAR=file: widely used names are not looked at.');
  const names = await usable({ label: path, read: async () => namesIn(path) });
  const feed: Feed = {
    ...{ id: 'majestic-million', kind: 'popular', family: 'broad' },
    ...{ licence: 'none', origin: path, atLeast: 0 },
  };
  const popular = { feed, read: async () => ({ version: '1', names }) };
  const updated = await buildCatalog({ ...SOURCES, feeds: [...SOURCES.feeds, popular] }, () => {});
  const isSpared = (name: string) =>
    updated.isPanel(registrableDomain(name)) && !updated.listed(lineage(name)).families.has('verified');
  say('\nWidely used domains and public bodies among them (by lists alone)\n');
  const rows = [
    ['widely used', names],
    ['public bodies', names.filter(name => PUBLIC_BODY.test(name))],
  ].map(([label, some]) => {
    const flagged = (some as string[]).filter(name => isListed(catalog, name));
    const left = flagged.filter(name => !isSpared(name));
    return [label, some!.length, flagged.length, left.length, left.slice(0, 8).join(' ')];
  });
  printTable(['SET', 'NAMES', 'FLAGGED AS INSTALLED', 'WITH THE PANEL', 'SUCH AS'], rows);
}

const DEFAULT_PAIRS = 'mx-pairs.csv.gz';

installSets();
const catalog = await loadCatalog({ feedsOff: [] }, () => {});
say(
  `Accuracy on ${new Date().toISOString().slice(0, 10)}, snapshot ${catalog.generation}, ${catalog.size} listed domains`,
);
const updated = await afterUpdate();
await leaveOneOut(catalog);
await recallOfDisposable(catalog, updated);
await recallOfFree(catalog);
await innocentCalledFree(catalog);
const known = await knownOnes(catalog);
const universities =
  (await falsePositives(catalog, 'as installed')) +
  (updated ? await falsePositives(updated, 'after an update') : 0);
await popularNames(catalog, process.env.POPULAR);
const kept = [
  await simulation(),
  await hardSimulation(0.6, 'swept', 0.38),
  await hardSimulation(0.74, 'swept', 0.32),
  await hardSimulation(0.74, 'moved', 0.32),
  await hardSimulation(0.74, 'asked', 0.32),
  await hardSimulation(0.74, 'relisted', 0.32),
  await hardSimulation(0.74, 'raced', 0.32),
  await hardSimulation(0.74, 'shown', 0.32),
  await measurePairs(process.env.MX_PAIRS ?? DEFAULT_PAIRS),
];
const held = kept.every(Boolean);
say(`\nUniversity domains flagged: ${universities} (must be 0)`);
say(held ? 'The simulations held their promises.' : 'A simulation or the pairs broke a promise!');
process.exitCode = universities === 0 && held && known >= 0.99 ? 0 : 1;
