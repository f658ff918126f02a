/** How many files and sockets may be open at a time. */

import { readFileSync } from 'node:fs';

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
