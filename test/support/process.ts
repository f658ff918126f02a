/** The real program in processes of its own: servers and commands, each ended with the test whatever happens. */

import { type ChildProcess, fork, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { inject, onTestFinished } from 'vitest';
import type { Store } from '../../src/core/ports.ts';
import { bareEnvironment, LONG_LISTS } from './environment.ts';
import { type Cleanup, temporaryFolder } from './service.ts';
import { storeAt } from './store.ts';

export const ROOT = join(import.meta.dirname, '..', '..');
export const CLI = inject('cli');
/** Nobody answers there, at once: no test may ever ask the system's resolver. */
export const NO_DNS = '127.0.0.1:1';
export const ALL_LISTS = { FEEDS_OFF: '' };
export const SECRET = /drk_[0-9A-Za-z]{49}/;

/** Starting takes a third less time with it, for processes and for the store's threads, and tests start many. */
process.env.NODE_COMPILE_CACHE ??= join(ROOT, 'node_modules', '.cache', 'compiled');

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Running {
  readonly base: string;
  readonly port: number;
  readonly pid: number;
  readonly folder: string;
  /** The first key's secret, where this start made it. */
  readonly firstKey: string | undefined;
  stdout(): string;
  stderr(): string;
  readonly exited: Promise<Exit>;
  signal(signal: NodeJS.Signals): void;
  /** SIGTERM, and wait. */
  stop(): Promise<Exit>;
  /** SIGKILL, and wait. */
  kill(): Promise<Exit>;
  get(path: string, secret?: string, headers?: Record<string, string>): Promise<Response>;
}

export interface ProcessOptions {
  readonly folder?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** A command that starts the program given to it as arguments, such as `prlimit`. */
  readonly through?: readonly string[];
  readonly cleanup?: Cleanup;
  /** Where it is started. */
  readonly cwd?: string;
}

export function environment(folder: string, env: ProcessOptions['env']): NodeJS.ProcessEnv {
  return bareEnvironment({
    ...{ PORT: '0', DATA_DIR: folder, DNS_SERVERS: NO_DNS, DNS_SENTINELS: '', FEEDS_OFF: LONG_LISTS.join() },
    ...env,
  });
}

export interface Child {
  readonly child: ChildProcess;
  readonly exited: Promise<Exit>;
  stdout(): string;
  stderr(): string;
}

/** What reads `.env`: that of its folder, or else that of this clone, which is the operator's own. */
const LAUNCHERS = /\b(?:boot\.mjs src\/cli\.ts|bin\/domain-risk\.mjs)\b/;

export function startChild(command: readonly string[], env: NodeJS.ProcessEnv, cwd = ROOT): Child {
  if (LAUNCHERS.test(command.join(' ')) && (cwd === ROOT || !existsSync(join(cwd, '.env'))))
    throw new Error('it would read the .env of whoever tests: start it in a folder with one of its own');
  const child = spawn(command[0]!, command.slice(1), { env, cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  const texts = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream]?.setEncoding('utf8').on('data', (text: string) => {
      texts[stream] += text;
    });
  }
  const exited = new Promise<Exit>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal }));
  });
  return { child, exited, stdout: () => texts.stdout, stderr: () => texts.stderr };
}

/** Waits until the text is there, or fails with everything that the process said. */
export async function output(from: Child, wanted: RegExp, ms = 90_000): Promise<RegExpMatchArray> {
  const until = performance.now() + ms;
  for (;;) {
    const found = from.stdout().match(wanted) ?? from.stderr().match(wanted);
    if (found) return found;
    const ended = from.child.exitCode !== null || from.child.signalCode !== null;
    if (ended || performance.now() > until) {
      const how = ended ? `ended with ${from.child.exitCode ?? from.child.signalCode}` : 'is silent';
      throw new Error(`the process ${how}, ${wanted} never came:\n${from.stdout()}\n${from.stderr()}`);
    }
    await new Promise(resolve => setTimeout(resolve, 10));
  }
}

export async function startServer(options: ProcessOptions = {}): Promise<Running> {
  // As scripts/boot.mjs starts it.
  const node = [process.execPath, '--max-semi-space-size=8'];
  return startAs([...(options.through ?? []), ...node, CLI, 'serve'], options);
}

