import { expect, onTestFinished, test } from 'vitest';
import { bystanders, closedLoop, generate, inDoubt, type Rig, seenBy, startRig } from '../../bench/rig.ts';
import { sized } from '../support/scale.ts';
import { runSeconds } from '../support/vitals.ts';

/** `npm run bench:overload` measures all of it against the clock; here it is compared with itself only. */
const COST_MICROS = 500;
const MS = sized(3_000, 20_000);
const CONNECTIONS = 300;

async function startLowered(): Promise<Rig> {
  const rig = await startRig({ cost: COST_MICROS, pin: false });
  onTestFinished(() => rig.close());
  return rig;
}

test('asked for five times what it can do, it goes on doing at least half of it, says 503 to the rest, counts what it answered 200, and serves another caller', async () => {
  const rig = await startLowered();
  const run = (...callers: Parameters<typeof generate>[0]['callers']) =>
    generate({ port: rig.port, callers }, false);
  const warm = await run(closedLoop(rig, 64, 1_000));
  // By the time that it has had a processor: how many others want one changes from second to second.
  const spent = async <T>(work: Promise<T>) => {
    const before = runSeconds(rig.pid);
    return [await work, runSeconds(rig.pid) - before] as const;
  };
  const [best, bestSeconds] = await spent(run(closedLoop(rig, 64, 1_500)));
  const peak = best.seen[0]!.good / bestSeconds;

  const greedy = {
    ...closedLoop(rig, CONNECTIONS, MS),
    name: 'greedy',
    perSecond: (5 * best.seen[0]!.good) / 1.5,
  };
  const [[load, watch], seconds] = await spent(Promise.all([run(greedy), run(...bystanders(rig, 0, MS))]));
  const seen = seenBy(load, 'greedy');
  const other = seenBy(watch, 'other');

  expect(Object.keys(seen.statuses).filter(status => status !== '200' && status !== '503')).toEqual([]);
  expect({ without: seen.without, unanswered: inDoubt([seen]) }).toEqual({ without: 0, unanswered: 0 });
  expect((seen.good + other.good) / seconds).toBeGreaterThan(0.5 * peak);
  const answered = [...warm.seen, ...best.seen, seen].map(one => one.statuses['200'] ?? 0);
  expect(rig.counted()).toBe(answered.reduce((sum, count) => sum + count, 0));
  // What is shed costs no line of the log each.
  expect(seen.statuses['503']).toBeGreaterThan(0);
  expect(rig.loggedShed()).toBeLessThan(10);
  expect((other.statuses['200'] ?? 0) / other.offered).toBeGreaterThanOrEqual(0.99);
  for (const probe of ['livez', 'readyz']) {
    const { statuses, offered } = seenBy(watch, probe);
    expect((statuses['200'] ?? 0) / offered, probe).toBeGreaterThanOrEqual(0.99);
  }
});
