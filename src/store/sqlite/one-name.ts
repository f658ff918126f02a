/**
 * Refuses a file that has, or may have, another name: SQLite keeps a journal beside each name, and what was written by one
 * of them is not there, or destroyed, by the other (https://sqlite.org/howtocorrupt.html, 2.4).
 */

import { readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { StoreRefused } from '../refused.ts';

/** `real`: behind symbolic links, which SQLite follows by itself. */
export function refuseOtherNames(real: string): void {
  const found = statSync(real, { throwIfNoEntry: false });
  if (!found?.isFile()) return;
  if (found.nlink > 1)
    throw new StoreRefused(
      `${real} has ${found.nlink} names (hard links), and by each of them it would have a journal of its own`,
      `stop all servers on them, then remove the others: "find / -xdev -samefile ${real}" shows them`,
    );
  if (statSync(dirname(real)).dev !== found.dev || isMountPoint(real, mounts()))
    throw new StoreRefused(
      `${real} is mounted without its directory: its journal would be left behind when the mount ends`,
      'mount the directory that holds it (docker -v /srv/domain-risk:/data, not a single file)',
    );
}

/** By the fifth field of proc_pid_mountinfo(5): the device alone says nothing of a mount from the same disk. */
export function isMountPoint(path: string, mountinfo: string): boolean {
  const unescaped = (text: string) =>
    text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
  return mountinfo.split('\n').some(line => unescaped(line.split(' ')[4] ?? '') === path);
}

/** Nothing where the system does not tell. */
function mounts(): string {
  try {
    return readFileSync('/proc/self/mountinfo', 'utf8');
  } catch {
    return '';
  }
}
