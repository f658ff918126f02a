#!/usr/bin/env node
/** What npm links as `domain-risk`. Runs on any Node from 20 on and uses nothing but what comes with it. */

import { spawn, spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chooseNode } from './choose-node.mjs';
import { takeSignals } from './pass-signals.mjs';
import { settingsFileOf } from './settings-file.mjs';

/** As in scripts/boot.mjs. */
const NODE_FLAGS = ['--max-semi-space-size=8'];
const CLI = join(dirname(dirname(fileURLToPath(import.meta.url))), 'dist', 'src', 'cli.js');

function bundledNode() {
  try {
    const manifest = createRequire(import.meta.url).resolve(
      `node-${process.platform}-${process.arch}/package.json`,
    );
    return join(dirname(manifest), 'bin', 'node');
  } catch {
    return undefined;
  }
}

function fail(message) {
  process.stderr.write(`domain-risk: ${message}\n`);
  process.exit(1);
}

const signals = takeSignals(process.argv[2] === 'serve');
const host = { version: process.versions.node, path: process.execPath };
const runs = path => spawnSync(path, ['--version']).status === 0;
const chosen = chooseNode(host, bundledNode(), runs);
if ('problem' in chosen) fail(chosen.problem);
// By it a server notices that this process was killed and passes no signal on any more.
const env = { ...process.env, DOMAIN_RISK_LAUNCHER: String(process.pid) };
const { path: file, problem } = settingsFileOf([resolve('.env')]);
if (problem) fail(problem);
const settings = file === undefined ? [] : [`--env-file=${file}`];
// For the program to tell where a setting came from, and which lines mean nothing to it.
if (file !== undefined) env.DOMAIN_RISK_ENV_FILE = file;
const child = spawn(chosen.node, [...NODE_FLAGS, ...settings, CLI, ...process.argv.slice(2)], {
  stdio: 'inherit',
  env,
});
signals.passTo(child);
// npx passes a signal to its shell, which ends and tells nobody.
const { ppid } = process;
if (process.env.npm_command === 'exec')
  setInterval(() => process.ppid === ppid || child.kill('SIGTERM'), 1_000).unref();
child.on('error', error => fail(error.message));
child.on('exit', (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : code));
