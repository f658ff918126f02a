import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { keptByKernel, lookingIn, nameOf } from '../../src/http/kernel.ts';
import { eventually } from '../support/scale.ts';

const HEAD =
  '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode';
const row = (local: string, remote: string, queues: string) =>
  `   1: ${local} ${remote} 01 ${queues} 00:00000000 00000000  1000        0 1203 1 00000000d181356d 100 0 0 10 0`;

const hex = (value: number) => value.toString(16).toUpperCase().padStart(8, '0');

function fileOf(...rows: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'kernel-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'tcp');
  writeFileSync(file, [HEAD, ...rows, ''].join('\n'));
  return file;
}

test('what is unread is what the kernel has not sent, and what it has for a reader on the same machine', async () => {
  const mapped = '0000000000000000FFFF00000100007F';
  const tcp = fileOf(
    row('0100007F:1F90', '02000A0A:C001', '00001000:00000005'),
    row('0100007F:C002', '0100007F:1F90', '00000000:00000200'),
    row('0100007F:1F90', '0100007F:C003', '00000000:00000000'),
  );
  const tcp6 = fileOf(
    row(`${mapped}:1F90`, `${mapped}:C002`, '00000100:00000000'),
    row(
      'B80D0120000000000000000001000000:1F90',
      'B80D0120000000000000000002000000:C004',
      '0000000A:00000000',
    ),
  );
  const kept = (await lookingIn({ tables: [tcp, tcp6], least: 1 })())!;
  const unreadBy = (remoteAddress: string, remotePort: number) =>
    kept.get(nameOf({ localPort: 0x1f90, remoteAddress, remotePort })) ?? 0;
  expect(unreadBy('10.10.0.2', 0xc001)).toBe(0x1000);
  expect(unreadBy('::ffff:127.0.0.1', 0xc002)).toBe(0x300);
  expect(unreadBy('127.0.0.1', 0xc003)).toBe(0);
  expect(unreadBy('2001:db8::2', 0xc004)).toBe(10);
  expect(await lookingIn({ tables: [`${tcp}-none`] })()).toBeUndefined();
});

test('thousands of connections are told in parts, all of them once; of little nothing is', async () => {
  const tcp = fileOf(
    ...Array.from({ length: 5_000 }, (_, at) =>
      row('0100007F:1F90', `0200000A:${hex(at)}`, `${hex(at + 1)}:00000000`),
    ),
  );
  const kept = (await lookingIn({ tables: [tcp], least: 2_048 })())!;
  expect([...kept.values()]).toEqual(Array.from({ length: 5_000 - 2_047 }, (_, at) => at + 2_048));
});

test.each([
  ['throws', 'throw new Error("gone")'],
  ['ends', 'process.exit()'],
  ['ends when it is asked', 'require("worker_threads").parentPort.on("message", () => process.exit())'],
  ['says nothing', 'require("worker_threads").parentPort.on("message", () => {})'],
])('where the thread that looks %s nothing is told, and the next look has another', async (_, program) => {
  let started = 0;
  const start = () => {
    started++;
    const thread = new Worker(program, { eval: true });
    onTestFinished(() => void thread.terminate());
    return thread;
  };
  const look = lookingIn({ tables: [], mostMs: 500, start });
  expect(await look()).toBeUndefined();
  expect(await look()).toBeUndefined();
  expect(started).toBe(2);
});

test('where no thread is to be had nothing is told', async () => {
  const start = () => {
    throw new Error('EAGAIN');
  };
  expect(await lookingIn({ start })()).toBeUndefined();
});

test.runIf(process.platform === 'linux').each(['127.0.0.1', '::1'])(
  'a peer that does not read is seen, one that does is not: %s',
  async host => {
    const accepted: Socket[] = [];
    const server = createServer(socket => {
      accepted.push(socket);
      socket.write(Buffer.alloc(50_000));
    });
    onTestFinished(() => void server.close());
    await new Promise<void>(done => server.listen(0, host, done));
    const { port } = server.address() as { port: number };
    const [silent, reader] = [connect(port, host), connect(port, host)];
    silent.pause();
    onTestFinished(() => void [silent, reader, ...accepted].map(one => one.destroy()));
    let read = 0;
    reader.on('data', bytes => {
      read += bytes.length;
    });
    await eventually('it is read', () => read === 50_000 && accepted.length === 2);
    const kept = (await keptByKernel())!;
    const unread = (peer: Socket) =>
      kept.get(nameOf(accepted.find(one => one.remotePort === peer.localPort)!)) ?? 0;
    // For a moment the kernel counts some of it at both ends.
    expect(unread(silent)).toBeGreaterThanOrEqual(50_000);
    expect(unread(reader)).toBe(0);
  },
);
