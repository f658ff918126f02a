/** What both launchers share: domain-risk.mjs of the package and scripts/boot.mjs of a clone. */

import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { settingsFileOf } from './settings-file.mjs';

/** Without it the young generation alone takes 100 MB more under a flood of names (measured 2026-11-15). */
const NODE_FLAGS = ['--max-semi-space-size=8'];

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
  const child = spawn(node, [...NODE_FLAGS, ...args], { stdio: 'inherit', env });
  signals.passTo(child);
  child.on('error', error => fail(error.message));
  child.on('exit', (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : code));
  return child;
}
