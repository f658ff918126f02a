/** A command that npm works for, which runs in a group of its own and would outlive a Ctrl-C. */

import { endNpm } from '../feeds/npm.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** A signal ends both, and what npm has fetched goes with it. */
export async function endingNpm<T>(work: () => Promise<T>): Promise<T> {
  const end = (signal: NodeJS.Signals) => {
    endNpm();
    release();
    process.kill(process.pid, signal);
  };
  const release = () => {
    for (const signal of SIGNALS) process.off(signal, end);
  };
  for (const signal of SIGNALS) process.on(signal, end);
  try {
    return await work();
  } finally {
    release();
  }
}
