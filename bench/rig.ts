/** Sets up an overload: a store with keys, the server of lowered capacity and load generators, each in a process of its own. */

import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { MEMORY } from '../bin/launch.mjs';
import { bareEnvironment } from '../test/support/environment.ts';
import type { Caller, Plan, Report, Seen } from './open-loop.ts';
import { pinned } from './pinned.ts';
import { type MadeKey, makeKeys } from './serving.ts';

export interface Rig {
  readonly port: number;
  readonly pid: number;
  /** Header values of two callers. */
  readonly greedy: string;
  readonly modest: string;
  /** Lines about a 503 that the server has logged so far. */
  loggedShed(): number;
  /** How many calls of the greedy key the store has, read by a connection of its own. */
  counted(): number;
  close(): Promise<void>;
}

/** All of them loopback: nobody else is ever loaded. */
export const GREEDY_ADDRESS = '127.0.0.2';
const MODEST_ADDRESS = '127.0.0.1';
/** A listed name: the answer needs no DNS. */
export const PATH = '/v1/public/domain/mailinator.com';

/** More than any run uses up. */
const QUOTA = 2_000_000_000;

export interface RigOptions {
  /** What every counted call costs on top, in microseconds. */
  readonly cost: number;
  /** Server on core 0, generators on core 1; the system decides where false. */
  readonly pin: boolean;
  /** Lists that the server does without. */
  readonly feedsOff?: readonly string[];
}

export async function startRig({ cost, pin, feedsOff = [] }: RigOptions): Promise<Rig> {
  const folder = mkdtempSync(join(tmpdir(), 'domain-risk-overload-'));
  const small = { DNS_SERVERS: '127.0.0.1:1', DNS_SENTINELS: '', FEEDS_OFF: feedsOff.join() };
  const env = { DATA_DIR: folder, PORT: '0', ...small };
  const [greedy, modest] = (await makeKeys(env, [QUOTA, QUOTA])) as [MadeKey, MadeKey];
  const server = new URL('./overload-server.ts', import.meta.url).pathname;
  const node = [process.execPath, '--max-semi-space-size=8', server, String(cost)];
  const [program, ...args] = [...(pin ? pinned(0) : []), ...node];
  const child = spawn(program!, args, {
    env: bareEnvironment({ ...MEMORY, ...env }),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let loggedShed = 0;
  const port = await new Promise<number>((resolve, reject) => {
    child.once('exit', code => reject(new Error(`the server ended with ${code}`)));
    child.stdout.setEncoding('latin1').on('data', (text: string) => {
      loggedShed += text.split('"status":503').length - 1;
      const found = /"port":(\d+),"msg":"listening"/.exec(text)?.[1];
      if (found) resolve(Number(found));
    });
  });
  return {
    port,
    pid: child.pid!,
    greedy: greedy.authorization,
    modest: modest.authorization,
    loggedShed: () => loggedShed,
    counted: () => countOf(folder, greedy.id),
    async close() {
      await end(child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function countOf(folder: string, keyId: string): number {
  const db = new DatabaseSync(join(folder, 'domain-risk.db'), { readOnly: true, timeout: 5_000 });
  try {
    const row = db.prepare('SELECT sum(used) AS used FROM usage WHERE key_id = ?').get(keyId);
    return Number(row?.used ?? 0);
  } finally {
    db.close();
  }
}

/** A server that hangs must not hang whoever measures it. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 12_000);
  await exited;
  clearTimeout(timer);
}

const GENERATOR = new URL('./open-loop.ts', import.meta.url).pathname;

export function generate(plan: Plan, pin: boolean): Promise<Report> {
  const node = [process.execPath, '--max-semi-space-size=64'];
  const [program, ...args] = [...(pin ? pinned(1) : []), ...node];
  const child = fork(GENERATOR, { execPath: program!, execArgv: args });
  return new Promise((resolve, reject) => {
    child.once('message', resolve as (report: unknown) => void);
    child.once('exit', code => reject(new Error(`the load generator ended with ${code}`)));
    child.send(plan);
  });
}

/** As many calls as the server answers to so many connections that ask again at once: its capacity. */
export function closedLoop(rig: Rig, connections: number, ms: number): Caller {
  return {
    name: `closed loop of ${connections}`,
    path: PATH,
    authorization: rig.greedy,
    connections,
    from: GREEDY_ADDRESS,
    startMs: 0,
    endMs: ms,
    goodMs: 1_000,
  };
}

/** What another caller and whoever watches the service see meanwhile. */
export function bystanders(rig: Rig, startMs: number, endMs: number): Caller[] {
  const common = { from: MODEST_ADDRESS, startMs, endMs, goodMs: 1_000, isThereBefore: true as const };
  return [
    {
      ...common,
      name: 'other',
      path: PATH,
      authorization: rig.modest,
      perSecond: 50,
      // So many that one can always be sent, even if answers take a second.
      connections: 64,
    },
    { ...common, name: 'livez', path: '/livez', perSecond: 10, connections: 16 },
    { ...common, name: 'readyz', path: '/readyz', perSecond: 10, connections: 16 },
  ];
}

export const seenBy = ({ seen }: Report, name: string): Seen => seen.find(one => one.name === name)!;

/** Calls of which nobody can know whether they were counted: no answer to them came. */
export const inDoubt = (seen: readonly Seen[]) =>
  seen.reduce((sum, { lost, timedOut, cut }) => sum + lost + timedOut + cut, 0);
