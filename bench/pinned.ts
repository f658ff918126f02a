/** Server on one core, load on the other: otherwise they take turns and the figures mean nothing. */

import { spawnSync } from 'node:child_process';

export const has = (program: string) => spawnSync('which', [program]).status === 0;

export const pinned = (core: number): string[] => (has('taskset') ? ['taskset', '-c', String(core)] : []);

/** One that runs already, and what it starts from here on. */
export function pinProcess(pid: number, core: number): void {
  if (has('taskset')) spawnSync('taskset', ['-cp', String(core), String(pid)]);
}
