/** The newest release of a package, from the npm registry that this machine is configured for. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { FeedError, MOST_BYTES } from '../core/feed.ts';
import { GONE, newFolder, removeLeft, sizeOf } from './folders.ts';
import { filesOfTar } from './tar.ts';

const unzip = promisify(gunzip);
/** Ten times the largest of them (November 2026). */
const MOST_UNPACKED = 64 * 2 ** 20;
const DEADLINE_MS = 120_000;
/** npm has no bound of its own, and keeps an archive twice: a release of 1.5 GB took 3 GB of each (2026-11-18). */
const MOST_ON_DISK = 3 * MOST_BYTES;
/** With an archive of 32 MiB it took 187 MiB, with a package of 30,000 releases 257 (2026-11-18). */
const MOST_MEMORY = 384 * 2 ** 20;
const LOOK_MS = 100;
const MOST_OUTPUT = 2 ** 20;
const SECRETS = /^(?:DATABASE_URL|ADMIN_TOKEN|FIRST_KEY|ALERT_WEBHOOK(?:_SECRET)?)(?:_FILE)?$|^PG/;
/** Lines of npm's that tell where it failed, not why. */
const UNTOLD = /^npm error (?:code|syscall|errno|path|type) /;

/** By their path. npm checks the archive's integrity; it is unpacked in memory, and nothing of it is run. */
export function newestFiles(name: string): Promise<ReadonlyMap<string, Buffer>> {
  return inFolder(async folder => {
    await npm(['pack', '--ignore-scripts', `${name}@latest`], folder);
    const archive = (await readdir(folder)).find(file => file.endsWith('.tgz'));
    if (archive === undefined) throw new FeedError('npm brought nothing');
    const path = join(folder, archive);
    if ((await stat(path)).size > MOST_BYTES) throw new FeedError(`larger than ${MOST_BYTES / 2 ** 20} MiB`);
    return filesOfTar(await unzip(await readFile(path), { maxOutputLength: MOST_UNPACKED }));
  });
}

/** In milliseconds since the epoch; null where the registry does not tell. */
export function publishedAt(name: string, version: string): Promise<number | null> {
  return inFolder(async folder => {
    try {
      const times = JSON.parse(await npm(['view', name, 'time', '--json'], folder)) as Record<string, string>;
      const at = Date.parse(times[version] ?? '');
      return Number.isNaN(at) ? null : at;
    } catch {
      return null;
    }
  });
}

/** Where this thread has npm at work, and npm itself while it runs. */
const atWork = new Map<string, ChildProcess | undefined>();

/** For whoever ends in the middle: npm would go on without it, and what it has fetched stay behind. */
export function endNpm(): void {
  for (const [folder, child] of atWork) {
    if (child) kill(child);
    rmSync(folder, GONE);
  }
}

/** With all that it has started: a version manager's npm is only a shim. */
function kill({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const unusable = (error: NodeJS.ErrnoException) => {
    throw new FeedError(
      `nothing can be unpacked in ${tmpdir()} (${error.code}): set TMPDIR to a folder that can be written to`,
      { cause: error },
    );
  };
  await removeLeft(new Set(atWork.keys()));
  const folder = await newFolder().catch(unusable);
  atWork.set(folder, undefined);
  try {
    // By it this folder is npm's project: else one above is, with its settings (.npmrc), and anybody may have made that.
    await writeFile(join(folder, 'package.json'), '{}').catch(unusable);
    return await work(folder);
  } finally {
    atWork.delete(folder);
    await rm(folder, GONE);
  }
}

async function npm(args: readonly string[], folder: string): Promise<string> {
  // Its own cache: in a container with a read-only root the home directory cannot be written to. Where this program is
  // killed, npm gives up by itself.
  const more = [
    '--cache',
    join(folder, 'cache'),
    '--fetch-retries=1',
    '--fetch-timeout=60000',
    '--loglevel=error',
  ];
  // Settings of the registry and of proxies are in the environment; the service's own secrets are not npm's business.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !SECRETS.test(name)));
  const options = { cwd: folder, env, detached: true };
  const child = spawn('npm', [...args, ...more], { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  atWork.set(folder, child);
  let why: string | undefined;
  const end = (problem: string) => {
    why ??= problem;
    kill(child);
  };
  const timer = setTimeout(end, DEADLINE_MS, `npm did not end within ${DEADLINE_MS / 1000} s`);
  const look = setInterval(() => {
    if (sizeOf(folder) > MOST_ON_DISK) end(`npm took more than ${MOST_ON_DISK / 2 ** 20} MiB of disk for it`);
    if (memoryOf(child.pid) > MOST_MEMORY)
      end(`npm took more than ${MOST_MEMORY / 2 ** 20} MiB of memory for it`);
  }, LOOK_MS);
  try {
    const output = [outputOf(child.stdout), outputOf(child.stderr)] as const;
    const [[code, signal], stdout, stderr] = await Promise.all([once(child, 'close'), ...output]);
    if (code === 0) return stdout;
    throw new FeedError(why ?? problemOf(code ?? signal, stderr));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw code === undefined ? error : new FeedError(problemOf(code, ''), { cause: error });
  } finally {
    clearTimeout(timer);
    clearInterval(look);
    atWork.set(folder, undefined);
  }
}

/** In bytes, with all that it has started. Nothing is known of it where there is no `/proc`. */
function memoryOf(pid: number | string | undefined): number {
  const [, kib = '0'] = /^VmRSS:\s+(\d+) kB$/m.exec(textAt(`/proc/${pid}/status`)) ?? [];
  const children = textAt(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean);
  return children.reduce((sum, child) => sum + memoryOf(child), 1024 * Number(kib));
}

/** What has ended meanwhile has none. */
function textAt(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

async function outputOf(stream: Readable): Promise<string> {
  let text = '';
  for await (const chunk of stream.setEncoding('utf8')) if (text.length < MOST_OUTPUT) text += chunk;
  return text;
}

function problemOf(code: unknown, stderr: string): string {
  if (code === 'ENOENT') return 'npm is not installed here: use --from with a file';
  const said = stderr.split('\n').find(line => line.startsWith('npm error ') && !UNTOLD.test(line));
  // The path of a registry's address may hold a token.
  const shown = said?.replace('npm error ', '').replaceAll(/https?:\/\/\S+/g, hostOf);
  return `npm could not fetch it: ${shown ?? `it ended with ${code}`}`;
}

const hostOf = (address: string) => (URL.canParse(address) ? new URL(address).origin : 'its registry');
