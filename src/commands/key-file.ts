/** FIRST_KEY_FILE: a file that holds the first key of an empty store. */

import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  linkSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { isWellFormedSecret } from '../core/key.ts';
import { readRegularFile } from '../regular-file.ts';
import { CommandFailed } from './print.ts';

/** Undefined where there is no file or an empty one, which is nobody's secret. */
export function keyIn(path: string): string | undefined {
  let text: string;
  try {
    text = readRegularFile(path).trim();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw new CommandFailed(`FIRST_KEY_FILE: cannot read ${path} (${code}): make it readable for this user`);
  }
  if (text === '') return undefined;
  if (isWellFormedSecret(text)) return text;
  throw new CommandFailed(
    `FIRST_KEY_FILE: ${path} holds no API key: remove it, or put one there that "domain-risk keys generate" prints`,
  );
}

/** The key that the file holds from now on: of several servers that start at once the first one's. Whole, or not there. */
export function keepKey(path: string, secret: string, write = writeFileSync): string {
  const aside = `${path}.${randomBytes(6).toString('hex')}.new`;
  try {
    synced(aside, 'wx', file => write(file, `${secret}\n`));
    place(aside, path);
    synced(dirname(path), 'r', () => {});
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    const fix = ['ENOSPC', 'EDQUOT'].includes(code)
      ? 'free some space'
      : 'name a file in a directory that exists and that this user can write to';
    throw new CommandFailed(`FIRST_KEY_FILE: cannot write ${path} (${code}): ${fix}`);
  } finally {
    rmSync(aside, { force: true });
  }
  return keyIn(path) ?? secret;
}

function synced(path: string, flags: string, work: (file: number) => void): void {
  const file = openSync(path, flags, 0o600);
  try {
    work(file);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Never over a key. An empty file gives way, and where there are no links (FAT, some networks) whatever came last counts. */
function place(aside: string, path: string): void {
  try {
    linkSync(aside, path);
  } catch (error) {
    const isThere = (error as NodeJS.ErrnoException).code === 'EEXIST';
    if (isThere && keyIn(path) !== undefined) return;
    renameSync(aside, isThere ? behindLinks(path) : path);
  }
}

function behindLinks(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new CommandFailed(
      `FIRST_KEY_FILE: ${path} is a link to a file that is not there (${code}): make that file, an empty one will do, or remove the link`,
    );
  }
}
