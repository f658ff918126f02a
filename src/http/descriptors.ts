/** How many files and sockets may be open at a time, and what for. */

import { readFileSync } from 'node:fs';
import { MOST_TOLD } from './eviction.ts';

const OPEN_FILES = 'Max open files';
/** Where the system does not say. */
const LIKELY_DESCRIPTORS = 1_024;

/** How many descriptors this process may have. */
export function descriptors(): number {
  try {
    const lines = readFileSync('/proc/self/limits', 'latin1').split('\n');
    const soft = lines
      .find(line => line.startsWith(OPEN_FILES))
      ?.slice(OPEN_FILES.length)
      .trim()
      .split(' ', 1)[0];
    return soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft ?? LIKELY_DESCRIPTORS);
  } catch {
    return LIKELY_DESCRIPTORS;
  }
}

/** Of the store, files and threads: 52 with one worker, 75 with three, and some more while lists are updated (2026-11-17). */
const OWN = { all: 88, ofWorker: 8 };
/** For questions to DNS, of each worker: all that it may have under way, to each of three servers. */
const MOST_OF_DNS = 2_400;
/** Where there are few, callers have most of them. */
const OTHERS = { fewest: 192, share: 0.3 };
const MOST_CONNECTIONS = 20_000;
/** Who watches and who operates are few. */
const MOST_OF_OPERATORS = 256;
const SHARE_OF_OPERATORS = 0.25;
/** Of connections that were told to go and are still there, which are none of those that have a place. */
const SHARE_TOLD = 0.25;

/** How many connections this process may have, and how many sockets to ask DNS with, with so many workers. */
export function sharesOf(workers: number, limit = descriptors()): { connections: number; dns: number } {
  const own = OWN.all + OWN.ofWorker * workers;
  const others = Math.max(
    OTHERS.fewest,
    Math.min(own + MOST_OF_DNS * workers, Math.ceil(limit * OTHERS.share)),
  );
  return {
    connections: Math.min(MOST_CONNECTIONS, Math.max(64, limit - others)),
    dns: Math.max(8 * workers, others - own),
  };
}

export interface PortShare {
  /** Places, … */
  readonly mostConnections: number;
  /** … and beside them those that were told to go. */
  readonly mostTold: number;
  /** Of the memory that the process may keep for its peers. */
  readonly share: number;
}

/**
 * What the ports of each worker have, one for callers and one for operators where these have their own: neither side can take
 * all descriptors from the other. Those that were told to go came on top, and with 300 descriptors, names that nobody answered
 * for and strangers at both ports nine of ten connections were reset (2026-11-18); and with
 * as much memory for each as one may have, strangers at both had the kernel keep 150 MiB of pages that they did not read.
 */
export function portsOf(
  workers: number,
  isApart: boolean,
  limit?: number,
): { callers: PortShare; operators: PortShare } {
  const most = Math.floor(sharesOf(workers, limit).connections / workers);
  const operators = isApart
    ? Math.min(Math.ceil(MOST_OF_OPERATORS / workers), Math.ceil(most * SHARE_OF_OPERATORS))
    : 0;
  const share = isApart ? SHARE_OF_OPERATORS : 0;
  return {
    callers: shareOf(most - operators, (1 - share) / workers),
    operators: shareOf(operators, share / workers),
  };
}

function shareOf(most: number, share: number): PortShare {
  const mostTold = Math.min(MOST_TOLD, Math.ceil(most * SHARE_TOLD));
  return { mostConnections: most - mostTold, mostTold, share };
}
