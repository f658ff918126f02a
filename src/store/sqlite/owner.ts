/**
 * Who the files of a store belong to: whoever its folder belongs to, also where root makes them by a command, such as after
 * a disaster. The service could not open them else. (What SQLite makes beside a file has that file's owner.)
 */

import { closeSync, constants, fchownSync, mkdirSync, openSync, statSync, writeFileSync } from 'node:fs';
import { type FileHandle, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

const isRoot = () => process.geteuid?.() === 0;

/**
 * Made here and not by SQLite, so that nobody else can read it while it is being written; throws where there is one. By the
 * descriptor: in a folder of theirs others might put a link to a file of root's in its place.
 */
export function makeOwnFile(path: string, text = ''): void {
  const file = openSync(path, 'wx', 0o600);
  try {
    writeFileSync(file, text);
    giveToOwnerOf(dirname(path), file);
  } finally {
    closeSync(file);
  }
}

export function makeOwnFolder(path: string): void {
  mkdirSync(path, { mode: 0o700 });
  if (!isRoot()) return;
  const folder = openSync(path, constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    giveToOwnerOf(dirname(path), folder);
  } finally {
    closeSync(folder);
  }
}

/** Where the file system knows no owners, or root may not do it, all stays as it is. */
function giveToOwnerOf(folder: string, file: number): void {
  if (!isRoot()) return;
  const { uid, gid } = statSync(folder);
  try {
    if (uid !== 0) fchownSync(file, uid, gid);
  } catch {}
}

/** A backup may go anywhere: it is the service's in a folder of the service's, and root's in that of anybody else. */
export async function giveBackup(file: FileHandle, path: string, store: string): Promise<void> {
  if (!isRoot()) return;
  const [folder, { uid, gid }] = await Promise.all([stat(dirname(path)), stat(dirname(store))]);
  if (uid !== 0 && folder.uid === uid) await file.chown(uid, gid).catch(() => {});
}
