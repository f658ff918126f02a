/** Files that settings name. What is none, such as a pipe that nobody writes to, would hold whoever reads it for ever. */

import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';

/** Throws what the system says, with EISDIR for a folder and ENOTSUP for a pipe, a socket or a device. */
export function readRegularFile(path: string): string {
  // Without waiting for somebody at the other end of a pipe.
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stat = fstatSync(file);
    if (stat.isFile()) return readFileSync(file, 'utf8');
    const code = stat.isDirectory() ? 'EISDIR' : 'ENOTSUP';
    throw Object.assign(new Error(`${code}: not a regular file, read '${path}'`), { code, syscall: 'read' });
  } finally {
    closeSync(file);
  }
}
