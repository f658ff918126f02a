/** The two simulated internets at full size: what learning finds there, and whom it must never flag. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { printTable } from '../src/commands/print.ts';
import { openSqliteStore } from '../src/store/sqlite/store.ts';
import { startDns } from '../test/support/dns.ts';
import { HARD, simulateHardInternet } from '../test/support/hard-internet.ts';
import { isLate, type Moment, visitHard } from '../test/support/hard-visit.ts';
import { FULL, type Observed, simulateInternet, visit } from '../test/support/internet.ts';

export const percent = (part: number, whole: number) =>
  whole === 0 ? 'none' : `${((100 * part) / whole).toFixed(1)} %`;
export const say = (text: string) => void process.stdout.write(`${text}\n`);

/** Gives whether the promise about unlisted domains on hosts of their own held. */
export async function simulation(): Promise<boolean> {
  say(
    `\nSimulated internet: ${FULL.onOwn} disposable domains on ${FULL.hosts} hosts of their own, ${FULL.onShared} on shared hosts, ${FULL.innocent} innocent; a third unlisted\n`,
  );
  const folder = mkdtempSync(join(tmpdir(), 'domain-risk-'));
  const internet = simulateInternet(FULL, 20261115);
  const dns = await startDns();
  const spread = () => {
    dns.zones.clear();
    for (const [name, zone] of internet.zones) dns.zones.set(name, zone);
  };
  const store = await openSqliteStore(join(folder, 'store.db'), error => {
    throw error;
  });
  const time = { now: Date.now() };
  spread();
  const world = await visit(dns, store, internet.sites, time);
  const seen: [string, Observed][] = [];
  try {
    seen.push(['before', await world.observe()]);
    await world.sweep();
    // What callers ask for in the course of a day.
    for (let round = 0; round < 3; round++) await world.observe();
    await world.digest();
    seen.push(['after the sweep and a day', await world.observe()]);
    internet.rename();
    spread();
    time.now += 2 * 86_400_000;
    seen.push(['hosts renamed, first lookup', await world.observe()]);
    await world.digest();
    seen.push(['hosts renamed, second lookup', await world.observe()]);
  } finally {
    await world.close();
    await store.close();
    await dns.close();
    rmSync(folder, { recursive: true, force: true });
  }
  printTable(
    [
      'WHEN',
      'UNLISTED ON OWN HOSTS',
      'FOUND',
      'RECALL',
      'UNLISTED ON SHARED',
      'FOUND',
      'INNOCENT',
      'FLAGGED',
    ],
    seen.map(([when, o]) => [
      ...[when, o.wanted, o.found, percent(o.found, o.wanted), o.hidden, o.hiddenFound],
      ...[o.innocent, o.innocentFlagged.length],
    ]),
  );
  const [, swept, , renamed] = seen.map(([, observed]) => observed);
  const enough = [swept!, renamed!].every(({ found, wanted }) => found >= 0.9 * wanted);
  return enough && seen.every(([, { innocentFlagged, unasked }]) => innocentFlagged.length + unasked === 0);
}

const FRAMED_WITH: Record<Moment, string> = {
  swept: 'registered after the first sweep',
  moved: 'moved there after the first sweep',
  asked: 'asked for before anything was swept',
  relisted: 'listed after the first sweep, when they did not exist, and registered then',
  raced: 'registered when a list names them that an update has not yet brought',
  shown: 'owned by one party, and asked for more than a week before any list names them',
};

/** Operators are few and large, so that one draw differs from the next by some percent: these are taken together. */
const DRAWS = [1, 2, 3, 4, 5];

/** Gives whether nobody innocent was flagged in any draw, and as many were found in all of them as on real pairs. */
export async function hardSimulation(unlisted: number, first: Moment, share: number): Promise<boolean> {
  const { disposable, platforms, framing } = HARD;
  say(
    `\nHarder internet, ${DRAWS.length} draws: ${disposable} disposable domains of which ${100 * unlisted} % are unlisted, ${platforms} platforms with 10 to 54 listed guests each, hosters framed with ${framing.join(', ')} listed names from one key and from three, ${FRAMED_WITH[first]}\n`,
  );
  const draws: Look[][] = [];
  for (const seed of DRAWS) draws.push(await drawHard(unlisted, first, seed));
  const looks = draws[0]!.map(({ when }, at) => ({ when, all: draws.map(draw => draw[at]!) }));
  const sum = (all: readonly Look[], count: (look: Look) => number) =>
    all.reduce((total, look) => total + count(look), 0);
  const wanted = ({ seen }: Look) => seen.wanted;
  const found = ({ seen }: Look) => seen.found;
  printTable(
    ['WHEN', 'UNLISTED', 'FOUND', 'RECALL', 'LEAST', 'INNOCENT', 'FLAGGED', 'FRAMED, FLAGGED'],
    looks.map(({ when, all }) => [
      ...[when, sum(all, wanted), sum(all, found), percent(sum(all, found), sum(all, wanted))],
      percent(Math.min(...all.map(look => found(look) / wanted(look))), 1),
      sum(all, ({ seen }) => seen.innocent),
      sum(all, ({ seen }) => seen.innocentFlagged.length),
      sum(all, ({ framed }) => framed.length),
    ]),
  );
  const isClean = draws
    .flat()
    .every(({ seen, framed }) => seen.innocentFlagged.length + framed.length + seen.unasked === 0);
  const { all } = looks.at(-1)!;
  return isClean && sum(all, found) >= share * sum(all, wanted);
}

type Look = Awaited<ReturnType<typeof visitHard>>[number];

async function drawHard(unlisted: number, first: Moment, seed: number): Promise<Look[]> {
  const folder = mkdtempSync(join(tmpdir(), 'domain-risk-'));
  const dns = await startDns();
  const store = await openSqliteStore(join(folder, 'store.db'), error => {
    throw error;
  });
  const looks = await visitHard(dns, store, simulateHardInternet(HARD, unlisted, seed, isLate(first)), first);
  await store.close();
  await dns.close();
  rmSync(folder, { recursive: true, force: true });
  return [...looks];
}
