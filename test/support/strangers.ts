/**
 * Strangers: connections without a key that send any bytes in any order at any speed, each by a script that only the
 * seed decides. They run in a process of their own, so that what another caller sees meanwhile is the server's doing.
 */

import { fork } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import { pause, pick, type Random, randomFrom, upTo } from './scale.ts';

/** Every path that needs no key, the assets of the pages included, and a few that do. */
export async function pathsOf(base: string): Promise<string[]> {
  const paths = new Set([
    ...['/', '/docs', '/openapi.json', '/metrics', '/readyz', '/livez', '/v1/public/top-domains'],
    ...['/v1/public/domain/x', '/v1/public/domain/gmail.com', '/admin/keys', '/nothing'],
  ]);
  for (const page of ['/', '/docs']) {
    const html = await (await fetch(base + page)).text();
    for (const [, link] of html.matchAll(/(?:src|href)="([^"#]+)"/g)) {
      const url = URL.parse(link!, base + page);
      if (url?.origin === base) paths.add(url.pathname);
    }
  }
  return [...paths];
}

export async function largestPage(base: string): Promise<string> {
  let largest = { path: '/', bytes: 0 };
  for (const path of await pathsOf(base)) {
    const response = await fetch(base + path);
    const bytes = (await response.arrayBuffer()).byteLength;
    if (response.status === 200 && bytes > largest.bytes) largest = { path, bytes };
  }
  return largest.path;
}

const head = (method: string, path: string, ...lines: string[]) =>
  `${[`${method} ${path} HTTP/1.1`, 'Host: a', ...lines].join('\r\n')}\r\n\r\n`;

const TLS_HELLO = Buffer.concat([
  Buffer.from('16030100c8010000c40303', 'hex'),
  Buffer.alloc(32, 7),
  Buffer.from('00001a1301130213031302c02bc02fc02cc030cca9cca8c013c014009c009d0100', 'hex'),
  Buffer.alloc(120),
]);
const HTTP2 = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1'),
  Buffer.from('000000040000000000', 'hex'),
]);

