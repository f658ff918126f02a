/** Files that lists lie in. What is none, such as a pipe that nobody writes to, would hold whoever reads it for ever. */

import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { FeedError, MOST_BYTES } from '../core/feed.ts';

export interface FileText {
  readonly text: string;
  /** Only its beginning was wanted, and there is more. */
  readonly isCut: boolean;
}

/** `firstBytes`: of a longer one no more is read. */
export async function readFileText(path: string, firstBytes = Number.POSITIVE_INFINITY): Promise<FileText> {
  // Without waiting for somebody at the other end of a pipe.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stat = await file.stat();
    if (!stat.isFile()) throw new FeedError('neither a file nor a folder');
    const isCut = stat.size > firstBytes;
    const bytes = await readUpTo(isCut ? firstBytes : MOST_BYTES + 1, file);
    if (bytes.length > MOST_BYTES) throw new FeedError(`larger than ${MOST_BYTES / 2 ** 20} MiB`);
    return { text: bytes.toString('utf8'), isCut };
  } finally {
    await file.close();
  }
}

/** However it grows meanwhile. */
const readUpTo = (bytes: number, file: FileHandle): Promise<Buffer> =>
  buffer(file.createReadStream({ end: bytes - 1, highWaterMark: 2 ** 20, autoClose: false }));
