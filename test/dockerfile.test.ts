/** The image: Docker is not needed to see that what it copies is there, and that what it runs works. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join, matchesGlob } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { MEMORY } from '../bin/launch.mjs';
import { bareEnvironment } from './support/environment.ts';
import { CLI, ROOT } from './support/process.ts';
import { temporaryFolder } from './support/service.ts';

const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');
const LINES = read('Dockerfile')
  .replaceAll(/\\\n/g, ' ')
  .split('\n')
  .filter(line => line !== '' && !line.startsWith('#'));
const LAST = LINES.slice(LINES.findLastIndex(line => line.startsWith('FROM')));
const copied = (lines: readonly string[]) =>
  lines
    .filter(line => line.startsWith('COPY ') && !line.includes('--from='))
    .flatMap(line => line.split(/\s+/).slice(1, -1));
const commandOf = (line: string) => JSON.parse(line.slice(line.indexOf('['))) as string[];

/** As Docker reads it: the last line that matches the path, or a folder that it is in, decides. */
function isSent(path: string): boolean {
  const folders = path.split('/').map((_, at, parts) => parts.slice(0, at + 1).join('/'));
  let sent = true;
  for (const line of read('.dockerignore').trim().split('\n'))
    if (line === '*' || folders.some(folder => matchesGlob(folder, line.replace('!', ''))))
      sent = line.startsWith('!');
  return sent;
}

test('what it copies is there, and .dockerignore lets it through', () => {
  const sources = copied(LINES);
  expect(sources.length).toBeGreaterThan(10);
  expect(sources.filter(path => !existsSync(join(ROOT, path)) || !isSent(path))).toEqual([]);
  expect(['console/dist/index.html', '.env', 'var/domain-risk.db', 'node_modules/x'].filter(isSent)).toEqual(
    [],
  );
});

test('all of ours that it is built of is there while it is built', () => {
  const parts = copied(LINES.slice(0, LINES.indexOf(LAST[0]!)));
  const isCopied = (path: string) => parts.some(part => path === part || path.startsWith(`${part}/`));
  const sources = ['src/**/*.ts', ...parts.filter(part => part.startsWith('scripts/'))];
  const imports = sources
    .flatMap(pattern => globSync(pattern, { cwd: ROOT }))
    .flatMap(file =>
      [...read(file).matchAll(/(?:from|import) '(\.[^']+)'/g)].map(([, path]) =>
        join('/', file, '..', path!).slice('/'.length),
      ),
    );
  expect(imports).toContain('scripts/build-program.ts');
  expect([...new Set(imports)].filter(path => !isCopied(path))).toEqual([]);
});

test('what it is built of stays behind: the program, the console and our tables are all of ours that is in it', async () => {
  const folders = LAST.filter(line => line.startsWith('COPY ')).map(line => line.split(/\s+/).at(-1)!);
  expect(folders).toEqual(['./', 'data', 'dist', 'console/dist']);
  const image = temporaryFolder();
  for (const path of ['package.json', 'data', 'console/dist', 'node_modules']) {
    mkdirSync(join(image, path, '..'), { recursive: true });
    symlinkSync(join(ROOT, path), join(image, path));
  }
  cpSync(dirname(CLI), join(image, 'dist'), { recursive: true });
  const [, ...args] = commandOf(LAST.find(line => line.startsWith('ENTRYPOINT'))!);
  const env = bareEnvironment({
    ...{ DATA_DIR: join(image, 'volume'), PORT: '0', WORKERS: '1', FEEDS_UPDATE: 'off' },
    ...{ DNS_SERVERS: '127.0.0.1:1', DNS_SENTINELS: '' },
  });
  const child = spawn(process.execPath, [...args, 'serve'], { cwd: image, env });
  onTestFinished(() => void child.kill('SIGKILL'));
  const { promise: port, resolve } = Promise.withResolvers<string>();
  let said = '';
  child.stdout.on('data', (text: Buffer) => {
    said += text;
    const found = /"port":(\d+)/.exec(said)?.[1];
    if (found) resolve(found);
  });
  const page = await fetch(`http://127.0.0.1:${await port}/`);
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<!doctype html>')]);
  child.kill('SIGTERM');
  expect(await once(child, 'close')).toEqual([0, null]);
  expect(said).toContain('"shutting down"');
});

test('it runs as an ordinary user, without build tools, and writes to its one volume only', () => {
  const at = (start: string) => LAST.findIndex(line => line.startsWith(start));
  expect(LAST).toContain('USER node');
  expect(at('USER')).toBeGreaterThan(LAST.findLastIndex(line => line.startsWith('RUN')));
  expect(LAST.find(line => line.includes('npm ci'))).toMatch(/--omit=dev --omit=optional --ignore-scripts/);
  const volume = LAST[at('VOLUME')]!.split(' ')[1];
  const memory = Object.entries(MEMORY).map(([name, value]) => `${name}=${value}`);
  expect(LAST[at('ENV')]).toContain(`DATA_DIR=${volume} TMPDIR=${volume} ${memory.join(' ')}`);
});

test('its health check tells a server that is ready from one that is not, and from none', async () => {
  let status = 200;
  const server = createServer(({ url }, response) =>
    response.writeHead(url === '/readyz' ? status : 404).end(),
  ).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const [, ...args] = commandOf(LAST.find(line => line.startsWith('HEALTHCHECK'))!);
  const codeFor = async (PORT: number) => {
    const [code] = await once(spawn(process.execPath, args, { env: { PORT: String(PORT) } }), 'exit');
    return code;
  };
  expect(await codeFor(port)).toBe(0);
  status = 503;
  expect(await codeFor(port)).toBe(1);
  expect(await codeFor(1)).toBe(1);
});
