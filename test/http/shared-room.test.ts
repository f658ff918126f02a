import { connect } from 'node:net';
import { pino } from 'pino';
import { Type } from 'typebox';
import { expect, onTestFinished, test } from 'vitest';
import { Ports, type World } from '../../src/binding.ts';
import { readConfig } from '../../src/config.ts';
import { createMetrics } from '../../src/http/metrics.ts';
import { sendJson } from '../../src/http/reply.ts';
import { page, type Route } from '../../src/http/routes.ts';
import { eventually, pause, turn } from '../support/scale.ts';

const PATH = '/bodies';
const BYTES = 300_000;

/** Ports that take bodies, which a key sends. */
async function startPorts(workers: number) {
  const config = readConfig({ PORT: '0', METRICS_PORT: '0', DATA_DIR: '/nowhere' });
  const ports = new Ports({ config, log: pino({ enabled: false }), metrics: createMetrics(), workers });
  const doors = { callerRefusal: async () => undefined, spending: () => 0, isOperator: () => false };
  const route: Route = {
    ...page(PATH, 'bodies', 'application/json', call => sendJson(call, 200, '{}')),
    method: 'POST',
    door: 'key',
    body: Type.Object({}),
    mostBody: { bytes: BYTES },
  };
  const order: string[] = [];
  const slow = page('/slow', 'page', 'application/json', call => {
    order.push('answer');
    hold(MORE_THAN_A_TURN_MS);
    sendJson(call, 200, '{}');
  });
  for (const one of ports.all) one.add([route, slow]);
  await ports.listen();
  onTestFinished(() => ports.drain());
  ports.open({ admit: { known: () => undefined, isBehind: () => false }, doors } as unknown as World);
  const statuses: string[] = [];
  const send = (port: number, body: string, { bytes = BYTES, localAddress = '127.0.0.1' } = {}) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress });
    onTestFinished(() => void socket.destroy());
    socket.on('error', () => {});
    socket.on('data', data => statuses.push(data.toString('latin1', 0, 12)));
    const head = ['Host: x', 'Authorization: Bearer k', 'Content-Type: application/json'];
    socket.write([`POST ${PATH} HTTP/1.1`, ...head, `Content-Length: ${bytes}`, '', body].join('\r\n'));
  };
  return { ports, statuses, send, order };
}

const MORE_THAN_A_TURN_MS = 15;
const hold = (ms: number) => {
  const until = performance.now() + ms;
  while (performance.now() < until);
};

test('where one listener has used up a turn of the event loop, the other one waits for the next: who comes does not wait for both', async () => {
  const { ports, statuses, order } = await startPorts(1);
  const sockets = [ports.address.port, ports.operatorAddress!.port].map(port => {
    const socket = connect({ port, host: '127.0.0.1' });
    onTestFinished(() => void socket.destroy());
    return socket.on('data', data => statuses.push(data.toString('latin1', 0, 12)));
  });
  const ask = () => {
    for (const socket of sockets) socket.write('GET /slow HTTP/1.1\r\nHost: x\r\n\r\n');
  };
  ask();
  await eventually('both were answered', () => statuses.length === 2);
  await pause(50);
  await turn();
  order.length = 0;
  // Both have come when the event loop looks next.
  ask();
  setImmediate(() => order.push('turn'));
  hold(20);
  await eventually('both are answered', () => statuses.length === 4);
  expect(order).toEqual(['answer', 'turn', 'answer']);
});

test('the bodies of one key on both listeners of a worker have the room of that worker, and no more', async () => {
  const { ports, statuses, send } = await startPorts(2);
  for (let i = 0; i < 6; i++) {
    send(ports.address.port, ' '.repeat(BYTES - 1));
    send(ports.operatorAddress!.port, ' '.repeat(BYTES - 1));
  }
  // A quarter of 12 MiB.
  await eventually('two too many are refused', () => statuses.length === 2);
  expect(statuses).toEqual(Array(2).fill('HTTP/1.1 503'));
});

test('bodies of one key from many addresses that do not go on have nobody refused who sends a larger one', async () => {
  const { ports, statuses, send } = await startPorts(8);
  const { port } = ports.address;
  // A quarter of 3 MiB are 37 of these.
  for (let at = 0; at < 45; at++)
    send(port, ' '.repeat(20_999), { bytes: 30_000, localAddress: `127.9.0.${at + 1}` });
  await eventually('the room is full', () => statuses.length === 8);
  for (let at = 1; at <= 5; at++) {
    send(port, `${' '.repeat(21_998)}{}`, { bytes: 22_000, localAddress: '127.0.0.9' });
    await eventually('it is answered, and another one is refused', () => statuses.length >= 8 + at + 1);
  }
  expect(statuses.filter(status => status === 'HTTP/1.1 200')).toHaveLength(5);
});