/** What is sent, by name: the name is told with whatever was answered wrongly. */
const SHAPES: Readonly<Record<string, (random: Random, path: string) => string | Buffer>> = {
  get: (_, path) => head('GET', path),
  head: (_, path) => head('HEAD', path),
  gzip: (_, path) => head('GET', path, 'Accept-Encoding: gzip, br;q=0.5', 'If-None-Match: "x"'),
  method: (random, path) =>
    head(pick(random, ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'PURGE']), path),
  'wrong key': (random, path) => head('GET', path, `Authorization: Bearer drk_${random()}`),
  'small pipeline': random => head('GET', pick(random, ['/livez', '/nothing'])).repeat(1 + upTo(random, 999)),
  'large pipeline': (random, path) => head('GET', path).repeat(1 + upTo(random, 899)),
  'header flood': random =>
    head('GET', '/', ...Array.from({ length: upTo(random, 3_000) }, (_, i) => `X-${i}: y`)),
  'giant header': random => head('GET', '/', `X: ${'y'.repeat(upTo(random, 100_000))}`),
  'endless spaces': (_, path) => head('GET', path, `Accept-Encoding: x${' '.repeat(7_900)}y`),
  'long target': random => head('GET', `/${'y'.repeat(upTo(random, 20_000))}`),
  connect: () => head('CONNECT', 'x:1'),
  websocket: (_, path) =>
    head('GET', path, 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'),
  'behind a websocket': (random, path) =>
    head('GET', path, 'Connection: Upgrade', 'Upgrade: websocket') +
    pick(random, ['nonsense\r\n\r\n', 'x'.repeat(upTo(random, 100_000)), head('GET', path)]),
  h2c: (_, path) =>
    head('GET', path, 'Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AA'),
  expect: (random, path) =>
    `${head('POST', path, `Expect: ${pick(random, ['100-continue', 'x'])}`, 'Content-Length: 4')}body`,
  body: (random, path) => `${head(pick(random, ['GET', 'POST']), path, 'Content-Length: 4')}body`,
  'body cut short': (random, path) => `${head('POST', path, `Content-Length: ${5 + upTo(random, 1e9)}`)}body`,
  chunked: (random, path) =>
    `${head(pick(random, ['GET', 'POST']), path, 'Transfer-Encoding: chunked')}4\r\nbody\r\n0\r\n\r\n`,
  'large body': (random, path) =>
    head(pick(random, ['GET', 'POST']), path, 'Content-Length: 245000') + 'x'.repeat(245_000),
  'chunks of a byte': (random, path) =>
    head(pick(random, ['GET', 'POST']), path, 'Transfer-Encoding: chunked') + '1\r\nx\r\n'.repeat(20_000),
  'bad chunk': (random, path) =>
    `${head('POST', path, 'Transfer-Encoding: chunked')}${pick(random, ['zz', '-1', 'fffffffffffffffff', '0x4', ''])}\r\nbody\r\n0\r\n\r\n`,
  'endless chunks': (_, path) =>
    head('POST', path, 'Transfer-Encoding: chunked') + '1;x=y\r\na\r\n'.repeat(2_000),
  'both lengths': (_, path) =>
    `${head('POST', path, 'Content-Length: 4', 'Transfer-Encoding: chunked')}0\r\n\r\n`,
  'two lengths': (_, path) => `${head('POST', path, 'Content-Length: 4', 'Content-Length: 5')}body`,
  xchunked: (_, path) => `${head('POST', path, 'Transfer-Encoding: xchunked')}0\r\n\r\n`,
  'HTTP/1.0': (random, path) =>
    `GET ${path} HTTP/1.0\r\n${pick(random, ['', 'Connection: keep-alive\r\n'])}\r\n`,
  'HTTP/0.9': (_, path) => `GET ${path}\r\n`,
  'HTTP/2': () => HTTP2,
  tls: () => TLS_HELLO,
  garbage: random => Buffer.from(Array.from({ length: 1 + upTo(random, 500) }, () => upTo(random, 255))),
  nul: (random, path) => head('GET', `${path}\0`, 'X: \0').repeat(1 + upTo(random, 3)),
  absolute: (_, path) => head('GET', `http://elsewhere${path}`),
  'bare line feeds': (_, path) => `GET ${path} HTTP/1.1\nHost: a\n\n`,
  'folded header': (_, path) => head('GET', path, 'X: a', ' b'),
  'no host': (_, path) => `GET ${path} HTTP/1.1\r\n\r\n`,
};
const SHAPE_NAMES = Object.keys(SHAPES);

/** How it is sent. */
const WAYS = ['whole', 'whole', 'cut', 'byte by byte', 'in two', 'slowly'] as const;
/** What is done with what comes back. */
const READINGS = ['all', 'all', 'never', 'slowly', 'a bit'] as const;
/** How it ends. A connection that waits is over when the server closes it, or its time is. */
const ENDS = ['wait', 'half-close', 'close', 'reset', 'reset on answer', 'reset later', 'again'] as const;

interface Script {
  readonly shape: string;
  readonly way: (typeof WAYS)[number];
  readonly reading: (typeof READINGS)[number];
  readonly end: (typeof ENDS)[number];
  readonly lifeMs: number;
}

/** First a reset in every state of every shape, then whatever comes. */
const SYSTEMATIC: readonly Omit<Script, 'lifeMs'>[] = SHAPE_NAMES.flatMap(shape => [
  { shape, way: 'whole', reading: 'all', end: 'reset' },
  { shape, way: 'cut', reading: 'all', end: 'reset' },
  { shape, way: 'cut', reading: 'all', end: 'reset later' },
  { shape, way: 'whole', reading: 'all', end: 'reset on answer' },
  { shape, way: 'whole', reading: 'never', end: 'reset later' },
  { shape, way: 'whole', reading: 'all', end: 'half-close' },
]);

