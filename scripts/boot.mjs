#!/usr/bin/env node
/**
 * Starts a script of this project on the project's own Node, installing first when the lockfile has changed.
 * Runs on any Node from 20 on and uses nothing but what comes with it.
 */

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, utimes, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkFolder, fail, launch, passSettings } from '../bin/launch.mjs';
import { takeSignals } from '../bin/pass-signals.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const stamp = join(root, 'node_modules', '.installed');
const OLDEST = [24, 15];
const HOUR_MS = 3_600_000;

/** The service needs the runtime packages only; tests and benchmarks need all. */
function install(wanted) {
  const lock = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex');
  const installed = existsSync(stamp) ? readFileSync(stamp, 'utf8') : '';
  if (installed === `${lock} all` || installed === `${lock} ${wanted}`) return;
  process.stderr.write('Installing (once; less than half a minute) …\n');
  // Only what is missing is added to packages that a running service may be using.
  const more = installed.startsWith(lock) ? ['install', '--no-save'] : ['ci'];
  const most = wanted === 'all' ? [] : ['--omit=dev'];
  // No package needs its install script, and some would start a compiler. Not in .npmrc: that would turn prepack off too.
  // Nobody sees what an audit finds here, and whoever installs would wait for it.
  const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  // What npm prints goes to the error stream: stdout belongs to the command that follows.
  const npm = spawnSync('npm', [...more, ...most, ...quiet], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  });
  if (npm.status !== 0) fail('npm could not install: see above; check that the npm registry can be reached');
  writeFileSync(stamp, `${lock} ${wanted}`);
}

/** The Node that came with npm install, else the one we run on where it is new enough (macOS, containers). */
function ownNode() {
  const own = join(root, 'node_modules', `node-linux-${process.arch}`, 'bin', 'node');
  if (process.platform === 'linux' && existsSync(own)) return own;
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return process.execPath;
  return fail(
    `Node ${OLDEST.join('.')} or later is needed here, this is ${process.versions.node}: install a newer one`,
  );
}

/** Its last word is where the program lies. Without it the service starts all the same, from its sources. */
function build(node) {
  const built = spawnSync(node, [join(root, 'scripts', 'build.ts')], {
    stdio: ['ignore', 'pipe', 2],
    env,
    encoding: 'utf8',
  });
  if (!built.stdout) return join(root, script);
  // Whoever builds another one removes what nobody uses any more: the service starts threads of it as long as it runs.
  setInterval(() => utimes(dirname(built.stdout), new Date(), new Date(), () => {}), HOUR_MS).unref();
  return built.stdout;
}

/** The service's settings by name, as `.env.example` has them. */
function settingNames() {
  return readFileSync(join(root, '.env.example'), 'utf8').match(/^[A-Z_]+(?==)/gm);
}

checkFolder();
const [script, ...args] = process.argv.slice(2);
const signals = takeSignals(script === 'src/cli.ts' && args[0] === 'serve');
install(script.startsWith('src/') ? 'runtime' : 'all');
const node = ownNode();
// Every start after the first takes a third less time with it.
const env = { NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'compiled'), ...process.env };
const isCommand = script === 'src/cli.ts';
const program = isCommand && args[0] === 'serve' ? build(node) : join(root, script);
// As in bin/domain-risk.mjs.
if (isCommand) env.DOMAIN_RISK_LAUNCHER = String(process.pid);
// The operator's settings are for the command line alone: tests and benchmarks would work in the operator's own store.
// So with what the driver of PostgreSQL takes from the environment where an address leaves it out.
const ofDriver = Object.keys(env).filter(name => /^PG[A-Z]+$/.test(name));
if (!isCommand) for (const name of [...settingNames(), ...ofDriver]) delete env[name];
// From wherever it is called, the same settings: those of the installation, where the current folder has none of its own.
passSettings(isCommand ? [resolve('.env'), join(root, '.env')] : [], env);
launch(node, [program, ...args], env, signals);
