/** The files of a tar archive, as npm packs them: plain files with short names (POSIX.1-1988, ustar). */

import { FeedError } from '../core/feed.ts';

const BLOCK = 512;

/** By their path below the archive's one folder. Links, devices and names of more than 100 characters are left out. */
export function filesOfTar(archive: Buffer): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  for (let at = 0; at + BLOCK <= archive.length && archive[at] !== 0; ) {
    const header = archive.subarray(at, at + BLOCK);
    const size = Number.parseInt(textIn(header, 124, 12), 8);
    const end = at + BLOCK + size;
    // A size of 8 GiB or more is not written in octal digits.
    if (!(size >= 0) || end > archive.length) throw new FeedError('a broken archive');
    const isFile = header[156] === 0 || header[156] === '0'.charCodeAt(0);
    const path = textIn(header, 0, 100);
    if (isFile) files.set(path.slice(path.indexOf('/') + 1), archive.subarray(at + BLOCK, end));
    at = Math.ceil(end / BLOCK) * BLOCK;
  }
  return files;
}

/** Up to the first NUL. */
function textIn(header: Buffer, at: number, length: number): string {
  const field = header.subarray(at, at + length);
  const end = field.indexOf(0);
  return field.subarray(0, end === -1 ? length : end).toString('utf8');
}
