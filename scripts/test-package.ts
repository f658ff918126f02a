/** `npm run test:package`: the package as users install it, started on Node 20, 22 and 24, wherever and by whomever. */

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { bareEnvironment } from '../test/support/environment.ts';

const ROOT = join(import.meta.dirname, '..');
const MAJORS = [20, 22, 24];
/** Nobody can write there, root neither. */
const NO_HOME = '/proc';
const NOBODY = 65_534;
const START_MS = 60_000;
const folder = mkdtempSync(join(tmpdir(), 'domain-risk with spaces '));
// For whoever runs it: what npm installs there is no secret.
chmodSync(folder, 0o755);
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

async function npm(...args: string[]): Promise<void> {
  const child = spawn('npm', [...args, '--no-audit', '--no-fund', '--loglevel=error'], {
    ...{ cwd: ROOT, env: bareEnvironment(way), stdio: ['ignore', 'ignore', 2] },
  });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`npm ${args[0]} ended with ${code}`);
}

const megabytes = (path: string) =>
  Number(execFileSync('du', ['-sk', path], { encoding: 'utf8' }).split('\t')[0]) / 1_000;

/** From the registry, each in a folder of its own. */
async function nodeOf(major: number): Promise<string> {
  const at = join(folder, `node${major}`);
  await npm('install', '--prefix', at, `node-linux-${process.arch}@${major}`);
  return join(at, 'node_modules', `node-linux-${process.arch}`, 'bin', 'node');
}

interface Start {
  readonly what: string;
  readonly command: readonly string[];
  readonly node: string;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly uid?: number;
}

/** Whether it listens and ends at SIGTERM: its output is then closed by all. npx itself dies of the signal, without a code. */
async function starts({ what, command, node, cwd, env = {}, uid }: Start): Promise<void> {
  const data = mkdtempSync(join(folder, 'data '));
  if (uid !== undefined) chownSync(data, uid, uid);
  const { HOME: _home, ...bare } = bareEnvironment({
    ...{ DATA_DIR: data, PORT: '0', DNS_SERVERS: '127.0.0.1:1', DNS_SENTINELS: '' },
    PATH: [dirname(node), process.env.PATH].join(delimiter),
  });
  const child = spawn(command[0]!, [...command.slice(1), 'serve'], {
    ...{ env: { ...bare, ...env }, cwd: cwd ?? data },
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      // The last thing that a first start says: it listens, and ends in order from here on.
      if (/drk_\w{49}.*curl/s.test(said)) child.kill('SIGTERM');
    });
  const late = setTimeout(() => child.kill('SIGKILL'), START_MS);
  const [code] = await once(child, 'close');
  clearTimeout(late);
  const isRight =
    code === (command[0] === 'npx' ? null : 0) &&
    /"listening".*"shutting down"/s.test(said) &&
    existsSync(join(data, 'domain-risk.db'));
  report(what, isRight ? undefined : `code ${code}, ${said.slice(-500)}`);
}

/** A company's own registry: all of the package and what it needs comes from there, and from nowhere else. */
async function installsFromAnother(file: string): Promise<void> {
  const asked: string[] = [];
  const mirror = createServer(async (request, response) => {
    asked.push(request.url!);
    const accept = request.headers.accept ?? '*/*';
    const original = await fetch(`https://registry.npmjs.org${request.url}`, { headers: { accept } });
    response.writeHead(original.status, { 'content-type': original.headers.get('content-type') ?? '' });
    response.end(Buffer.from(await original.arrayBuffer()));
  }).listen(0, '127.0.0.1');
  await once(mirror, 'listening');
  const at = join(folder, 'another registry');
  mkdirSync(at);
  const registry = `http://127.0.0.1:${(mirror.address() as AddressInfo).port}/`;
  const nothingKept = ['--cache', join(folder, 'cache'), '--omit=optional', '--registry', registry];
  await npm('install', '--prefix', at, ...nothingKept, file);
  mirror.close();
  const missing = globSync('node_modules/{@*/*,[!@]*}/package.json', { cwd: at })
    .map(path => path.split('/').slice(1, -1).join('/'))
    .filter(name => name !== 'domain-risk' && !asked.some(url => url.includes(`${name}/-/`)));
  report('another registry', missing.length === 0 && asked.length > 0 ? undefined : missing.join());
}

/** As with --omit=optional, and as where it does not run. */
async function saysWhatToInstall(packages: string, bin: string): Promise<void> {
  const own = join(packages, `node-linux-${process.arch}`);
  rmSync(own, { recursive: true });
  const old = await nodeOf(MAJORS[0]!);
  for (const how of ['is missing', 'does not run']) {
    const said = execFileSync('sh', ['-c', `"${old}" "${bin}" --version 2>&1 || true`], { encoding: 'utf8' });
    report(`an old Node where the bundled one ${how}`, /install a newer one/.test(said) ? undefined : said);
    cpSync('/bin/false', join(own, 'bin/node'));
    cpSync(join(packages, '../package.json'), join(own, 'package.json'));
  }
}

async function tryPackage(): Promise<void> {
  await npm('pack', '--pack-destination', folder);
  const [name] = globSync('*.tgz', { cwd: folder });
  const file = join(folder, name!);
  const local = join(folder, 'local install');
  const everywhere = join(folder, 'global');
  mkdirSync(local);
  await npm('install', '--prefix', local, file);
  await npm('install', '--global', '--prefix', everywhere, file);
  const packages = join(local, 'node_modules');
  const tools = ['vite', 'rolldown', 'typescript', 'preact'].filter(tool => existsSync(join(packages, tool)));
  report('no build tools', tools.length === 0 ? undefined : tools.join());
  const bundled = megabytes(join(packages, `node-linux-${process.arch}`)).toFixed(0);
  process.stdout.write(
    `size: ${(statSync(file).size / 1e6).toFixed(1)} MB packed, ${megabytes(packages).toFixed(0)} MB installed, ${bundled} of them the Node that comes along\n`,
  );
  const bin = join(packages, '.bin', 'domain-risk');
  for (const major of MAJORS) {
    const node = await nodeOf(major);
    const on = `Node ${major}`;
    await starts({ what: `${on}, without HOME`, command: [node, bin], node });
    await starts({ what: `${on}, installed globally`, command: [join(everywhere, 'bin/domain-risk')], node });
    await starts({
      ...{ what: `${on}, a home that cannot be written`, command: [bin], node, env: { HOME: NO_HOME } },
    });
    await starts({ what: `${on}, npx`, command: ['npx', '--no', '--', 'domain-risk'], node, cwd: local });
    if (process.getuid?.() === 0)
      await starts({
        what: `${on}, nobody`,
        command: [bin],
        node,
        uid: NOBODY,
        env: { HOME: '/nonexistent' },
      });
  }
  await installsFromAnother(file);
  await saysWhatToInstall(packages, bin);
}

try {
  await tryPackage();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exit(isGood ? 0 : 1);
