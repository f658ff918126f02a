/** The newest release of a package, from the npm registry that this machine is configured for. */

import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { FeedError } from '../core/feed.ts';

const run = promisify(execFile);
const DEADLINE_MS = 120_000;
const MOST_OUTPUT = 2 ** 20;
const SECRETS = /^(?:DATABASE_URL|ADMIN_TOKEN|FIRST_KEY|ALERT_WEBHOOK_SECRET|PG\w*)$/;
/** Lines of npm's that tell where it failed, not why. */
const UNTOLD = /^npm error (?:code|syscall|errno|path|type) /;

/** npm checks the archive's integrity, and runs nothing of it. The folder is gone afterwards. */
export async function withNewest<T>(name: string, work: (manifest: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'domain-risk-feed-')).catch((error: NodeJS.ErrnoException) => {
    throw new FeedError(
      `npm package ${name}: nothing can be unpacked in ${tmpdir()} (${error.code}): set TMPDIR to a folder that can be written to`,
      { cause: error },
    );
  });
  try {
    await install(name, folder);
    return await work(join(folder, 'node_modules', name, 'package.json'));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function install(name: string, folder: string): Promise<void> {
  const quiet = ['--no-save', '--no-package-lock', '--no-audit', '--no-fund', '--loglevel=error'];
  // Its own cache: in a container with a read-only root the home directory cannot be written to.
  const places = ['--prefix', folder, '--cache', join(folder, 'cache')];
  const args = ['install', ...places, '--ignore-scripts', '--fetch-retries=1', ...quiet, `${name}@latest`];
  // Settings of the registry and of proxies are in the environment; the service's own secrets are not npm's business.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !SECRETS.test(name)));
  const options = { cwd: folder, env, timeout: DEADLINE_MS, maxBuffer: MOST_OUTPUT };
  try {
    await run('npm', args, { ...options, killSignal: 'SIGKILL' });
  } catch (error) {
    throw new FeedError(`npm package ${name}: ${problemOf(error)}`, { cause: error });
  }
}

function problemOf(error: unknown): string {
  const { code, killed, stderr = '' } = error as { code?: unknown; killed?: boolean; stderr?: string };
  if (code === 'ENOENT') return 'npm is not installed here: use --from with a file';
  if (killed) return `npm did not end within ${DEADLINE_MS / 1000} s`;
  const said = stderr.split('\n').find(line => line.startsWith('npm error ') && !UNTOLD.test(line));
  return `npm could not install it: ${said?.replace('npm error ', '') ?? `it ended with ${code}`}`;
}
