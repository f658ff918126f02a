/** What both launchers share: domain-risk.mjs of the package and scripts/boot.mjs of a clone. */

import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { settingsFileOf } from './settings-file.mjs';

/** Without it the young generation alone takes 100 MB more under a flood of names (measured 2026-11-15). */
const NODE_FLAGS = ['--max-semi-space-size=8'];

/**
 * What a start has freed goes back to the system, unless whoever runs it says otherwise. By itself the C library keeps it
 * for later (glibc, mallopt(3)): 35 to 50 MiB of an idle service; calls a second are the same (2026-11-19).
 */
export const MEMORY = { MALLOC_TRIM_THRESHOLD_: '1048576' };

export function fail(message) {
  process.stderr.write(`domain-risk: ${message}\n`);
  process.exit(1);
}

/** Whoever deletes the current folder under us gets a line and no stack. */
export function checkFolder() {
  try {
    process.cwd();
  } catch {
    fail('the current folder does not exist any more: change to another one (cd /)');
  }
}

/**
 * The program reads its settings from the first of these files that is there. Not Node (`--env-file`): it would do what
 * NODE_OPTIONS says there, and pass all else on to npm.
 */
export function passSettings(paths, env) {
  const path = settingsFileOf(paths);
  if (path === undefined) delete env.DOMAIN_RISK_ENV_FILE;
  else env.DOMAIN_RISK_ENV_FILE = path;
}

/** From here on this process ends as the one that it starts. */
export function launch(node, args, env, signals) {
  const child = spawn(node, [...NODE_FLAGS, ...args], { stdio: 'inherit', env: { ...MEMORY, ...env } });
  signals.passTo(child);
  child.on('error', error => fail(error.message));
  child.on('exit', (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : code));
  return child;
}
