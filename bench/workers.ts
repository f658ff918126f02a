/**
 * What a second worker is worth: the service with one and with two (`WORKERS`), beside bare `node:http` in a cluster of one
 * and of two that answers the same bytes, in turn. The load has the same cores, so what counts is how the service does
 * with two against how the bare one does.
 */

import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { printTable } from '../src/commands/print.ts';
import { type Figures, hasWrk, put } from './load.ts';
import { sample } from './sample.ts';
import { makeKeys, median, middle, startService } from './serving.ts';

const ROUNDS = Number(process.env.ROUNDS ?? 3);
const SECONDS = Number(process.env.SECONDS ?? 2);
const CONNECTIONS = Number(process.env.CONNECTIONS ?? 64);
const COUNTS = (process.env.COUNTS ?? '1,2').split(',').map(Number);
/** A listed name: the answer needs no DNS. */
const PATH = '/v1/public/domain/mailinator.com';

const folder = mkdtempSync(join(tmpdir(), 'domain-risk-workers-'));
const env = { DATA_DIR: folder, DNS_SERVERS: '127.0.0.1:1', DNS_SENTINELS: '', PORT: '0' };

function startBare(count: number, answer: object): Promise<{ child: ChildProcess; url: string }> {
  const file = new URL('./bare-cluster.ts', import.meta.url).pathname;
  const child = fork(file, [String(count), JSON.stringify(answer)]);
  return new Promise(resolve => {
    child.once('message', ({ port }: { port: number }) =>
      resolve({ child, url: `http://127.0.0.1:${port}` }),
    );
  });
}

const [key] = await makeKeys(env, [2_000_000_000]);
const { authorization } = key!;
const load = { paths: [PATH], authorizations: [authorization], seconds: SECONDS, connections: CONNECTIONS };

/** Seconds of processor time that all threads of a process have had. */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

interface Measured {
  readonly figures: Figures;
  /** Microseconds of processor time for a call, which others on the machine disturb least. */
  readonly cpu: number;
  readonly answer: object;
}

/** One after the other, since what only waits still takes some of the cores. */
async function measureOurs(count: number): Promise<Measured> {
  const service = await startService({ ...env, WORKERS: String(count) }, []);
  try {
    const answer = await sample(service.url, PATH, authorization);
    await put({ ...load, seconds: 1, url: service.url, isPinned: false });
    const before = cpuSeconds(service.pid);
    const figures = await put({ ...load, url: service.url, isPinned: false });
    const cpu = ((cpuSeconds(service.pid) - before) * 1e6) / (figures.perSecond * SECONDS);
    return { figures, cpu, answer };
  } finally {
    await service.end();
  }
}

async function measureBare(count: number, answer: object): Promise<Figures> {
  const { child, url } = await startBare(count, answer);
  await put({ ...load, seconds: 1, url, isPinned: false });
  const figures = await put({ ...load, url, isPinned: false });
  child.disconnect();
  return figures;
}

try {
  const ours = COUNTS.map((): Figures[] => []);
  const bare = COUNTS.map((): Figures[] => []);
  const cpus = COUNTS.map((): number[] => []);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [at, count] of COUNTS.entries()) {
      const { figures, cpu, answer } = await measureOurs(count);
      ours[at]!.push(figures);
      cpus[at]!.push(cpu);
      bare[at]!.push(await measureBare(count, answer));
    }
  }
  const [usFirst, themFirst] = [middle(ours[0]!), middle(bare[0]!)];
  const rows = COUNTS.map((count, at) => {
    const [us, them] = [middle(ours[at]!), middle(bare[at]!)];
    return [
      ...[`${count}`, us.perSecond.toFixed(0), (us.perSecond / usFirst.perSecond).toFixed(2)],
      ...[them.perSecond.toFixed(0), (them.perSecond / themFirst.perSecond).toFixed(2)],
      ...[(us.perSecond / them.perSecond).toFixed(2), us.p50.toFixed(2), us.p99.toFixed(2)],
      median(cpus[at]!).toFixed(0),
    ];
  });
  process.stdout.write(
    `${hasWrk ? 'wrk' : 'autocannon'} on the same cores, ${CONNECTIONS} connections, ${ROUNDS} rounds of ${SECONDS} s in turn, medians; every call is counted with fsync\n\n`,
  );
  printTable(
    ['WORKERS', 'PER SECOND', 'OF ONE', 'BARE CLUSTER', 'OF ONE', 'RATIO', 'P50 MS', 'P99 MS', 'CPU US'],
    rows,
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}
