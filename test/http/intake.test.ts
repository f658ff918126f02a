import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { Intake } from '../../src/http/intake.ts';
import { bytesReceived } from '../../src/http/shared-buffer.ts';
import { eventually, pause } from '../support/scale.ts';

type Hold = (one: Intake, piece: Buffer) => void;

const received = async (bytes: string, hold?: Hold): Promise<Intake> =>
  (await receivedFrom(bytes, hold)).intake;

/** One end of a connection as the port gets it, with what has come over it, and the other end. */
async function receivedFrom(
  bytes: string,
  hold: Hold = (one, piece) => void one.add(piece),
): Promise<{ readonly intake: Intake; readonly client: Socket }> {
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
        hold(intake, piece);
        resolve({ intake, client });
      },
      goOn: () => {},
    });
    client.write(bytes);
  });
}

test('what waited on a connection that had to go is free at once, without the garbage collector', async () => {
  const intake = await received('x'.repeat(40_000));
  const { buffer } = intake.held!;
  expect(buffer.byteLength).toBeGreaterThan(3_000);
  intake.free();
  expect(buffer.byteLength).toBe(0);
  expect(intake.held).toBeUndefined();
});

test.each([
  [true, 40_000],
  [false, 4_096],
])(
  'of a body that is taken (%s) all of %i bytes waits for its turn, of others a part',
  async (isTaken, length) => {
    const intake = await received('x'.repeat(40_000), (one, piece) => {
      one.isTaken = isTaken;
      one.add(piece);
      one.wait();
    });
    await eventually('it has come', () => intake.held!.length >= length);
    await pause(50);
    expect(intake.held!.length).toBe(length);
  },
);

test('what a call may still have a part of is left as it is', async () => {
  const intake = await received('x'.repeat(40_000));
  const { held } = intake;
  intake.forget();
  expect(held!.subarray(0, 3).toString()).toBe('xxx');
});

test('what is held of one connection stays as it came, whatever comes over others', async () => {
  const first = await received('x'.repeat(300));
  const second = await received('y'.repeat(300));
  expect([first, second].map(({ held }) => held!.toString())).toEqual(['x'.repeat(300), 'y'.repeat(300)]);
  expect(first.held!.buffer.byteLength).toBeLessThanOrEqual(512);
});

test.each([300, 3_000])(
  'what the parser was given of %i bytes stays as it was, whatever is held next',
  async length => {
    const given: Buffer[] = [];
    await received('x'.repeat(length), intake => {
      intake.add(bytesReceived(length));
      intake.account();
      given.push(intake.given(intake.held!));
      intake.held = undefined;
      bytesReceived(length).fill('y');
      intake.add(bytesReceived(length));
      intake.account();
      expect(intake.held!.toString()).toBe('y'.repeat(length));
    });
    expect(given.map(String)).toEqual(['x'.repeat(length)]);
  },
);

test('what comes while nothing is held is read without an allocation of its own', async () => {
  const buffers: ArrayBufferLike[] = [];
  const look = (_: Intake, piece: Buffer) => void buffers.push(piece.buffer);
  await received('x', look);
  await received('y', look);
  expect(buffers[0]).toBe(buffers[1]);
});

test.each([
  // Three packets of a network: 4,096 bytes are read, and 248.
  [4_344, false],
  [248, true],
])('who sends a body in pieces of %i bytes is read later from the ninth on: %s', async (length, isSlowed) => {
  let bytes = 0;
  const { intake, client } = await receivedFrom('x', (one, piece) => {
    bytes += piece.length;
    one.more();
  });
  for (let nth = 1; nth <= 12 && !intake.isSlowed; nth++) {
    client.write('x'.repeat(length));
    await eventually('it has come', () => intake.isSlowed || bytes === 1 + nth * length);
  }
  expect(intake.isSlowed).toBe(isSlowed);
});

test('what is freed in the middle of being received is not the buffer of all', async () => {
  const freed = await received('x'.repeat(300), (intake, piece) => {
    intake.add(piece);
    intake.free();
  });
  expect(freed.held).toBeUndefined();
  expect((await received('y'.repeat(300))).held!.toString()).toBe('y'.repeat(300));
});
