/** What a service in the harder internet comes to see in four months, with somebody who frames hosters from the start. */

import type { Store } from '../../src/core/ports.ts';
import type { DnsServer } from './dns.ts';
import type { HardInternet } from './hard-internet.ts';
import { type Observed, type Site, visit } from './internet.ts';

const DAY_MS = 86_400_000;

export interface Look {
  readonly when: string;
  readonly seen: Observed;
  /** Innocent names on framed hosters, and companies framed by address, that were flagged. */
  readonly framed: readonly string[];
}

/**
 * When hosters are framed. `swept`: the service has swept before the names are registered. `moved`: they receive mail
 * elsewhere when it sweeps for the first time, and are moved then. `asked`: they are asked for before the first sweep, so
 * that nobody can know what they were. `relisted`: an update after the first sweep brings them, and they are registered
 * before the next. `raced`: they are registered when a public list names them and an update has not yet brought that.
 * `shown`: one party owns them, and they are asked for more than a week before any list names them.
 */
export type Moment = 'swept' | 'moved' | 'asked' | 'relisted' | 'raced' | 'shown';
const LATE: ReadonlySet<Moment> = new Set<Moment>(['relisted', 'raced', 'shown']);
export const isLate = (moment: Moment) => LATE.has(moment);

export async function visitHard(
  dns: DnsServer,
  store: Store,
  internet: HardInternet,
  first: Moment,
): Promise<Look[]> {
  const start = Date.UTC(2026, 10, 15, 12);
  const time = { now: start };
  const spread = () => {
    for (const [name, zone] of internet.zones) dns.zones.set(name, zone);
  };
  if (first === 'moved') internet.gather();
  spread();
  const world = await visit(dns, store, internet.sites, time);
  const lapsed = new Set(internet.framings.flatMap(({ names }) => names));
  const alive = internet.sites.filter(({ name }) => !lapsed.has(name));
  const looks: Look[] = [];
  const on = async (day: number, when: string, work: () => Promise<unknown>) => {
    time.now = start + day * DAY_MS;
    await world.update();
    await work();
    await world.digest();
    // The first lookup asks for addresses behind its answer, the second knows them.
    await world.observe(alive);
    await world.digest();
    const seen = await world.observe(alive);
    const framed = await flaggedOf(world, internet.victims);
    looks.push({ when: `day ${day}: ${when}`, seen, framed });
  };
  const attack = async () => {
    internet.frame();
    spread();
    for (const { names, keys } of internet.framings)
      for (const name of names) for (const key of keys) await world.judge(name, key);
    // Listed names are answered before DNS is: the second time their hosts are known.
    await world.learn.settle();
    for (const { names, keys } of internet.framings)
      for (const name of names) for (const key of keys) await world.judge(name, key);
  };
  try {
    if (first !== 'asked') {
      await on(0, 'the first sweep', () => world.sweep());
      if (first === 'relisted')
        await on(2, 'an update brings names that do not exist', () => world.update(true));
      await on(3, 'hosters are framed', attack);
      if (first === 'raced') {
        await on(4, 'an update brings the names', () => world.update(true));
        await on(5, 'they are asked for again', attack);
      }
      if (first === 'shown') {
        await on(12, 'an update brings the names', () => world.update(true));
        await on(13, 'they are asked for again', attack);
      }
    } else {
      await on(0, 'hosters are framed before anything was swept', attack);
      await on(3, 'the first sweep', () => world.sweep());
    }
    await on(first === 'shown' ? 14 : 11, 'a sweep', () => world.sweep());
    internet.rotate();
    spread();
    await on(45, 'hosts and addresses rotated, a sweep', () => world.sweep());
    await on(110, 'a sweep', () => world.sweep());
  } finally {
    await world.close();
  }
  return looks;
}

async function flaggedOf(
  world: { judge: (name: string) => Promise<{ reason: string }> },
  sites: readonly Site[],
): Promise<string[]> {
  const flagged: string[] = [];
  for (const { name } of sites) if ((await world.judge(name)).reason === 'disposable') flagged.push(name);
  return flagged;
}
