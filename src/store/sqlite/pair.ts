/**
 * Which file a journal (a WAL) was written for, noted beside both. SQLite empties any journal into any file that lies beside
 * it: where the file was exchanged meanwhile, such as for a backup, two stores would be mixed.
 */

import {
  closeSync,
  existsSync,
  linkSync,
  openSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  unlinkSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { threadId } from 'node:worker_threads';
import type { SetAside } from '../form.ts';
import { StoreRefused } from '../refused.ts';
import { isOfSystem } from './codes.ts';
import { canFollow, type Head, headOf } from './heads.ts';
import type { Use } from './in-use.ts';
import { makeOwnFile } from './owner.ts';

interface Identity {
  readonly dev: number;
  readonly ino: number;
  /** A number is given again once its file is gone. Null where the file system does not know. */
  readonly born: number | null;
}

interface Note {
  readonly file: Identity;
  readonly head: Head;
  /** The journal and its index. */
  readonly beside: readonly (Identity | null)[];
}

const ENDS = ['-wal', '-shm'];

export const statOf = (path: string) => statSync(path, { throwIfNoEntry: false });

/** What does not know gives the time of the last change. */
function identityOf({ dev, ino, birthtimeMs, ctimeMs }: Stats): Identity {
  return { dev, ino, born: birthtimeMs > 0 && birthtimeMs !== ctimeMs ? birthtimeMs : null };
}

function isSame(one: Identity, other: Identity): boolean {
  const isBornThen = one.born === other.born || one.born === null || other.born === null;
  return one.dev === other.dev && one.ino === other.ino && isBornThen;
}

const noteOf = (real: string) => `${real}.pair`;

/** Behind a symbolic link SQLite puts everything beside the file itself, also where that is gone. */
export function realOf(path: string): string {
  if (existsSync(path)) return realpathSync(path);
  try {
    return resolve(dirname(path), readlinkSync(path));
  } catch {
    // There is no link.
    return path;
  }
}

/** For a file that is open here, when its head has moved on. What cannot be noted, as on a full disk, is not known. */
export function notePair(path: string, head: Head): void {
  const real = realOf(path);
  const [file, ...beside] = ['', ...ENDS].map(end => statOf(real + end));
  if (!file) return;
  const note: Note = {
    file: identityOf(file),
    head,
    beside: beside.map(stat => (stat ? identityOf(stat) : null)),
  };
  const partial = `${noteOf(real)}-${process.pid}-${threadId}`;
  try {
    rmSync(partial, { force: true });
    makeOwnFile(partial, JSON.stringify(note));
    renameSync(partial, noteOf(real));
  } catch (error) {
    if (!isOfSystem(error)) throw error;
    rmSync(partial, { force: true });
  }
}

/** After a clean end nothing is left to be noted. */
export function forgetPair(path: string): void {
  const real = realOf(path);
  if (!existsSync(`${real}-wal`)) rmSync(noteOf(real), { force: true });
}

/** Undefined where a version from before left none, or a crash half of one. */
function readNote(real: string): Note | undefined {
  try {
    return JSON.parse(readFileSync(noteOf(real), 'utf8')) as Note;
  } catch {
    return undefined;
  }
}

/** Before this process has the file open: as in heads.ts. */
function isFileOf({ file, head }: Note, real: string): boolean {
  const present = statOf(real);
  if (!present || !isSame(file, identityOf(present))) return false;
  const opened = openSync(real, 'r');
  try {
    return canFollow(headOf(opened), head);
  } finally {
    closeSync(opened);
  }
}

/** Those beside the file that were written for another one. */
export function strangersBeside(real: string): string[] {
  const paths = ENDS.map(end => real + end);
  const present = paths.map(statOf);
  if (!present.some(Boolean)) return [];
  // SQLite removes the journal of an empty file.
  if (!statOf(real)?.size) return paths.filter((_, at) => present[at]);
  const note = readNote(real);
  const noted = paths.filter((_, at) => {
    const [then, now] = [note?.beside[at], present[at]];
    return then && now && isSame(then, identityOf(now));
  });
  return !note || noted.length === 0 || isFileOf(note, real) ? [] : noted;
}

/** Nothing is deleted. Done alone; one that was killed between the two steps has given it its name already. */
function setAside(path: string): string {
  const aside = `${path}.aside-${statOf(path)?.ino}`;
  try {
    linkSync(path, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  unlinkSync(path);
  return aside;
}

/** Several servers that start together: one of them sets aside what the others wait for. */
const ALONE_WAIT_MS = 2_000;

/**
 * Before the file is opened for the first time. Undefined where all belongs together, or nothing says that it does not.
 * Only a server sets aside, since it goes on with the file that is there, and only what no process has open: the file may
 * be put back under a server that still runs, and that one needs its journal then.
 */
export function setStrangersAside(path: string, use: Use, isServed: boolean): SetAside | undefined {
  const real = realOf(path);
  const isNeeded = () => strangersBeside(real).length > 0;
  if (!isNeeded()) return undefined;
  let change: SetAside | undefined;
  const work = () => {
    change = { path, aside: asideOf(path, strangersBeside(real)) };
  };
  const isAlone = use.alone(isServed ? work : () => {}, isNeeded, isServed ? ALONE_WAIT_MS : 0);
  if (!isNeeded()) return change;
  const problem = `${path} was exchanged: the journal beside it belongs to the file before`;
  throw isAlone
    ? new StoreRefused(
        problem,
        'put that file back; or start the service, which sets the journal aside and goes on with this one',
      )
    : new StoreRefused(
        `${problem}, which another process still has open`,
        'put that file back; or stop all servers and start the service again, which goes on with this one',
      );
}

function asideOf(path: string, strangers: readonly string[]): string[] {
  try {
    return strangers.map(setAside);
  } catch (error) {
    if (!isOfSystem(error)) throw error;
    throw new StoreRefused(
      `${strangers.join(' and ')} belong to another file than ${path}, which was exchanged, and cannot be set aside (${error.code})`,
      'put that file back, or move them away',
    );
  }
}