/** Any command line that ends up serving. */
export async function startAs(command: readonly string[], options: ProcessOptions = {}): Promise<Running> {
  const { cleanup = onTestFinished } = options;
  const folder = options.folder ?? temporaryFolder(cleanup);
  const isFirst = options.env?.DATABASE_URL === undefined && !hasKeys(join(folder, 'domain-risk.db'));
  const started = startChild(command, environment(folder, options.env), options.cwd);
  const { child, exited } = started;
  cleanup(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  const port = Number((await output(started, /"port":(\d+),"msg":"listening"/))[1]);
  if (isFirst) await output(started, /\n {2}curl .*\n\n/);
  const base = `http://127.0.0.1:${port}`;
  const end = (signal: NodeJS.Signals) => {
    child.kill(signal);
    return exited;
  };
  return {
    base,
    port,
    pid: child.pid!,
    folder,
    firstKey: SECRET.exec(started.stdout())?.[0],
    stdout: started.stdout,
    stderr: started.stderr,
    exited,
    signal: signal => void child.kill(signal),
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
    get: (path, secret, headers = {}) =>
      fetch(base + path, {
        headers: { ...(secret === undefined ? {} : { authorization: `Bearer ${secret}` }), ...headers },
      }),
  };
}

/** What a server logs when something happened to it that must never happen. */
export function fatalLines(server: Running): string[] {
  return server
    .stdout()
    .split('\n')
    .filter(line => line.includes('"level":60') || line.includes('must never happen'));
}

function hasKeys(path: string): boolean {
  return existsSync(path) && read(path, 'SELECT count(*) AS n FROM key')[0]?.n !== 0;
}

/** What a process of its own reads from the store: the oracle that no server can colour. */
export function read(path: string, sql: string, ...values: (string | number)[]): Record<string, unknown>[] {
  const db = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
  try {
    return db.prepare(sql).all(...values);
  } finally {
    db.close();
  }
}

export function countOf(folder: string, keyId: string): number {
  const rows = read(join(folder, 'domain-risk.db'), 'SELECT used FROM usage WHERE key_id = ?', keyId);
  return rows.reduce((sum, row) => sum + Number(row.used), 0);
}

export interface Finished extends Exit {
  readonly stdout: string;
  readonly stderr: string;
}

/** It ends what hangs, before the test does and says less. A command takes 2 s, 40 beside ten times too much work. */
export const HANGS_MS = 150_000;

async function runAlone(args: readonly string[], options: ProcessOptions = {}): Promise<Finished> {
  const folder = options.folder ?? temporaryFolder(options.cleanup);
  const command = [...(options.through ?? []), process.execPath, CLI, ...args];
  const started = startChild(command, environment(folder, options.env), options.cwd);
  const timer = setTimeout(() => started.child.kill('SIGKILL'), HANGS_MS);
  const exit = await started.exited;
  clearTimeout(timer);
  return { ...exit, stdout: started.stdout(), stderr: started.stderr() };
}

/** Processes that carry out one command after the other; those that have nothing to do. */
const idle: ChildProcess[] = [];

function startRunner(): ChildProcess {
  const runner = fork(join(import.meta.dirname, 'commands.mjs'), { cwd: ROOT });
  runner.unref();
  runner.channel?.unref();
  return runner;
}

/** Runs `domain-risk …` to its end. */
export async function run(args: readonly string[], options: ProcessOptions = {}): Promise<Finished> {
  if (options.through || options.env?.NODE_OPTIONS) return runAlone(args, options);
  const folder = options.folder ?? temporaryFolder(options.cleanup);
  // What a command left behind may have ended one meanwhile.
  let runner = idle.pop();
  while (runner && !runner.connected) runner = idle.pop();
  runner ??= startRunner();
  runner.channel?.ref();
  runner.send({ program: CLI, args, env: environment(folder, options.env) });
  const done = new AbortController();
  const signal = AbortSignal.any([done.signal, AbortSignal.timeout(HANGS_MS)]);
  const [finished] = await Promise.race([
    once(runner, 'message', { signal }),
    once(runner, 'exit', { signal }),
  ]);
  done.abort();
  if (typeof finished !== 'object' || finished === null) {
    // A command before this one left something behind that failed now: to be looked at, and not this one's fault.
    process.stderr.write(`a process of commands ended with ${finished} at: ${args.join(' ')}\n`);
    return runAlone(args, { ...options, folder });
  }
  runner.channel?.unref();
  idle.push(runner);
  return { ...finished, signal: null };
}

/** Runs a command with `--json`, and gives the one document that stdout may hold. */
export async function runJson<T = Record<string, unknown>>(
  args: readonly string[],
  options: ProcessOptions = {},
): Promise<T> {
  const { code, stdout, stderr } = await run([...args, '--json'], options);
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${stderr}`);
  return JSON.parse(stdout) as T;
}

export interface MadeKey {
  readonly id: string;
  readonly key: string;
}

export function makeKey(folder: string, ...limits: string[]): Promise<MadeKey> {
  return runJson<MadeKey>(['keys', 'create', '--name', 'load', ...limits], { folder });
}

/** A store on the same file, in the tester's own process: for keys by the dozen, which commands make too slowly. */
export function openBeside(folder: string, cleanup: Cleanup = onTestFinished): Promise<Store> {
  return storeAt(join(folder, 'domain-risk.db'), cleanup);
}

/** Whether a tool of the system is there; says so where not, and fails where everything must be tested. */
export function hasTool(name: string): boolean {
  const found = spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0;
  if (!found && process.env.CI) throw new Error(`${name} is not installed, and CI must test everything`);
  if (!found) process.stderr.write(`not tested here: ${name} is not installed\n`);
  return found;
}