function scriptOf(index: number, random: Random, longMs: number): Script {
  // Most are short, so that there are many; some outlive every timeout.
  const lifeMs = random() < 0.05 ? longMs : 20 + upTo(random, 1_500);
  const systematic = SYSTEMATIC[index];
  if (systematic) return { ...systematic, lifeMs };
  return {
    shape: pick(random, SHAPE_NAMES),
    way: pick(random, WAYS),
    reading: pick(random, READINGS),
    end: pick(random, ENDS),
    lifeMs,
  };
}

const MOST_HEAD = 16 * 1024;

/** Finds the status of every answer in what a server sends, as far as lengths are told. */
class Statuses {
  readonly #found: (status: string) => void;
  #head = '';
  #skip = 0;
  #isLost: boolean;

  constructor(found: (status: string) => void) {
    this.#found = found;
    this.#isLost = false;
  }

  take(chunk: Buffer, isHead: boolean): void {
    let rest = chunk;
    while (rest.length > 0 && !this.#isLost) {
      const skipped = Math.min(this.#skip, rest.length);
      this.#skip -= skipped;
      rest = rest.subarray(skipped);
      if (rest.length === 0) return;
      const before = this.#head.length;
      this.#head += rest.toString('latin1', 0, MOST_HEAD);
      const end = this.#head.indexOf('\r\n\r\n');
      if (end === -1) {
        this.#isLost = this.#head.length > MOST_HEAD;
        return;
      }
      const text = this.#head.slice(0, end + 2);
      rest = rest.subarray(end + 4 - before);
      this.#head = '';
      this.#found(/^HTTP\/1\.1 (\d{3}) /.exec(text)?.[1] ?? `not HTTP: ${text.slice(0, 40)}`);
      this.#isLost = isHead || /\r\ntransfer-encoding:/i.test(text);
      this.#skip = Number(/\r\ncontent-length: *(\d+)/i.exec(text)?.[1] ?? 0);
    }
  }
}

export interface Attack {
  readonly port: number;
  readonly seed: number;
  readonly connections: number;
  readonly atOnce: number;
  /** How long a few of them stay at most. */
  readonly longMs: number;
  readonly paths: readonly string[];
}

export interface Aftermath {
  readonly connections: number;
  readonly mostOpen: number;
  /** Every status that came, and of which shapes. */
  readonly statuses: Readonly<Record<string, { count: number; shapes: readonly string[] }>>;
  /** How connections ended that the strangers did not end themselves. */
  readonly errors: Readonly<Record<string, number>>;
}

/** Strangers are many: what one address may do is not all that they do. */
const ADDRESSES = Array.from({ length: 8 }, (_, i) => `127.0.0.${i + 2}`);

async function attack(plan: Attack): Promise<Aftermath> {
  const statuses: Record<string, { count: number; shapes: string[] }> = {};
  const errors: Record<string, number> = {};
  let next = 0;
  let open = 0;
  let mostOpen = 0;
  const found = (shape: string) => (status: string) => {
    statuses[status] ??= { count: 0, shapes: [] };
    const of = statuses[status];
    of.count++;
    if (of.shapes.length < 40 && !of.shapes.includes(shape)) of.shapes.push(shape);
  };
  const worker = async () => {
    while (next < plan.connections) {
      const index = next++;
      const random = randomFrom(plan.seed * 1_000_003 + index);
      const script = scriptOf(index, random, plan.longMs);
      mostOpen = Math.max(mostOpen, ++open);
      const error = await play(plan, script, random, found(script.shape));
      if (error !== undefined) errors[error] = (errors[error] ?? 0) + 1;
      open--;
    }
  };
  await Promise.all(Array.from({ length: plan.atOnce }, worker));
  return { connections: next, mostOpen, statuses, errors };
}

/** One connection from its beginning to its end; gives the error by which it ended, where there was one. */
async function play(
  plan: Attack,
  script: Script,
  random: Random,
  found: (status: string) => void,
): Promise<string | undefined> {
  const { shape, way, reading, end, lifeMs } = script;
  const bytes = Buffer.from(SHAPES[shape]!(random, pick(random, plan.paths)) as string, 'latin1');
  const socket = connect({
    port: plan.port,
    host: '127.0.0.1',
    localAddress: pick(random, ADDRESSES),
    allowHalfOpen: true,
  });
  const { promise: closed, resolve: isClosed } = Promise.withResolvers<void>();
  let error: string | undefined;
  socket.on('error', (problem: NodeJS.ErrnoException) => {
    error = problem.code ?? problem.message;
  });
  socket.on('close', () => isClosed());
  const statuses = new Statuses(found);
  const isHead = shape === 'head';
  let isAnswered = false;
  const { promise: answered, resolve: hasAnswer } = Promise.withResolvers<void>();
  if (reading === 'never') socket.pause();
  else {
    socket.on('data', chunk => {
      statuses.take(chunk, isHead);
      isAnswered = true;
      hasAnswer();
      if (end === 'reset on answer') return reset();
      if (reading === 'all') return;
      socket.pause();
      // A bit: never again.
      if (reading === 'slowly') setTimeout(() => socket.resume(), 50);
    });
    socket.on('end', () => socket.end());
  }
  const reset = () => {
    // A socket whose half is closed cannot be reset: libuv refuses it and the handle stays (Node 24.21).
    if (socket.writableEnded) return void socket.destroy();
    socket.resetAndDestroy();
    // It waits for what is not written yet, for ever where the other side does not read.
    if (!socket.destroyed) setTimeout(() => socket.destroy(), RESET_MS);
  };
  const life = pause(lifeMs);
  const atMost = (ms: number) => Promise.race([pause(ms), closed]);
  await deliver(socket, bytes, way, random, lifeMs);
  if (end === 'reset') reset();
  else if (end === 'reset later') {
    await atMost(upTo(random, Math.min(lifeMs, 200)));
    reset();
  } else if (end === 'close') {
    await atMost(upTo(random, 20));
    socket.destroy();
  } else {
    if (end === 'half-close') socket.end();
    // The same once more on the same connection, after the first answer.
    if (end === 'again') {
      await Promise.race([answered, closed, life]);
      if (isAnswered && socket.writable) socket.write(bytes);
    }
    await Promise.race([closed, life]);
    reset();
  }
  await closed;
  return error;
}

const SLOWEST_MS = 100;
const RESET_MS = 20;

async function deliver(
  socket: Socket,
  bytes: Buffer,
  way: Script['way'],
  random: Random,
  lifeMs: number,
): Promise<void> {
  const until = performance.now() + lifeMs;
  const write = (from: number, to: number) => {
    if (socket.writable) socket.write(bytes.subarray(from, to));
  };
  const cut = 1 + upTo(random, bytes.length - 1);
  switch (way) {
    case 'whole':
      return write(0, bytes.length);
    case 'cut':
      return write(0, cut);
    case 'in two':
      write(0, cut);
      await pause(upTo(random, SLOWEST_MS));
      return write(cut, bytes.length);
    case 'byte by byte':
      for (let i = 0; i < Math.min(bytes.length, 100); i++) {
        write(i, i + 1);
        await new Promise<void>(resolve => setImmediate(resolve));
      }
      return write(100, bytes.length);
    case 'slowly':
      for (let i = 0; i < bytes.length && performance.now() < until && socket.writable; i++) {
        write(i, i + 1);
        await pause(upTo(random, SLOWEST_MS));
      }
  }
}

/** Sends them all from a process of their own, and gives what became of them. */
export function sendStrangers(plan: Attack, cleanup: (end: () => void) => void): Promise<Aftermath> {
  const child = fork(import.meta.filename, { execArgv: [] });
  cleanup(() => void child.kill('SIGKILL'));
  return new Promise((resolve, reject) => {
    child.once('message', resolve as (aftermath: unknown) => void);
    child.once('exit', code => reject(new Error(`the strangers' process ended with ${code}`)));
    child.send(plan);
  });
}

if (import.meta.main && process.send) {
  process.once('message', async (plan: Attack) => {
    process.send!(await attack(plan), () => process.disconnect());
  });
  process.on('disconnect', () => process.exit(0));
}
