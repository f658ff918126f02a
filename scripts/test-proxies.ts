/** `npm run test:proxies`: the files of deploy/ for nginx and Caddy, in front of a real service, with TLS. */

import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type RequestOptions, request } from 'node:https';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../src/binding.ts';
import { bareEnvironment } from '../test/support/environment.ts';
import { installSystemParts } from './system-parts.ts';

const ROOT = join(import.meta.dirname, '..');
const HOST = '127.0.0.1';
const NAME = 'risk.example.com';
const folder = mkdtempSync(join(tmpdir(), 'domain-risk-proxies-'));
const [certificate, key] = [join(folder, 'fullchain.pem'), join(folder, 'privkey.pem')];
const find = (program: string) =>
  [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin'].map(at => join(at, program)).find(existsSync);

interface Proxy {
  readonly program: string;
  /** Writes the file of deploy/ for these ports, and gives the arguments. */
  prepare(port: number, upstream: number): readonly string[];
}

const deployed = (file: string) => readFileSync(join(ROOT, 'deploy', file), 'utf8');

const PROXIES: readonly Proxy[] = [
  {
    program: 'nginx',
    prepare(port, upstream) {
      const server = deployed('nginx.conf')
        .replace('127.0.0.1:8080', `${HOST}:${upstream}`)
        .replace('listen 443', `listen ${HOST}:${port}`)
        .replaceAll(/\/etc\/letsencrypt\/\S+\/(\w+\.pem)/g, `${folder}/$1`);
      const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
        name => `${name}_temp_path ${folder}/${name};`,
      );
      const file = join(folder, 'nginx.conf');
      const head = `daemon off; pid ${folder}/pid; error_log stderr; events {}`;
      writeFileSync(file, `${head}\nhttp { access_log off; ${places.join(' ')}\n${server}\n}`);
      return ['-c', file, '-p', folder, '-e', 'stderr'];
    },
  },
  {
    program: 'caddy',
    prepare(port, upstream) {
      const site = deployed('Caddyfile')
        .replace('127.0.0.1:8080', `${HOST}:${upstream}`)
        .replace(`${NAME} {`, `https://${NAME}:${port} {\n\tbind ${HOST}\n\ttls ${certificate} ${key}`);
      const file = join(folder, 'Caddyfile');
      writeFileSync(file, `{\n\tadmin off\n\tauto_https off\n}\n${site}`);
      return ['run', '--config', file, '--adapter', 'caddyfile'];
    },
  },
];

function ask(port: number, path: string, headers: Record<string, string> = {}): Promise<number> {
  const options: RequestOptions = {
    host: HOST,
    port,
    path,
    headers,
    servername: NAME,
    rejectUnauthorized: false,
  };
  return new Promise(resolve => {
    const asked = request({ ...options, headers: { host: NAME, ...headers }, timeout: 3_000 }, answer => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    });
    asked.on('error', () => resolve(0)).end();
  });
}

function started(command: string, args: readonly string[], env: Record<string, string>) {
  const child = spawn(command, args, {
    env: bareEnvironment({ XDG_DATA_HOME: folder, ...env }),
    cwd: folder,
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  const ended = new Promise(resolve => child.on('close', resolve));
  const end = async () => {
    child.kill('SIGTERM');
    await ended;
  };
  return { said: () => said, end };
}

async function until(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  said: () => string,
): Promise<void> {
  for (let tries = 0; tries < 300; tries++) {
    if (await isSo()) return;
    await pause(100);
  }
  throw new Error(`${what} never came:\n${said()}`);
}

/** What a caller from outside sees. */
async function tryProxy({ program, prepare }: Proxy, service: { port: number; key: string }) {
  const path = find(program);
  if (path === undefined) {
    process.stdout.write(`NOT RUN: deploy/ with ${program} (it is missing)\n`);
    return !process.env.CI;
  }
  const port = await freePort({ host: HOST, port: 0 });
  const proxy = started(path, prepare(port, service.port), {});
  try {
    await until(program, async () => (await ask(port, '/livez')) === 200, proxy.said);
    const authorization = `Bearer ${service.key}`;
    const headers = { authorization };
    const wanted = {
      '/v1/public/domain/mailinator.com': 200,
      // As it came: what is decoded on the way would be another name.
      '/v1/public/domain/a%2Fb.com': 422,
      '/admin/keys': 404,
      '/admin': 404,
      '/metrics': 404,
    };
    const got = Object.fromEntries(
      await Promise.all(Object.keys(wanted).map(async one => [one, await ask(port, one, headers)] as const)),
    );
    const isRight = JSON.stringify(got) === JSON.stringify(wanted);
    process.stdout.write(`${isRight ? 'ok  ' : 'FAIL'} ${program} ${JSON.stringify(got)}\n`);
    return isRight;
  } finally {
    await proxy.end();
  }
}

await installSystemParts(
  PROXIES.map(({ program }) => ({ program, package: program, tests: `deploy/ with ${program}` })),
);
execFileSync('openssl', [
  ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', '-subj', `/CN=${NAME}`],
  ...['-addext', `subjectAltName=DNS:${NAME}`, '-keyout', key, '-out', certificate],
]);
const port = await freePort({ host: HOST, port: 0 });
const settings = { PORT: String(port), DATA_DIR: join(folder, 'data'), TRUST_PROXY: `${HOST}/32` };
const quiet = { DNS_SERVERS: `${HOST}:1`, DNS_SENTINELS: '', ADMIN_TOKEN: 'x'.repeat(32) };
const server = started(process.execPath, [join(ROOT, 'src/cli.ts'), 'serve'], { ...settings, ...quiet });
let isGood = true;
try {
  await until('the service', () => /drk_\w{49}/.test(server.said()), server.said);
  const [firstKey] = /drk_\w{49}/.exec(server.said())!;
  for (const proxy of PROXIES) isGood = (await tryProxy(proxy, { port, key: firstKey! })) && isGood;
} finally {
  await server.end();
  rmSync(folder, { recursive: true, force: true });
}
process.exit(isGood ? 0 : 1);
