/** A real authoritative DNS server (Knot DNS) on loopback, where it is installed. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

/** The path of `knotd`: `KNOTD_PATH`, else from `PATH` and where Debian puts daemons. Undefined when missing. */
export function haveKnot(): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'];
  const paths = [process.env.KNOTD_PATH ?? '', ...folders.map(folder => join(folder, 'knotd'))];
  return paths.find(path => path.startsWith('/') && isExecutable(path));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export interface Knot {
  readonly address: string;
  close(): Promise<void>;
}

/** Serves one zone, given as the text of a zone file. */
export async function startKnot(knotd: string, zone: string, zoneFile: string): Promise<Knot> {
  const folder = await mkdtemp(join(tmpdir(), 'domain-risk-knot-'));
  const port = await freePort();
  await writeFile(join(folder, 'zone'), zoneFile);
  await writeFile(join(folder, 'knot.conf'), configuration(folder, port, zone));
  const child = spawn(knotd, ['-c', join(folder, 'knot.conf')], { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (said += String(chunk)));
  const exited = once(child, 'exit');
  const stop = () => child.kill('SIGKILL');
  process.once('exit', stop);
  const close = async () => {
    process.off('exit', stop);
    if (child.exitCode === null) {
      child.kill('SIGTERM');
      await exited;
    }
    await rm(folder, { recursive: true, force: true });
  };
  const deadline = Date.now() + 10_000;
  while (!(await accepts(port))) {
    if (child.exitCode !== null || Date.now() > deadline) {
      await close();
      throw new Error(`knotd did not start: ${said}`);
    }
    await new Promise(done => setTimeout(done, 20));
  }
  return { address: `127.0.0.1:${port}`, close };
}

function configuration(folder: string, port: number, zone: string): string {
  return `server:
  rundir: "${folder}"
  listen: 127.0.0.1@${port}
  udp-workers: 1
  tcp-workers: 1
  background-workers: 1
log:
  - target: stderr
    any: warning
database:
  storage: "${folder}"
zone:
  - domain: ${zone}
    file: "${join(folder, 'zone')}"
    zonefile-sync: -1
    journal-content: none
`;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  await new Promise(done => server.close(done));
  return port;
}

function accepts(port: number): Promise<boolean> {
  return new Promise(done => {
    const socket = connect(port, '127.0.0.1');
    const end = (open: boolean) => {
      socket.destroy();
      done(open);
    };
    socket.on('connect', () => end(true));
    socket.on('error', () => end(false));
  });
}
