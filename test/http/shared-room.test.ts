import { connect } from 'node:net';
import { pino } from 'pino';
import { Type } from 'typebox';
import { expect, onTestFinished, test } from 'vitest';
import { Ports, type World } from '../../src/binding.ts';
import { readConfig } from '../../src/config.ts';
import { createMetrics } from '../../src/http/metrics.ts';
import { page, type Route } from '../../src/http/routes.ts';
import { eventually } from '../support/scale.ts';

const PATH = '/bodies';
const BYTES = 300_000;

test('the bodies of one key on both listeners of a worker have the room of that worker, and no more', async () => {
  const config = readConfig({ PORT: '0', METRICS_PORT: '0', DATA_DIR: '/nowhere' });
  const ports = new Ports({ config, log: pino({ enabled: false }), metrics: createMetrics(), workers: 2 });
  const doors = { callerRefusal: async () => undefined, spending: () => 0, isOperator: () => false };
  const route: Route = {
    ...page(PATH, 'bodies', 'application/json', () => {}),
    method: 'POST',
    door: 'key',
    body: Type.Object({}),
    mostBody: { bytes: BYTES },
  };
  for (const one of ports.all) one.add([route]);
  await ports.listen();
  onTestFinished(() => ports.drain());
  ports.open({ admit: { known: () => undefined }, doors } as unknown as World);
  const statuses: string[] = [];
  const send = (port: number) => {
    const socket = connect(port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    socket.on('error', () => {});
    socket.on('data', bytes => statuses.push(bytes.toString('latin1', 0, 12)));
    const head = ['Host: x', 'Authorization: Bearer k', 'Content-Type: application/json'];
    socket.write(
      [`POST ${PATH} HTTP/1.1`, ...head, `Content-Length: ${BYTES}`, '', ' '.repeat(BYTES - 1)].join('\r\n'),
    );
  };
  for (let i = 0; i < 6; i++) {
    send(ports.address.port);
    send(ports.operatorAddress!.port);
  }
  // A quarter of 12 MiB.
  await eventually('two too many are refused', () => statuses.length === 2);
  expect(statuses).toEqual(Array(2).fill('HTTP/1.1 503'));
});
