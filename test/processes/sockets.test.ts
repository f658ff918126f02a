import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { startServer } from '../support/process.ts';
import { eventually, sized } from '../support/scale.ts';
import { megabytes } from '../support/vitals.ts';

const IDLE = sized(500, 5_000);
const SLOW = sized(50, 500);

interface Guest {
  readonly socket: Socket;
  received: string;
  closed: boolean;
}

function guest(port: number): Guest {
  const one: Guest = { socket: connect(port, '127.0.0.1'), received: '', closed: false };
  one.socket.on('data', bytes => {
    one.received += bytes.toString('latin1');
  });
  one.socket.on('error', () => {});
  one.socket.on('close', () => {
    one.closed = true;
  });
  return one;
}

/**
 * Half as many at a time as wait in the system's queue: behind a full one a client takes itself for connected, and is known
 * to nobody. The last of each is answered, so that all before it were taken.
 */
async function guests(port: number, count: number): Promise<Guest[]> {
  const all: Guest[] = [];
  while (all.length < count) {
    for (let more = Math.min(512, count - all.length); more > 0; more--) all.push(guest(port));
    const last = guest(port);
    last.socket.write('GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    await eventually('they are taken', () => last.closed);
  }
  return all;
}

test(`${IDLE} idle and ${SLOW} slow connections are closed with a JSON 408 while others are served`, async () => {
  const server = await startServer();
  const secret = server.firstKey!;
  await server.get('/v1/public/domain/gmail.com', secret);
  const before = megabytes(server.pid);
  const idle = await guests(server.port, IDLE);
  const slow = await guests(server.port, SLOW);
  for (const one of slow) one.socket.write('GET /livez HTTP/1.1\r\nHost: a\r\nX-Slow: ');
  const dripping = setInterval(() => {
    for (const one of slow) if (!one.closed) one.socket.write('a');
  }, 250);
  onTestFinished(() => {
    clearInterval(dripping);
    for (const one of [...idle, ...slow]) one.socket.destroy();
  });

  const served: number[] = [];
  await eventually(
    'all are closed',
    async () => {
      // Several at a time: on a busy machine a look takes as long as ten do elsewhere.
      await Promise.all(
        Array.from({ length: 4 }, async () => {
          const response = await server.get('/v1/public/domain/gmail.com', secret);
          served.push(response.status);
          await response.arrayBuffer();
        }),
      );
      return [...idle, ...slow].every(one => one.closed);
    },
    // After 6 s on an idle machine (November 2026).
    60_000,
  );
  expect(new Set(served)).toEqual(new Set([200]));
  expect(served.length).toBeGreaterThan(10);
  for (const one of [...idle, ...slow]) {
    const [head, body] = one.received.split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 408 /);
    expect(JSON.parse(body ?? '')).toMatchObject({ error: 'request_timeout', detail: null });
  }
  // 20 MB were measured for the short form.
  expect(megabytes(server.pid) - before).toBeLessThan(200);
});
