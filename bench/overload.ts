/**
 * Measures what becomes of callers when far more is asked of the service than it can do (promise P12), and says of
 * each promised figure whether it holds. The capacity is lowered so that one core can ask for ten times of it.
 */

import { printTable } from '../src/commands/print.ts';
import type { Report, Seen } from './open-loop.ts';
import {
  bystanders,
  closedLoop,
  GREEDY_ADDRESS,
  generate,
  inDoubt,
  PATH,
  type Rig,
  seenBy,
  startRig,
} from './rig.ts';

const SECONDS = Number(process.env.SECONDS ?? 60);
const COST_MICROS = 500;
const LIGHT_MS = 2_000;
/** Twice as long as getting back to full speed may take, and some more to see that it stays. */
const AFTER_MS = 5_000;
/** What a light load's answers are within, when nothing is wrong. */
const LIGHT_GOOD_MS = 100;
const WINDOW_MS = 100;

interface Row {
  readonly name: string;
  /** The mean of what it was before and after: the same machine was a third faster or slower some minutes later (2026-11-18). */
  readonly peak: number;
  readonly leastRatio: number;
  /**
   * By which every answer is there; one more second where connections may be left unread for one. The first request
   * of a connection is not judged: it waits for the connection to be accepted, and nobody can have read it before.
   */
  readonly slowestMs: number;
  readonly greedy: Seen;
  readonly other: Seen;
  readonly livez: Seen;
  readonly readyz: Seen;
  readonly recoveryMs: number;
  readonly lagMs: number;
}

const total = { answered200: 0, inDoubt: 0, shed: 0 };

function add(reports: readonly Report[]): void {
  for (const { seen } of reports) {
    total.inDoubt += inDoubt(seen);
    for (const { statuses } of seen) {
      total.answered200 += statuses['200'] ?? 0;
      total.shed += statuses['503'] ?? 0;
    }
  }
}

/** The best of a few closed loops: what the server can do when it is asked for no more than that. */
async function measurePeak(rig: Rig): Promise<number> {
  const ms = Math.min(4_000, SECONDS * 1000);
  let best = 0;
  for (const connections of [64, 256]) {
    const report = await generate({ port: rig.port, callers: [closedLoop(rig, connections, ms)] }, true);
    add([report]);
    best = Math.max(best, report.seen[0]!.good / (ms / 1000));
  }
  return best;
}

/**
 * From the end of the overload until the same light load as before gets nine tenths of the good answers that it got
 * before, in two windows one after the other (one alone is noise).
 */
function recoveryOf(before: Seen, after: Seen, overMs: number): number {
  const usual = before.good / (LIGHT_MS / WINDOW_MS);
  const isUsual = (window: number) => (after.goodIn[window] ?? 0) >= 0.9 * usual;
  const first = overMs / WINDOW_MS;
  for (let window = first; window < first + AFTER_MS / WINDOW_MS - 1; window++) {
    if (isUsual(window) && isUsual(window + 1)) return (window - first) * WINDOW_MS;
  }
  return Number.POSITIVE_INFINITY;
}

async function overload(rig: Rig, times: number, connections: number) {
  const peak = await measurePeak(rig);
  const overMs = LIGHT_MS + SECONDS * 1000;
  const common = { path: PATH, authorization: rig.greedy, from: GREEDY_ADDRESS };
  const light = { ...common, perSecond: peak / 2, connections: 64, goodMs: LIGHT_GOOD_MS };
  const callers = [
    { ...light, name: 'before', startMs: 0, endMs: LIGHT_MS },
    {
      ...common,
      name: 'greedy',
      perSecond: times * peak,
      connections,
      startMs: LIGHT_MS,
      endMs: overMs,
      goodMs: 1_000,
    },
    { ...light, name: 'after', startMs: overMs, endMs: overMs + AFTER_MS },
  ];
  // A process of its own: what it sees must not wait for the greedy caller's own work.
  const [load, watch] = await Promise.all([
    generate({ port: rig.port, callers }, true),
    generate({ port: rig.port, callers: bystanders(rig, LIGHT_MS, overMs) }, true),
  ]);
  add([load]);
  total.shed += seenBy(watch, 'other').statuses['503'] ?? 0;
  return {
    peak: (peak + (await measurePeak(rig))) / 2,
    greedy: seenBy(load, 'greedy'),
    other: seenBy(watch, 'other'),
    livez: seenBy(watch, 'livez'),
    readyz: seenBy(watch, 'readyz'),
    recoveryMs: recoveryOf(seenBy(load, 'before'), seenBy(load, 'after'), overMs),
    lagMs: Math.max(load.lagMs, watch.lagMs),
  };
}

const perSecond = (count: number) => (count / SECONDS).toFixed(0);
const ms = (value: number) => value.toFixed(value < 10 ? 1 : 0);
/** All that was of use to somebody: the other caller's answers cost as much as the greedy one's. */
const ratioOf = ({ greedy, other, peak }: Row) => (greedy.good + other.good) / SECONDS / peak;
const shareOf = ({ statuses, offered }: Seen) => (statuses['200'] ?? 0) / offered;
const sum = (counts: Readonly<Record<string, number>>) => Object.values(counts).reduce((a, b) => a + b, 0);
const unexpected = ({ statuses }: Seen) => sum(statuses) - (statuses['200'] ?? 0) - (statuses['503'] ?? 0);

