import { expect, onTestFinished, test } from 'vitest';
import { bystanders, closedLoop, generate, inDoubt, type Rig, seenBy, startRig } from '../../bench/rig.ts';
import { LONG_LISTS } from '../support/environment.ts';
import { sized } from '../support/scale.ts';
import { isStarved, runSeconds, stretch } from '../support/vitals.ts';

/** `npm run bench:overload` measures all of it against the clock; here it is compared with itself only. */
const COST_MICROS = 500;
const MS = sized(1_500, 20_000);
const BEST_MS = sized(700, 1_500);
const CONNECTIONS = 300;

async function startLowered(): Promise<Rig> {
  const rig = await startRig({ cost: COST_MICROS, pin: false, feedsOff: LONG_LISTS });
  onTestFinished(() => rig.close());
  return rig;
}

/** Of one processor, that the server has had while something was done. */
async function shareOf<T>(rig: Rig, work: Promise<T>): Promise<{ done: T; seconds: number; share: number }> {
  const before = { run: runSeconds(rig.pid), at: performance.now() };
  const done = await work;
  const seconds = runSeconds(rig.pid) - before.run;
  return { done, seconds, share: (1_000 * seconds) / (performance.now() - before.at) };
}

/** Others who take the processors in between make it less now and then: it is measured again then. */
const LEAST_RATIO = 0.5;

test('asked for five times what it can do, it goes on doing at least half of it, says 503 to the rest, counts what it answered 200, and serves another caller', async () => {
  const rig = await startLowered();
  const run = (...callers: Parameters<typeof generate>[0]['callers']) =>
    generate({ port: rig.port, callers }, false);
  const calm = [await run(closedLoop(rig, 64, sized(500, 1_000)))];

  /** What it did for each second of a processor, at its best and when asked for five times that. */
  const measure = async () => {
    const best = await shareOf(rig, run(closedLoop(rig, 64, BEST_MS)));
    calm.push(best.done);
    const { good } = best.done.seen[0]!;
    const greedy = {
      ...closedLoop(rig, CONNECTIONS, MS),
      name: 'greedy',
      perSecond: (5 * good * 1_000) / BEST_MS,
    };
    const load = await shareOf(rig, Promise.all([run(greedy), run(...bystanders(rig, 0, MS))]));
    const [seen, other] = [seenBy(load.done[0], 'greedy'), seenBy(load.done[1], 'other')];
    const statuses = Object.keys(seen.statuses);
    // Where others have the processors longer than the server, it answers as much less in time, and its store may be late.
    const isLate = isStarved(rig.pid);
    const least = 0.99 / (isLate ? stretch(rig.pid) : 1);
    const watched = [other, seenBy(load.done[1], 'livez'), seenBy(load.done[1], 'readyz')];
    return {
      // Where it had less of the machine than before, it was asked for far more than five times what it can do.
      isFair: load.share > 0.8 * best.share,
      isEnough: (seen.good + other.good) / load.seconds / (good / best.seconds) > LEAST_RATIO,
      // Where whoever asks had less, it was asked for less, and shed nothing.
      isShedding: statuses.includes('503'),
      unserved: watched
        .filter(one => (one.statuses['200'] ?? 0) / one.offered < least)
        .map(({ name }) => name),
      others: statuses.filter(status => !['200', '503', ...(isLate ? ['500'] : [])].includes(status)),
      ...{ without: seen.without, unanswered: inDoubt([seen]), seen },
    };
  };
  type Measured = Awaited<ReturnType<typeof measure>>;
  const tries: Measured[] = [];
  /** What others who take the processors keep from being seen is seen the next time. */
  const isSeen = (is: (one: Measured) => boolean) => tries.some(one => one.isShedding && is(one));
  const isServing = () => isSeen(({ unserved }) => unserved.length === 0);
  do tries.push(await measure());
  while (!(isServing() && isSeen(({ isFair, isEnough }) => isFair && isEnough)) && tries.length < 8);

  for (const { others, without, unanswered } of tries)
    expect({ others, without, unanswered }).toEqual({ others: [], without: 0, unanswered: 0 });
  const isAnyFair = tries.some(({ isFair }) => isFair);
  const shown = {
    isShedding: isSeen(() => true),
    isServing: isServing(),
    isEnough: isSeen(({ isFair, isEnough }) => isEnough && (isFair || !isAnyFair)),
  };
  const all = JSON.stringify(tries.map(({ seen: _, ...one }) => one));
  expect(shown, all).toEqual({ isShedding: true, isServing: true, isEnough: true });
  const answered = [...calm.flatMap(({ seen }) => seen), ...tries.map(({ seen }) => seen)];
  const sum = (status: string) => answered.reduce((all, { statuses }) => all + (statuses[status] ?? 0), 0);
  // A call that the store was late for may be counted; so may one that has no answer when a busy machine is no longer waited for.
  const doubtful = isStarved(rig.pid) ? sum('500') + inDoubt(answered) : sum('500');
  const told = JSON.stringify(
    answered.map(({ name, statuses, lost, timedOut, cut }) => ({ name, statuses, lost, timedOut, cut })),
  );
  expect(rig.counted(), told).toBeGreaterThanOrEqual(sum('200'));
  expect(rig.counted(), told).toBeLessThanOrEqual(sum('200') + doubtful);
  // What is shed costs no line of the log each.
  expect(rig.loggedShed()).toBeLessThan(10 * tries.length);
});
