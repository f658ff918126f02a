/** From what a store remembers of hosts to what lookups know of them, judged by today's lists, in steps. */

import { isIP } from 'node:net';
import type { Catalog } from './catalog.ts';
import { dayFrom } from './days.ts';
import { NO_OTHERS, type OtherHosts } from './deciding.ts';
import { isHostName } from './domain.ts';
import { type HostRecord, type JudgedHost, ownAt } from './guest.ts';
import { Infra } from './infra.ts';
import { enoughFor, groupOf, isEnough, learnableSum } from './learnable.ts';
import type { Known } from './learned.ts';
import { relisting } from './relist.ts';
import { residentsIn } from './residents.ts';
import { siblingsIn } from './siblings.ts';
import type { Steps } from './steps.ts';

/** Judging a host tries every choice of keys, 0.3 ms at most (2026-11-16), so fewer hosts are a step than names. */
const HOSTS_A_STEP = 4;
const NAMES_A_STEP = 100;

/** Of all others nobody needs to know. */
function* residentsOf(host: JudgedHost, sum: number | null, today: string): Steps<string> {
  return isEnough(sum, host.name) ? yield* residentsIn(host, enoughFor(host.name), today) : '';
}

/** Before anything was read. */
export const NOTHING_LEARNED = new Infra(new Map(), new Map(), () => undefined);

export function* foldingInfra(
  records: Iterable<HostRecord>,
  catalog: Catalog,
  today: string,
  addressesOf: (host: string) => readonly string[] | undefined,
  shared: ReadonlySet<string> = new Set(),
  others: OtherHosts = NO_OTHERS,
): Steps<Infra> {
  const known = new Map<string, Known>();
  const learned = new Set<string>();
  /** Where too few listed domains have hosts of their own, all that are received at the address tell about these. */
  const forOwn = new Map<string, Known>();
  let at = 0;
  for (const seen of records) {
    if (++at % HOSTS_A_STEP === 0) yield;
    const judged = yield* relisting(seen, catalog);
    const sum = learnableSum(judged, catalog, today);
    const { groups: _, ...record } = judged;
    known.set(record.name, { record, sum, residents: yield* residentsOf(judged, sum, today) });
    if (isEnough(sum, record.name)) learned.add(record.name);
    if (isIP(record.name) === 0 || !isEnough(sum, ownAt(record.name))) continue;
    yield;
    const own = { ...judged, name: ownAt(record.name) };
    const ownSum = learnableSum(own, catalog, today);
    forOwn.set(own.name, { record, sum: ownSum, residents: yield* residentsOf(own, ownSum, today) });
  }
  for (const [name, address] of forOwn) {
    if (++at % NAMES_A_STEP === 0) yield;
    if (!known.has(name)) known.set(name, address);
  }
  const learnedHosts: string[] = [];
  for (const name of known.keys()) {
    if (++at % NAMES_A_STEP === 0) yield;
    if (isHostName(name) && (learned.has(name) || learned.has(groupOf(name) ?? name)))
      learnedHosts.push(name);
  }
  const siblings = yield* siblingsIn(catalog);
  return new Infra(known, siblings, addressesOf, shared, others, {
    size: learned.size,
    learnedHosts,
    today: dayFrom(today),
  });
}
