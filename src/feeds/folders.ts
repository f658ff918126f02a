/** Folders for what npm brings, and what is left of those whose program was killed. */

import { lstatSync, readdirSync } from 'node:fs';
import { lstat, mkdtemp, readdir, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';

const PREFIX = 'domain-risk-feed-';
/** A process is known by its number on one machine only, and several may share the folder. */
const HERE = `${PREFIX}${hostname().replace(/[^\w.-]/g, '_')}-`;
/** Of other machines': none is in use for more than minutes. */
const OLD_MS = 86_400_000;

/** Whoever was killed a moment ago may still have been at a file. */
export const GONE = { recursive: true, force: true, maxRetries: 5 };

export const newFolder = (): Promise<string> => mkdtemp(join(tmpdir(), `${HERE}${process.pid}-`));

/** In bytes, with all that is below. What goes while it is counted is not counted. */
export function sizeOf(folder: string): number {
  try {
    const sizes = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map(
      path => lstatSync(join(folder, path), { throwIfNoEntry: false })?.size ?? 0,
    );
    return sizes.reduce((sum, size) => sum + size, 0);
  } catch {
    return 0;
  }
}

/** `atWork`: those that this process has in use. */
export async function removeLeft(atWork: ReadonlySet<string> = new Set()): Promise<void> {
  const names = await readdir(tmpdir()).catch(() => []);
  for (const name of names) {
    const folder = join(tmpdir(), name);
    // What is not ours to remove stays.
    if (name.startsWith(PREFIX) && !atWork.has(folder) && (await isLeft(name, folder)))
      await rm(folder, GONE).catch(() => {});
  }
}

async function isLeft(name: string, folder: string): Promise<boolean> {
  const found = await lstat(folder).catch(() => undefined);
  if (!found?.isDirectory() || found.uid !== process.getuid?.()) return false;
  const pid = name.startsWith(HERE) ? Number.parseInt(name.slice(HERE.length), 10) : Number.NaN;
  if (Number.isNaN(pid)) return Date.now() - found.mtimeMs > OLD_MS;
  // In a container the next one often has the number of the last.
  return pid === process.pid || !isRunning(pid);
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
