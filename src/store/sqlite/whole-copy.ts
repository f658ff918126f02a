/**
 * Copies a file to be restored together with its journal, where one lies beside it: a server that was killed has left there
 * what it wrote last, and without it the file is an older one, or none at all.
 */

import { constants, realpathSync, statSync } from 'node:fs';
import { chmod, copyFile, rm } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { StoreRefused } from '../refused.ts';
import { realOf, strangersBeside } from './pair.ts';

/** Of a store, and of a file whose store was never opened for good. */
const ENDS = ['-wal', '-journal'];

const MOST_TRIES = 20;
/** Ten times the steps in which Linux tells the time of a change. */
const SETTLED_MS = 40;

/** What the file is not whole without. A journal that was written for another file is no part of it. */
export function journalsOf(source: string): string[] {
  const real = realOf(source);
  const strangers = strangersBeside(real);
  return ENDS.map(end => real + end).filter(
    path => statSync(path, { throwIfNoEntry: false })?.size && !strangers.includes(path),
  );
}

type Put = (from: string, to: string) => Promise<void>;

/** For this user only, who may write to it; and nowhere else, where somebody has put a link in its place. */
const putCopy: Put = async (from, to) => {
  await rm(to, { force: true });
  await copyFile(from, to, constants.COPYFILE_EXCL);
  await chmod(to, 0o600);
};

/** Nothing at the source is opened by SQLite, which would make files there: it may be on a medium that is only read. */
export async function copyWhole(source: string, copy: string, put: Put = putCopy): Promise<void> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const before = stateOf(source);
    await put(source, copy);
    const real = realpathSync(source);
    for (const path of before.journals) await put(path, copy + path.slice(real.length));
    if (before.isSettled && isDeepStrictEqual(stateOf(source), before)) return;
    await pause(SETTLED_MS);
  }
  throw new StoreRefused(
    `${source} is the file of a running server, which writes to it`,
    'make a backup of it with "domain-risk backup" and restore that',
  );
}

/** By which a change of the file or its journals shows: what was copied before and after it would not fit together. */
function stateOf(source: string) {
  const journals = journalsOf(source);
  const stats = [source, ...journals].map(path => statSync(path));
  // A clock that was set back since makes nothing unsettled.
  const isRecent = stats.some(({ ctimeMs }) => Math.abs(Date.now() - ctimeMs) < SETTLED_MS);
  return {
    journals,
    files: stats.map(({ ino, size, mtimeMs, ctimeMs }) => [ino, size, mtimeMs, ctimeMs]),
    isSettled: journals.length === 0 || !isRecent,
  };
}
