import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { Intake } from '../../src/http/intake.ts';

/** One end of a connection as the port gets it, with what has come over it. */
async function received(bytes: string): Promise<Intake> {
  const server = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  onTestFinished(() => void client.destroy());
  const [socket] = (await once(server, 'connection')) as [Socket];
  return await new Promise(resolve => {
    const intake = new Intake(socket, false, {
      tell: () => {},
      take(piece) {
        intake.add(piece);
        resolve(intake);
      },
      goOn: () => {},
    });
    client.write(bytes);
  });
}

test('what waited on a connection that had to go is free at once, without the garbage collector', async () => {
  const intake = await received('x'.repeat(40_000));
  const { buffer } = intake.held!;
  expect(buffer.byteLength).toBeGreaterThan(10_000);
  intake.free();
  expect(buffer.byteLength).toBe(0);
  expect(intake.held).toBeUndefined();
});

test('what a call may still have a part of is left as it is', async () => {
  const intake = await received('x'.repeat(40_000));
  const { held } = intake;
  intake.forget();
  expect(held!.subarray(0, 3).toString()).toBe('xxx');
});
