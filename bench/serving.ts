/** The service in a process of its own for a bench, with its keys; and the middle of what was measured. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { MEMORY } from '../bin/launch.mjs';
import { buildProgram } from '../scripts/build-program.ts';
import { openStore } from '../src/compose.ts';
import { readConfig } from '../src/config.ts';
import { newKey } from '../src/operate.ts';
import { ACT } from '../test/support/act.ts';
import { bareEnvironment } from '../test/support/environment.ts';
import type { Figures } from './load.ts';
import { pinned } from './pinned.ts';

export interface MadeKey {
  readonly id: string;
  /** The value of the header. */
  readonly authorization: string;
}

/** In the order of the quotas. */
export async function makeKeys(env: Record<string, string>, quotas: readonly number[]): Promise<MadeKey[]> {
  const store = await openStore(readConfig(env), error => {
    throw error;
  });
  const made = quotas.map(quota => newKey({ name: `quota ${quota}`, quota }, Date.now()));
  for (const { key } of made) await store.createKey(key, ACT);
  await store.close();
  return made.map(({ key, secret }) => ({ id: key.id, authorization: `Bearer ${secret}` }));
}

export interface Served {
  readonly url: string;
  readonly pid: number;
  /** Resolves when it is gone. */
  end(): Promise<void>;
}

/** On core 0, where nothing else is said. */
export async function startService(env: Record<string, string>, where = pinned(0)): Promise<Served> {
  const cli = join(await buildProgram(), 'cli.js');
  const [program, ...args] = [...where, process.execPath, ...process.execArgv, cli, 'serve'];
  const child: ChildProcess = spawn(program!, args, {
    env: bareEnvironment({ ...MEMORY, ...env }),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return new Promise((resolve, reject) => {
    child.once('exit', code => reject(new Error(`the service ended with ${code}`)));
    child.stdout!.on('data', (chunk: Buffer) => {
      const port = /"port":(\d+)/.exec(chunk.toString())?.[1];
      if (!port) return;
      const end = async () => {
        child.removeAllListeners('exit').kill('SIGTERM');
        await once(child, 'exit');
      };
      resolve({ url: `http://127.0.0.1:${port}`, pid: child.pid!, end });
    });
  });
}

export const median = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;

export function middle(figures: readonly Figures[]): Figures {
  return {
    perSecond: median(figures.map(one => one.perSecond)),
    p50: median(figures.map(one => one.p50)),
    p99: median(figures.map(one => one.p99)),
  };
}
