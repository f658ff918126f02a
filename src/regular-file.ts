/** Files that settings name. What is none, such as a pipe that nobody writes to, would hold whoever reads it for ever. */

import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs';

export type Owned = Pick<Stats, 'uid' | 'mode'>;

/**
 * Throws what the system says, with EISDIR for a folder and ENOTSUP for a pipe, a socket or a device. `check` sees whose the
 * very file is that is then read, whatever else gets its name meanwhile.
 */
export function readRegularFile(path: string, check: (it: Owned) => void = () => {}): string {
  // Without waiting for somebody at the other end of a pipe.
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stat = fstatSync(file);
    if (stat.isFile()) {
      check(stat);
      return readFileSync(file, 'utf8');
    }
    const code = stat.isDirectory() ? 'EISDIR' : 'ENOTSUP';
    throw Object.assign(new Error(`${code}: not a regular file, read '${path}'`), { code, syscall: 'read' });
  } finally {
    closeSync(file);
  }
}
