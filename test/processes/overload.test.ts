import { expect, onTestFinished, test } from 'vitest';
import { bystanders, closedLoop, generate, inDoubt, type Rig, seenBy, startRig } from '../../bench/rig.ts';
import { sized } from '../support/scale.ts';
import { isStarved, runSeconds, stretch } from '../support/vitals.ts';

/** `npm run bench:overload` measures all of it against the clock; here it is compared with itself only. */
const COST_MICROS = 500;
const MS = sized(3_000, 20_000);
const CONNECTIONS = 300;

async function startLowered(): Promise<Rig> {
  const rig = await startRig({ cost: COST_MICROS, pin: false });
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
  const calm = [await run(closedLoop(rig, 64, 1_000))];

  /** What it did for each second of a processor, at its best and when asked for five times that. */
  const measure = async () => {
    const best = await shareOf(rig, run(closedLoop(rig, 64, 1_500)));
    calm.push(best.done);
    const { good } = best.done.seen[0]!;
    const greedy = { ...closedLoop(rig, CONNECTIONS, MS), name: 'greedy', perSecond: (5 * good) / 1.5 };
    const load = await shareOf(rig, Promise.all([run(greedy), run(...bystanders(rig, 0, MS))]));
    const [seen, other] = [seenBy(load.done[0], 'greedy'), seenBy(load.done[1], 'other')];
    return {
      // Where it had less of the machine than before, it was asked for far more than five times what it can do.
      isFair: load.share > 0.8 * best.share,
      ratio: (seen.good + other.good) / load.seconds / (good / best.seconds),
      ...{ seen, other, watch: load.done[1] },
    };
  };
  const tries = [await measure()];
  const isGood = ({ isFair, ratio }: (typeof tries)[number]) => isFair && ratio > LEAST_RATIO;
  while (!isGood(tries.at(-1)!) && tries.length < 8) tries.push(await measure());

  for (const { seen } of tries) {
    expect(Object.keys(seen.statuses).filter(status => status !== '200' && status !== '503')).toEqual([]);
    expect({ without: seen.without, unanswered: inDoubt([seen]) }).toEqual({ without: 0, unanswered: 0 });
    expect(seen.statuses['503']).toBeGreaterThan(0);
  }
  const { other, watch } = tries.at(-1)!;
  // Where others have the processors longer than the server, it answers as much less in time.
  const least = 0.99 / (isStarved(rig.pid) ? stretch(rig.pid) : 1);
  expect((other.statuses['200'] ?? 0) / other.offered).toBeGreaterThanOrEqual(least);
  for (const probe of ['livez', 'readyz']) {
    const { statuses, offered } = seenBy(watch, probe);
    expect((statuses['200'] ?? 0) / offered, probe).toBeGreaterThanOrEqual(least);
  }
  const fair = tries.filter(({ isFair }) => isFair);
  const ratios = (fair.length > 0 ? fair : tries).map(({ ratio }) => ratio);
  expect(Math.max(...ratios)).toBeGreaterThan(LEAST_RATIO);
  const answered = [...calm.flatMap(({ seen }) => seen), ...tries.map(({ seen }) => seen)];
  expect(rig.counted()).toBe(answered.reduce((sum, one) => sum + (one.statuses['200'] ?? 0), 0));
  // What is shed costs no line of the log each.
  expect(rig.loggedShed()).toBeLessThan(10 * tries.length);
});
