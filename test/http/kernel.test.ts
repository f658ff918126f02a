import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { keptByKernel, nameOf } from '../../src/http/kernel.ts';

import { eventually } from '../support/scale.ts';

const HEAD =
  '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode';
const row = (local: string, remote: string, queues: string) =>
  `   1: ${local} ${remote} 01 ${queues} 00:00000000 00000000  1000        0 1203 1 00000000d181356d 100 0 0 10 0`;

test('what is unread is what the kernel has not sent, and what it has for a reader on the same machine', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kernel-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [tcp, tcp6] = [join(folder, 'tcp'), join(folder, 'tcp6')];
  const mapped = '0000000000000000FFFF00000100007F';
  writeFileSync(
    tcp,
    [
      HEAD,
      row('0100007F:1F90', '02000A0A:C001', '00001000:00000005'),
      row('0100007F:C002', '0100007F:1F90', '00000000:00000200'),
      row('0100007F:1F90', '0100007F:C003', '00000000:00000000'),
      '',
    ].join('\n'),
  );
  writeFileSync(
    tcp6,
    [
      HEAD,
      row(`${mapped}:1F90`, `${mapped}:C002`, '00000100:00000000'),
      row(
        'B80D0120000000000000000001000000:1F90',
        'B80D0120000000000000000002000000:C004',
        '0000000A:00000000',
      ),
      '',
    ].join('\n'),
  );
  const kept = (await keptByKernel([tcp, tcp6]))!;
  const unreadBy = (remoteAddress: string, remotePort: number) =>
    kept.get(nameOf({ localPort: 0x1f90, remoteAddress, remotePort })) ?? 0;
  expect(unreadBy('10.10.0.2', 0xc001)).toBe(0x1000);
  expect(unreadBy('::ffff:127.0.0.1', 0xc002)).toBe(0x300);
  expect(unreadBy('127.0.0.1', 0xc003)).toBe(0);
  expect(unreadBy('2001:db8::2', 0xc004)).toBe(10);
  expect(await keptByKernel([join(folder, 'none')])).toBeUndefined();
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
