import { connect, createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { newKey } from '../../src/operate.ts';
import { bareEnvironment, LONG_LISTS } from '../support/environment.ts';
import { CLI, NO_DNS, output, startChild } from '../support/process.ts';
import { eventually } from '../support/scale.ts';
import { temporaryFolder } from '../support/service.ts';

function freePort(): Promise<number> {
  return new Promise(resolve => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

test.each([
  ['a log', '> /dev/full'],
  ['a log with the errors beside it', '> /dev/full 2>&1'],
])('%s that cannot be written takes neither answers nor the clean end away', async (_, where) => {
  const folder = temporaryFolder();
  const { secret } = newKey({ name: 'first' }, Date.now());
  const port = await freePort();
  const env = bareEnvironment({
    PORT: `${port}`,
    DATA_DIR: folder,
    FIRST_KEY: secret,
    DNS_SERVERS: NO_DNS,
    DNS_SENTINELS: '',
    FEEDS_OFF: LONG_LISTS.join(),
    ACCESS_LOG: 'all',
  });
  const command = `exec "${process.execPath}" "${CLI}" serve ${where}`;
  const { child, exited } = startChild(['sh', '-c', command], env);
  onTestFinished(() => void child.kill('SIGKILL'));
  const base = `http://127.0.0.1:${port}`;
  const ask = () =>
    fetch(`${base}/v1/public/domain/gmail.com`, { headers: { authorization: `Bearer ${secret}` } }).then(
      response => response.status,
      () => 0,
    );
  await eventually('it answers', async () => (await ask()) === 200);
  for (let i = 0; i < 20; i++) expect(await ask()).toBe(200);
  child.kill('SIGTERM');
  expect(await exited).toEqual({ code: 0, signal: null });
});

/** Requests that one connection has under way, and those that it carries in all: fewer than it may. */
const PIECE = 50;
const MOST = 400;

/** Many requests to a packet: callers who wait for each answer cost more than the server. Gives how many were a 200. */
async function pour(port: number, request: string, calls: number): Promise<number> {
  const connection = async (left: number): Promise<number> => {
    const socket = connect(port, '127.0.0.1').setEncoding('latin1');
    let [sent, text] = [0, ''];
    await new Promise<void>((resolve, reject) => {
      const send = () => {
        const piece = Math.min(PIECE, left - sent);
        sent += piece;
        socket.write(request.repeat(piece));
      };
      socket.on('connect', send).on('error', reject).on('close', resolve);
      socket.on('data', more => {
        text += more;
        // Every body is flat JSON.
        if (!text.endsWith('}') || text.split('HTTP/1.1 ').length - 1 < sent) return;
        if (sent < left) send();
        else socket.end();
      });
    });
    return text.split('HTTP/1.1 200 ').length - 1;
  };
  const shares = Array.from({ length: Math.ceil(calls / MOST) }, (_, at) =>
    Math.min(MOST, calls - at * MOST),
  );
  return (await Promise.all(shares.map(connection))).reduce((sum, count) => sum + count, 0);
}

test('a log that nobody reads is kept up to a bound, and its reader is told what is missing', async () => {
  const CALLS = 6_000;
  const env = bareEnvironment({
    PORT: '0',
    DATA_DIR: temporaryFolder(),
    DNS_SERVERS: NO_DNS,
    DNS_SENTINELS: '',
    FEEDS_OFF: LONG_LISTS.join(),
    ACCESS_LOG: 'all',
  });
  const started = startChild([process.execPath, CLI, 'serve'], env);
  const { child, exited, stdout } = started;
  onTestFinished(() => void child.kill('SIGKILL'));
  const port = Number((await output(started, /"port":(\d+),"msg":"listening"/))[1]);
  await output(started, /\n {2}curl .*\n\n/);
  child.stdout!.pause();
  const before = stdout().length;
  // Lines as long as they can be, so that a few of them fill all that holds any.
  const request = [
    'GET /livez HTTP/1.1',
    'Host: a',
    `X-Request-Id: ${'x'.repeat(64)}`,
    `traceparent: 00-${'a'.repeat(32)}-${'b'.repeat(16)}-01\r\n\r\n`,
  ].join('\r\n');
  expect(await pour(port, request, CALLS)).toBe(CALLS);

  child.stdout!.resume();
  const told = /\{"level":40,"time":\d+,"dropped":(\d+),"msg":"lines of this log were dropped/;
  const dropped = Number((await output(started, told))[1]);
  // Of 6,000 lines, 280 bytes each, 1 MiB was kept, and what pipes and streams hold on the way.
  expect(stdout().length - before).toBeLessThan(2 ** 21);
  const requests = () => stdout().match(/"msg":"request"/g)?.length;
  // A busy machine may have made it log something else, and that may be among what is missing.
  const others = requests()! + dropped - CALLS;
  expect(others).toBeGreaterThanOrEqual(0);
  expect(others).toBeLessThan(10);
  // From here on nothing is missing.
  await pour(port, request, 100);
  await eventually('all is logged', () => requests()! + dropped - others === CALLS + 100);
  expect(stdout().match(/"dropped":/g)).toHaveLength(1);

  // A reader that is gone for good (EPIPE) takes nothing with it.
  child.stdout!.destroy();
  expect(await pour(port, request, 400)).toBe(400);
  child.kill('SIGTERM');
  expect(await exited).toEqual({ code: 0, signal: null });
});
