import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { API_PATH } from '../support/bystander.ts';
import { COLLECT, COUNT_PROMISES, METER_SOCKET, type Used } from '../support/meter.ts';
import { CLI, hasTool, ROOT, type Running, startAs, startChild } from '../support/process.ts';
import { eventually, pause } from '../support/scale.ts';
import { temporaryFolder } from '../support/service.ts';

const CALLS = 100;
/** On a busy machine calls take longer, and more happens beside them: the best of so many. */
const ROUNDS = 3;
const METER = join(ROOT, 'test/support/meter.ts');
/** MiB that are allocated before anything is collected. */
const ROOM = 64;

/** One call after the other over one connection: each is counted in a commit of its own. */
async function call(socket: Socket, secret: string, times: number): Promise<void> {
  const request = `GET ${API_PATH} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${secret}\r\n\r\n`;
  for (let left = times; left > 0; left--) {
    const answered = new Promise<string>(resolve => socket.once('data', resolve));
    socket.write(request);
    expect((await answered).slice(0, 12)).toBe('HTTP/1.1 200');
  }
}

/** One for all tests with the lane: started with what counts, which does nothing that it is not asked for. */
const ends: (() => void | Promise<void>)[] = [];
afterAll(async () => {
  for (const end of ends.reverse()) await end();
});
const servers = new Map<string, Promise<{ server: Running; meter: string }>>();

function serverOf(lane: string) {
  const start = async () => {
    const cleanup = (end: () => void | Promise<void>) => void ends.push(end);
    const meter = join(temporaryFolder(cleanup), 'meter');
    const flags = [`--min-semi-space-size=${ROOM}`, `--max-semi-space-size=${ROOM}`, '--import', METER];
    const env = { FAST_LANE: lane, [METER_SOCKET]: meter };
    const server = await startAs([process.execPath, ...flags, CLI, 'serve'], { env, cleanup });
    return { server, meter };
  };
  const started = servers.get(lane) ?? start();
  servers.set(lane, started);
  return started;
}

/** A connection over which enough was asked for the code to be compiled. */
async function warmUp(server: Running): Promise<Socket> {
  const socket = connect({ port: server.port, host: '127.0.0.1', noDelay: true }).setEncoding('latin1');
  onTestFinished(() => void socket.destroy());
  await call(socket, server.firstKey!, 3 * CALLS);
  return socket;
}

function ask(meter: string, what: string): Promise<Used> {
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(meter).setEncoding('utf8');
    socket.on('data', (more: string) => {
      text += more;
    });
    socket.on('error', reject).on('end', () => resolve(JSON.parse(text) as Used));
    socket.write(what);
  });
}

/** With its commit: 15,700 and 24,200 bytes, 7 promises (2026-11-16), and an eighth more. */
test.each([
  ['on', 17_700, 8],
  ['off', 27_300, 8],
])(
  'a counted call makes no more garbage than it did, and no more promises (FAST_LANE=%s)',
  async (lane, mostBytes, mostPromises) => {
    const { server, meter } = await serverOf(lane);
    const socket = await warmUp(server);
    let bytes = Number.POSITIVE_INFINITY;
    let promises = Number.POSITIVE_INFINITY;
    // What happens beside the calls adds to them, and what was collected meanwhile says nothing.
    for (let round = 0; round < ROUNDS; round++) {
      const before = await ask(meter, 'used');
      await call(socket, server.firstKey!, CALLS);
      const after = await ask(meter, 'used');
      if (after.collections === before.collections)
        bytes = Math.min(bytes, (after.heap - before.heap) / CALLS);
    }
    await ask(meter, COUNT_PROMISES);
    for (let round = 0; round < ROUNDS; round++) {
      const { promises: before } = await ask(meter, 'used');
      await call(socket, server.firstKey!, CALLS);
      promises = Math.min(promises, ((await ask(meter, 'used')).promises - before) / CALLS);
    }
    process.stdout.write(
      `FAST_LANE=${lane}: ${Math.round(bytes)} bytes and ${promises.toFixed(1)} promises a call\n`,
    );
    expect(bytes).toBeLessThan(mostBytes);
    expect(promises).toBeLessThan(mostPromises);
  },
);

/**
 * 5,100 bytes, and 6,800 while each had functions of its own; Node's own part is about half (2026-11-17). Behind a call 5,050,
 * and 6,700 while its connection kept it: what 1,000 of them kept was half of the garbage collector's work (2026-11-18).
 */
const MOST_OF_CONNECTION = 5_900;
const CONNECTIONS = 1_000;
/** All of them were looked after since. */
const TENDED_MS = 2_500;

/**
 * What each of so many takes more than those before, whose first ones bring with them what is for all. On a busy machine the
 * server has not done with all of them by then: 5,904 in place of 5,480 once (2026-11-19), so the least of three counts.
 */
