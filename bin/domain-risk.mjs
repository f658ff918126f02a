#!/usr/bin/env node
/** What npm links as `domain-risk`. Runs on any Node from 20 on and uses nothing but what comes with it. */

import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chooseNode } from './choose-node.mjs';
import { checkFolder, fail, launch, passSettings } from './launch.mjs';
import { takeSignals } from './pass-signals.mjs';

const CLI = join(dirname(dirname(fileURLToPath(import.meta.url))), 'dist', 'cli.js');

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

checkFolder();
const signals = takeSignals(process.argv[2] === 'serve');
const host = { version: process.versions.node, path: process.execPath };
const runs = path => spawnSync(path, ['--version']).status === 0;
const chosen = chooseNode(host, bundledNode(), runs);
if ('problem' in chosen) fail(chosen.problem);
// By it a server notices that this process was killed and passes no signal on any more.
const env = { ...process.env, DOMAIN_RISK_LAUNCHER: String(process.pid) };
passSettings([resolve('.env')], env);
const child = launch(chosen.node, [CLI, ...process.argv.slice(2)], env, signals);
// npx passes a signal to its shell, which ends and tells nobody.
const { ppid } = process;
if (process.env.npm_command === 'exec')
  setInterval(() => process.ppid === ppid || child.kill('SIGTERM'), 1_000).unref();