function print(rows: readonly Row[]): void {
  const columns = [
    ...['LOAD', 'OFFERED/S', 'SENT/S', 'GOOD/S', 'RATIO', '503/S', 'ELSE', 'UNSENT/S', 'LOST', 'TIMED OUT'],
    ...[
      'REFUSED',
      'REOPENED',
      'P50',
      'P99',
      'SLOWEST',
      'SLOWEST FIRST',
      'FULL SPEED AFTER',
      'OTHER 200',
      'OTHER P99',
    ],
    ...['LIVEZ P99', 'LIVEZ MOST', 'READYZ P99', 'READYZ MOST', 'LAG'],
  ];
  printTable(
    columns,
    rows.map(row => {
      const { greedy, other, livez, readyz } = row;
      return [
        row.name,
        perSecond(greedy.offered),
        perSecond(greedy.sent),
        perSecond(greedy.good),
        ratioOf(row).toFixed(2),
        perSecond(greedy.statuses['503'] ?? 0),
        unexpected(greedy),
        perSecond(greedy.unsent),
        greedy.lost,
        greedy.timedOut + greedy.cut,
        sum(greedy.refused),
        greedy.reopened,
        ms(greedy.p50),
        ms(greedy.p99),
        ms(greedy.slowest),
        ms(greedy.slowestFirst),
        row.recoveryMs === Number.POSITIVE_INFINITY ? 'never' : ms(row.recoveryMs),
        `${(100 * shareOf(other)).toFixed(1)} %`,
        ms(other.p99),
        ms(livez.p99),
        ms(livez.slowest),
        ms(readyz.p99),
        ms(readyz.slowest),
        ms(row.lagMs),
      ];
    }),
  );
}

/** Each promised figure, and the loads under which it does not hold. */
function judge(rows: readonly Row[]): { promise: string; broken: string[] }[] {
  const where = (isBroken: (row: Row) => boolean) => rows.filter(isBroken).map(({ name }) => name);
  const unanswered = ({ lost, timedOut, cut }: Seen) => lost + timedOut + cut;
  return [
    {
      promise: 'goodput at least 80 % of the peak, 70 % at full speed',
      broken: where(row => ratioOf(row) < row.leastRatio),
    },
    { promise: 'p99 of what is answered below 1 s', broken: where(row => row.greedy.p99 >= 1_000) },
    {
      promise: 'every request that was read gets 200 or 503 with Retry-After',
      broken: where(({ greedy }) => unexpected(greedy) > 0 || greedy.without > 0 || unanswered(greedy) > 0),
    },
    {
      promise: 'every answer within 1 s (2 s where connections may be left unread for 1 s)',
      broken: where(row => row.greedy.slowest > row.slowestMs),
    },
    { promise: 'full speed within 2 s afterwards', broken: where(row => row.recoveryMs > 2_000) },
    {
      promise: 'another caller gets at least 99 % of its answers',
      broken: where(({ other }) => shareOf(other) < 0.99),
    },
    { promise: "another caller's p99 below 500 ms", broken: where(({ other }) => other.p99 >= 500) },
    {
      promise: '/livez and /readyz below 100 ms, all of them 200',
      broken: where(({ livez, readyz }) =>
        [livez, readyz].some(probe => probe.slowest >= 100 || shareOf(probe) < 1),
      ),
    },
  ];
}

interface Kept {
  readonly counted: number;
  readonly loggedShed: number;
}

async function measure(cost: number, loads: (rig: Rig) => Promise<Row[]>) {
  const rig = await startRig({ cost, pin: true });
  try {
    await measurePeak(rig);
    const peak = await measurePeak(rig);
    process.stderr.write(
      `capacity with ${cost} µs on top of each counted call: ${peak.toFixed(0)} a second\n`,
    );
    const rows = await loads(rig);
    const kept: Kept = { counted: rig.counted(), loggedShed: rig.loggedShed() };
    return { rows, kept };
  } finally {
    await rig.close();
  }
}

const tell = (row: Row) =>
  process.stderr.write(`${row.name}: goodput ${ratioOf(row).toFixed(2)} of the peak\n`);

const lowered = await measure(COST_MICROS, async rig => {
  const rows: Row[] = [];
  for (const times of [2, 5, 10]) {
    for (const connections of [1_000, 3_000, 6_000]) {
      const name = `${times}x over ${connections}`;
      const seen = await overload(rig, times, connections);
      rows.push({ ...seen, name, leastRatio: 0.8, slowestMs: 1_000 });
      tell(rows.at(-1)!);
    }
  }
  return rows;
});
const full = await measure(0, async rig => {
  const seen = await overload(rig, 2, 1_000);
  const row: Row = { ...seen, name: 'full speed, 2x over 1000', leastRatio: 0.7, slowestMs: 2_000 };
  tell(row);
  return [row];
});

const rows = [...lowered.rows, ...full.rows];
process.stdout.write(
  `${SECONDS} s each; times in ms; LAG is how far the load generator itself fell behind at most, and no part of SLOWEST and MOST\n\n`,
);
print(rows);
const counted = lowered.kept.counted + full.kept.counted;
const loggedShed = lowered.kept.loggedShed + full.kept.loggedShed;
const verdicts = [
  ...judge(rows),
  {
    promise: `counted is what was answered: ${total.answered200} times 200, ${counted} counted, ${total.inDoubt} in doubt`,
    broken: total.answered200 <= counted && counted <= total.answered200 + total.inDoubt ? [] : ['the store'],
  },
  {
    promise: `what is shed costs no log line each: ${total.shed} shed, ${loggedShed} lines`,
    broken: loggedShed <= 100 + total.shed / 100 ? [] : ['the log'],
  },
];
process.stdout.write('\n');
for (const { promise, broken } of verdicts) {
  process.stdout.write(
    broken.length === 0 ? `holds  ${promise}\n` : `BROKEN ${promise}: ${broken.join(', ')}\n`,
  );
}
process.exit(verdicts.every(({ broken }) => broken.length === 0) ? 0 : 1);