async function bytesOfEach(request: string, thenMs: number): Promise<number> {
  const { server, meter } = await serverOf('on');
  const open = async (count: number) => {
    let answered = 0;
    for (let i = 0; i < count; i++) {
      const from = `127.0.0.${2 + (i % 100)}`;
      const socket = connect({ port: server.port, host: '127.0.0.1', localAddress: from });
      onTestFinished(() => void socket.on('error', () => {}).destroy());
      // One that has asked for nothing has 5 s.
      socket.once('data', () => answered++).write(request);
    }
    await eventually('all are answered', () => answered === count);
  };
  let least = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < 3 && least >= MOST_OF_CONNECTION; tries++) {
    await open(CONNECTIONS / 5);
    await pause(TENDED_MS);
    const before = await ask(meter, COLLECT);
    await open(CONNECTIONS);
    await pause(thenMs);
    least = Math.min(least, ((await ask(meter, COLLECT)).heap - before.heap) / CONNECTIONS);
    process.stdout.write(`${Math.round(least)} bytes a connection\n`);
  }
  return least;
}

test('an open connection takes no more memory than it did', async () => {
  // Node's own answers are kept until their connections are looked after the next time.
  const bytes = await bytesOfEach('GET /livez HTTP/1.1\r\nHost: a\r\n\r\n', TENDED_MS);
  expect(bytes).toBeGreaterThan(2_000);
  expect(bytes).toBeLessThan(MOST_OF_CONNECTION);
});

test('a connection keeps nothing of a call that was answered', async () => {
  const { server } = await serverOf('on');
  const request = `GET ${API_PATH} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${server.firstKey!}\r\n\r\n`;
  const bytes = await bytesOfEach(request, 0);
  expect(bytes).toBeGreaterThan(2_000);
  expect(bytes).toBeLessThan(MOST_OF_CONNECTION);
});

/** How often threads wait and wake each other, and for which memory, depends on the machine. */
const NOT_COUNTED = [
  ...['futex', 'epoll_pwait', 'epoll_wait', 'restart_syscall', 'sched_yield', 'clock_gettime'],
  ...['madvise', 'mprotect', 'mmap', 'munmap', 'brk'],
];

/** Asked behind a commit every 0.1 and 0.5 s (guard.ts), which on a busy machine is with every other call. */
const NOW_AND_THEN = ['statx', 'pread64'];
/** Of three connections, and one of a commit's own with every fourth call. */
const mostNowAndThen = (ms: number) => (ms / 100) * 9 + CALLS / 4;

/** What so many calls over a connection ask of the system, by name, and how often they look at the store's file. */
async function traced(server: Running, socket: Socket) {
  const file = join(temporaryFolder(), 'trace');
  const which = ['-e', `trace=!${NOT_COUNTED.join()}`];
  const command = ['strace', '-f', '-y', ...which, '-o', file, '-p', `${server.pid}`];
  const tracer = startChild(command, { PATH: process.env.PATH });
  const end = async () => {
    tracer.child.kill('SIGINT');
    await tracer.exited;
  };
  onTestFinished(end);
  await eventually('the tracer is attached', () => /attached/.test(tracer.stderr()));
  const began = performance.now();
  await call(socket, server.firstKey!, CALLS);
  const ms = performance.now() - began;
  await end();
  const counts = new Map<string, number>();
  let looks = 0;
  for (const [line, name] of readFileSync(file, 'utf8').matchAll(/^\d+ +([a-z0-9_]+)\(.*/gm))
    if (/^\d+ +statx.*domain-risk\.db"/.test(line)) looks++;
    else if (!line.includes('[eventfd]')) counts.set(name!, (counts.get(name!) ?? 0) + 1);
  const each = [...counts].map(([name, count]) => `${name} ${(count / CALLS).toFixed(2)}`);
  process.stdout.write(`${each.join(', ')} a call\n`);
  const sumOf = (isOf: (name: string) => boolean) =>
    [...counts].reduce((sum, [name, count]) => sum + (isOf(name) ? count : 0), 0);
  return {
    each: sumOf(name => !NOW_AND_THEN.includes(name)) / CALLS,
    looks: looks / CALLS,
    beside: (sumOf(name => NOW_AND_THEN.includes(name)) + looks - CALLS) / mostNowAndThen(ms),
  };
}

test.skipIf(!hasTool('strace'))('a counted call asks no more of the system than it did', async () => {
  const { server } = await serverOf('on');
  const socket = await warmUp(server);
  let best = await traced(server, socket);
  for (let more = ROUNDS - 1; more > 0 && (best.each >= 14 || best.beside >= 1); more--) {
    const { each, beside, looks } = await traced(server, socket);
    best = { each: Math.min(best.each, each), beside: Math.min(best.beside, beside), looks };
  }
  const { each, looks, beside } = best;
  // One read, one write, and what SQLite does for a commit: 13 (2026-11-16).
  expect(each).toBeLessThan(14);
  expect(beside).toBeLessThan(1);
  // Behind each commit one look whether the file is still there; all that lies beside it now and then.
  expect(looks).toBeGreaterThanOrEqual(1);
});
