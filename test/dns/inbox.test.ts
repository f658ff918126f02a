import { createSocket, type RemoteInfo } from 'node:dgram';
import { once } from 'node:events';
import dnsPacket from 'dns-packet';
import { expect, onTestFinished, test } from 'vitest';
import { startDeadline } from '../../src/dns/deadline.ts';
import { Inbox, inOrder } from '../../src/dns/inbox.ts';
import { carry } from '../../src/dns/transport.ts';
import { hold, pause, turn } from '../support/scale.ts';

/** Each takes 1 ms, at once or behind a promise. */
function inboxOf() {
  let now = 0;
  const inbox = new Inbox(() => now);
  const done: string[] = [];
  const later = (ms: number) => {
    now += ms;
  };
  const put = (name: string) =>
    inbox.take(() => {
      later(1);
      done.push(name);
    });
  const putPromise = (name: string) =>
    inbox.take(() => {
      done.push(name);
      void Promise.resolve().then(() => later(1));
    });
  return { done, put, putPromise, later };
}

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];

test('what comes alone is worked on at once', () => {
  const { done, put } = inboxOf();
  put('a');
  expect(done).toEqual(['a']);
});

test('what takes more than 2 ms together lets everybody else have a turn, and stays in its order', async () => {
  const { done, put } = inboxOf();
  NAMES.forEach(put);
  expect(done).toEqual(['a', 'b']);
  for (const so of ['abcd', 'abcdef', 'abcdefg']) {
    await turn();
    put(`${so.length}`);
    expect(done.filter(name => NAMES.includes(name)).join('')).toBe(so);
  }
  await turn();
  await turn();
  expect(done).toEqual([...NAMES, '4', '6', '7']);
});

test('what goes on behind an answer counts as its time', async () => {
  const { done, put, putPromise, later } = inboxOf();
  put('first');
  later(10);
  NAMES.forEach(putPromise);
  await turn();
  expect(done.length).toBeLessThanOrEqual(4);
  for (const _ of NAMES) await turn();
  expect(done).toEqual(['first', ...NAMES]);
});

test('one that takes longer than a turn holds up nobody for good', async () => {
  const { done, put, later } = inboxOf();
  put('a');
  later(10);
  put('b');
  put('c');
  expect(done).toEqual(['a']);
  await turn();
  expect(done.slice(0, 2)).toEqual(['a', 'b']);
  await turn();
  expect(done).toEqual(['a', 'b', 'c']);
});

test('nobody is given up on while its answer waits to be worked on', async () => {
  const told: string[] = [];
  const deadline = startDeadline(20, () => told.push('given up'));
  hold(40);
  // Four turns of work before the answer.
  for (let i = 0; i < 4; i++) inOrder(() => hold(3));
  inOrder(() => {
    told.push('answer');
    deadline.cancel();
  });
  await pause(100);
  expect(told).toEqual(['answer']);
});

test('answers that are long to read and come together are read in turns, not all in one', async () => {
  const server = createSocket('udp4').bind(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { address, port } = server.address();
  const asked: [Buffer, RemoteInfo][] = [];
  server.on('message', (bytes, from) => asked.push([bytes, from]));
  const many = 40;
  const told = Array.from({ length: many }, (_, at) => {
    const { promise, resolve } = Promise.withResolvers<string>();
    carry({ version: 4, address, port, text: `${address}:${port}` }, `n${at}.com`, 'MX', answer =>
      resolve(Object.keys(answer)[0]!),
    );
    return promise;
  });
  while (asked.length < many) await turn();
  for (const [bytes, from] of asked) {
    const { id, questions } = dnsPacket.decode(bytes);
    const { name } = questions![0]!;
    const answers = Array.from({ length: 64 }, (_, at) => ({
      ...({ name, type: 'MX', ttl: 300 } as const),
      data: { preference: at, exchange: `m${at}.${'a.'.repeat(100)}${name}` },
    }));
    const flags = dnsPacket.RECURSION_DESIRED | dnsPacket.RECURSION_AVAILABLE;
    server.send(
      dnsPacket.encode({ type: 'response', id, flags, questions, answers }),
      from.port,
      from.address,
    );
  }
  let turns = 0;
  const all = Promise.all(told);
  let isOver = false;
  void all.then(() => {
    isOver = true;
  });
  for (; !isOver; turns++) await turn();
  expect(new Set(await all)).toEqual(new Set(['reply']));
  // 3 ms each, so that one or two fit into a turn (2026-11-19).
  expect(turns).toBeGreaterThan(many / 8);
});
