/** `npm run test:package`: the package as users install it, started on Node 20, 22 and 24, wherever and by whomever. */

import { execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { bareEnvironment } from '../test/support/environment.ts';
import { makePackage } from './package.ts';

const MAJORS = [20, 22, 24];
/** Nobody can write there, root neither. */
const NO_HOME = '/proc';
const START_MS = 60_000;
const folder = mkdtempSync(join(tmpdir(), 'domain-risk with spaces '));
let isGood = true;

function report(what: string, problem?: string): void {
  process.stdout.write(
    `${problem === undefined ? 'ok  ' : 'FAIL'} ${what}${problem ? `: ${problem}` : ''}\n`,
  );
  if (problem !== undefined) isGood = false;
}

/** The way to the registry, where it is not the usual one. */
const WAY = ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'HTTPS_PROXY', 'NO_PROXY', 'npm_config_registry'];
const way = Object.fromEntries(WAY.flatMap(name => (process.env[name] ? [[name, process.env[name]]] : [])));

const npm = (...args: string[]) =>
  execFileSync('npm', [...args, '--no-audit', '--no-fund', '--loglevel=error'], {
    env: bareEnvironment(way),
    stdio: ['ignore', 'ignore', 2],
  });

const megabytes = (path: string) =>
  Number(execFileSync('du', ['-sk', path], { encoding: 'utf8' }).split('\t')[0]) / 1_000;

/** From the registry, each in a folder of its own. */
function nodeOf(major: number): string {
  const at = join(folder, `node${major}`);
  npm('install', '--prefix', at, `node-linux-${process.arch}@${major}`);
  return join(at, 'node_modules', `node-linux-${process.arch}`, 'bin', 'node');
}

/** Whether it listens and ends with 0 at SIGTERM. */
async function starts(what: string, command: readonly string[], node: string, env: Record<string, string>) {
  const data = mkdtempSync(join(folder, 'data '));
  const { HOME: _home, ...bare } = bareEnvironment({
    ...{ DATA_DIR: data, PORT: '0', DNS_SERVERS: '127.0.0.1:1', DNS_SENTINELS: '' },
    PATH: [dirname(node), process.env.PATH].join(delimiter),
  });
  const child = spawn(command[0]!, [...command.slice(1), 'serve'], { env: { ...bare, ...env }, cwd: data });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      // The last thing that a first start says: it listens, and ends in order from here on.
      if (/drk_\w{49}.*curl/s.test(said)) child.kill('SIGTERM');
    });
  const late = setTimeout(() => child.kill('SIGKILL'), START_MS);
  const code = await new Promise(resolve => child.on('close', resolve));
  clearTimeout(late);
  const isRight =
    code === 0 && said.includes('"msg":"listening"') && existsSync(join(data, 'domain-risk.db'));
  report(what, isRight ? undefined : `code ${code}, ${said.slice(-500)}`);
}

try {
  const file = makePackage(folder);
  const local = join(folder, 'local install');
  const everywhere = join(folder, 'global');
  mkdirSync(local);
  npm('install', '--prefix', local, file);
  npm('install', '--global', '--prefix', everywhere, file);
  const packages = join(local, 'node_modules');
  const tools = ['vite', 'rolldown', 'typescript', 'preact'].filter(name => existsSync(join(packages, name)));
  report('no build tools', tools.length === 0 ? undefined : tools.join());
  const own = `node-linux-${process.arch}`;
  process.stdout.write(
    `size: ${(statSync(file).size / 1e6).toFixed(1)} MB packed, ${megabytes(packages).toFixed(0)} MB installed, ${megabytes(join(packages, own)).toFixed(0)} of them the Node that comes along\n`,
  );
  const bin = join(packages, '.bin', 'domain-risk');
  for (const major of MAJORS) {
    const node = nodeOf(major);
    await starts(`Node ${major}, without HOME`, [node, bin], node, {});
    await starts(`Node ${major}, installed globally`, [join(everywhere, 'bin/domain-risk')], node, {});
    await starts(`Node ${major}, a home that cannot be written`, [bin], node, { HOME: NO_HOME });
  }
  const help = execFileSync('npx', ['--no', '--', 'domain-risk', 'serve', '--help'], {
    ...{ cwd: local, encoding: 'utf8', env: bareEnvironment(way) },
  });
  report('npx', help.includes('DECISION_LOG') ? undefined : help);
  // As with --omit=optional, and as where it does not run.
  rmSync(join(packages, own), { recursive: true });
  const old = nodeOf(MAJORS[0]!);
  for (const how of ['is missing', 'does not run']) {
    const said = execFileSync('sh', ['-c', `"${old}" "${bin}" --version 2>&1 || true`], { encoding: 'utf8' });
    report(`an old Node where the bundled one ${how}`, /install a newer one/.test(said) ? undefined : said);
    cpSync('/bin/false', join(packages, own, 'bin/node'));
    cpSync(join(local, 'package.json'), join(packages, own, 'package.json'));
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exit(isGood ? 0 : 1);
