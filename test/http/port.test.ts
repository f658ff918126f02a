import { connect, Server as NetServer, type Socket } from 'node:net';
import { pino } from 'pino';
import { Type } from 'typebox';
import { expect, onTestFinished, test, vi } from 'vitest';
import { refuse } from '../../src/core/refusal.ts';
import { breakOff } from '../../src/http/broken.ts';
import { Fairness } from '../../src/http/fairness.ts';
import { Lane } from '../../src/http/lane.ts';
import { Listeners } from '../../src/http/listeners.ts';
import { createMetrics } from '../../src/http/metrics.ts';
import { Port } from '../../src/http/port.ts';
import { sendJson } from '../../src/http/reply.ts';
import { page, type Route } from '../../src/http/routes.ts';
import { DOMAIN_PATH } from '../../src/http/target.ts';
import { parseAnswers } from '../support/answers.ts';
import { eventually, pause, sized, turn } from '../support/scale.ts';

const CALL = '/v1/usage';
const BODY = '/v1/public/domains';
const ACT = '/admin/keys';
const PAID = '/v1/public/top-domains';
const LARGE_PAGE = JSON.stringify({ page: 'x'.repeat(60_000) });

/** A port whose store takes nothing while `isFull`: whoever waits is refused after a while. */
async function startPort(mostConnections = 1_000, workers = 1, shared = 0, hasLane = true) {
  const state = {
    isFull: false,
    asked: [] as string[],
    answering: undefined as Promise<void> | undefined,
    judging: undefined as Promise<undefined> | undefined,
    acts: 0,
  };
  const port = new Port({
    log: pino({ enabled: false }),
    accessLog: 'off',
    metrics: createMetrics(),
    operatorRefusal: () => state.judging,
    callerRefusal: async () => undefined,
    rowOf: authorization => {
      state.asked.push(authorization);
      return authorization.includes('drk_') ? 'key' : undefined;
    },
    isFull: () => state.isFull,
    isBehind: () => false,
    isTrustedProxy: () => false,
    mostConnections,
    connectionsPerAddress: 100,
    hasLane,
    share: 1 / workers,
  });
  const call: Route = {
    method: 'GET',
    path: CALL,
    name: 'usage',
    door: 'key',
    price: 1,
    answer: undefined,
    handle(one) {
      // As whoever lets calls in does.
      Object.assign(one.connection.lastSecret, { authorization: one.head.authorization, row: 'key' });
      one.connection.knownAs('key');
      const answer = () => sendJson(one, 200, '{"called":true}');
      return state.answering ? state.answering.then(answer) : answer();
    },
  };
  const act: Route = {
    ...{ ...call, method: 'POST', path: ACT, name: 'admin', door: 'operator', body: Type.Object({}) },
    handle(one) {
      state.acts++;
      sendJson(one, 200, '{"acted":true}');
    },
  };
  port.add([
    act,
    call,
    { ...call, path: DOMAIN_PATH, name: 'domain' },
    {
      ...{ ...call, path: PAID, name: 'top' },
      handle: one => sendJson(Object.assign(one, { isPaid: true, keyId: 'key' }), 200, LARGE_PAGE),
    },
    { ...call, method: 'POST', path: BODY, name: 'domains', body: Type.Object({ a: Type.String() }) },
    {
      ...page('/livez', 'livez', 'application/json', one => sendJson(one, 200, '{"alive":true}')),
      isProbe: true,
    },
  ]);
  await port.listen({ host: '127.0.0.1', port: shared, isShared: workers > 1 });
  onTestFinished(() => port.drain());
  const sockets: Socket[] = [];
  port.server.on('connection', one => sockets.push(one));
  const socket = connect((port.server.address() as { port: number }).port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  let received = '';
  socket.on('error', () => {});
  socket.on('data', bytes => {
    received += bytes.toString('latin1');
  });
  const statuses = () => parseAnswers(received).map(({ status }) => status);
  return { port, state, socket, statuses, sockets, received: () => received };
}

const head = (path: string, ...more: string[]) =>
  [`GET ${path} HTTP/1.1`, 'Host: x', ...more, '', ''].join('\r\n');
const call = () => head(CALL, 'Authorization: Bearer drk_own');

/** Longer than anybody is kept waiting. */
const LONG_MS = 1_500;

test('while the store takes nothing a call is refused with 503, a probe is not, and both go on afterwards', async () => {
  const { state, socket, statuses } = await startPort();
  socket.write(call());
  await eventually('it is answered', () => statuses().length === 1);
  state.isFull = true;
  socket.write(call());
  await eventually('it is refused', () => statuses().length === 2);
  socket.write(head('/livez'));
  await eventually('it is answered', () => statuses().length === 3);
  state.isFull = false;
  socket.write(call());
  await eventually('it is answered', () => statuses().length === 4);
  expect(statuses()).toEqual([200, 503, 200, 200]);
});

test('whose connection ends while an operator token is looked up is not waited for, and nothing is done; who stays is served', async () => {
  const { port, state, socket, statuses, sockets } = await startPort();
  const act = ['POST /admin/keys HTTP/1.1', 'Host: x', 'Content-Type: application/json', 'Content-Length: 2'];
  const { promise, resolve } = Promise.withResolvers<undefined>();
  state.judging = promise;
  const leaving = connect((port.server.address() as { port: number }).port, '127.0.0.1');
  leaving.write([...act, '', '{'].join('\r\n'));
  socket.write([...act, '', '{}'].join('\r\n'));
  await eventually('both wait', () => port.inFlight === 2);
  sockets.find(one => one.remotePort === leaving.localPort)!.destroy();
  await turn();
  resolve(undefined);
  await eventually('the other is served', () => statuses().length === 1);
  await eventually('nobody is waited for', () => port.inFlight === 0);
  expect([statuses(), state.acts]).toEqual([[200], 1]);
});

test('who has to make room while an operator token is looked up is refused at once, and nothing is done', async () => {
  const { port, state, socket, sockets, statuses } = await startPort();
  const { promise, resolve } = Promise.withResolvers<undefined>();
  state.judging = promise;
  const fields = ['Host: x', 'Content-Type: application/json', 'Content-Length: 5'];
  socket.write([`POST ${ACT} HTTP/1.1`, ...fields, '', ''].join('\r\n'));
  await eventually('it is looked up', () => port.inFlight === 1);
  breakOff(port.sockets.of(sockets[0]!)!, refuse('overloaded', null, 1));
  await eventually('it is refused', () => statuses().length === 1);
  resolve(undefined);
  await turn();
  expect([statuses(), state.acts, port.inFlight]).toEqual([[503], 0, 0]);
});

test('a body in chunks is read when its operator token was looked up, and where it is broken nothing is done', async () => {
  const { port, state, socket, statuses } = await startPort();
  const { promise, resolve } = Promise.withResolvers<undefined>();
  state.judging = promise;
  const fields = ['Host: x', 'Content-Type: application/json', 'Transfer-Encoding: chunked'];
  socket.write([`POST ${ACT} HTTP/1.1`, ...fields, '', 'zz', ''].join('\r\n'));
  await eventually('it is looked up', () => port.inFlight === 1);
  resolve(undefined);
  await eventually('it is refused', () => statuses().length === 1);
  expect([statuses(), state.acts, port.inFlight]).toEqual([[400], 0, 0]);
});

test('a body that was sent in time and waits for the answers before it is not told that it is late', async () => {
  const { port, state, socket, statuses } = await startPort();
  Object.assign(port.server, { headersTimeout: 100, requestTimeout: 100 });
  const { promise, resolve } = Promise.withResolvers<void>();
  state.answering = promise;
  const body = JSON.stringify({ a: 'x'.repeat(1_000) });
  const length = `Content-Length: ${body.length}`;
  const list = [`POST ${BODY} HTTP/1.1`, 'Host: x', 'Content-Type: application/json', length, '', body];
  socket.write(list.join('\r\n').repeat(3));
  await eventually('it is read', () => port.inFlight > 0);
  // Node looks once a second.
  await pause(2_500);
  expect(statuses()).toEqual([]);
  resolve();
  await eventually('all are answered', () => statuses().length === 3);
  expect(statuses()).toEqual([200, 200, 200]);
});

test('a call that is refused while the port ends is told that its connection does', async () => {
  const { port, state, socket, statuses, received } = await startPort();
  socket.write(call());
  await eventually('its key is known', () => statuses().length === 1);
  state.isFull = true;
  const ended = port.drain();
  socket.write(call());
  // Whoever connects only now is told so too.
  const newcomer = opener(port)('127.0.0.2');
  newcomer.socket.write(call());
  await eventually('both are refused', () => statuses().length === 2 && newcomer.received !== '');
  await ended;
  const [, refusal] = received().split(/(?=HTTP\/1\.1 )/);
  for (const refused of [refusal, newcomer.received]) {
    expect(refused).toMatch(/^HTTP\/1\.1 503 /);
    expect(refused).toMatch(/\r\nconnection: close\r\n/i);
  }
});

test.each([CALL, `${DOMAIN_PATH.replace('{domain}', 'slow.com')}`])(
  'an answer that is made while the port ends says so, though it was asked for before: %s',
  async path => {
    const { port, state, socket, received } = await startPort();
    const answering = Promise.withResolvers<void>();
    state.answering = answering.promise;
    socket.write(head(path, 'Authorization: Bearer drk_own'));
    await eventually('it is on its way', () => port.inFlight === 1);
    const ended = port.drain();
    answering.resolve();
    await ended;
    expect(received()).toMatch(/^HTTP\/1\.1 200 .*\r\nconnection: close\r\n/is);
  },
);

test('whoever was in the kernel, not yet accepted, when the port was told to end is answered', async () => {
  const { port, socket } = await startPort();
  socket.destroy();
  await eventually('nobody is there', () => port.sockets.count === 0);
  const { port: at } = port.server.address() as { port: number };
  const answers = Array.from({ length: 50 }, () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const one = connect(at, '127.0.0.1');
    one.on('data', bytes => resolve(bytes.toString('latin1').slice(0, 12)));
    one.on('error', error => resolve(error.message));
    one.write(call());
    return promise;
  });
  // They connect in the next tick.
  await new Promise(done => process.nextTick(done));
  await port.drain();
  expect(new Set(await Promise.all(answers))).toEqual(new Set(['HTTP/1.1 200']));
});

/** In this process too: with 100, turns of its loop took so long on a busy machine that the port gave up waiting. */
const CALLERS = 30;

/** Callers who connect anew with each call, until nobody listens there; how their calls ended. */
function comingAgain(at: number, callers: number) {
  const ends: Record<string, number> = {};
  let isOver = false;
  const caller = async () => {
    for (let end = ''; end !== 'ECONNREFUSED' && !isOver; ) {
      end = await new Promise<string>(resolve => {
        const one = connect(at, '127.0.0.1');
        let received = '';
        one.on('data', bytes => {
          received += bytes.toString('latin1');
        });
        one.on('error', (error: NodeJS.ErrnoException) => resolve(error.code!));
        one.on('end', () => resolve(received.slice(0, 12)));
        one.write(head(CALL, 'Authorization: Bearer drk_own', 'Connection: close'));
      });
      ends[end] = (ends[end] ?? 0) + 1;
    }
  };
  const all = Array.from({ length: callers }, caller);
  const served = () => ends['HTTP/1.1 200'] ?? 0;
  const areServed = () => eventually('they are served', () => served() > sized(150, 500));
  const faults = async () => {
    isOver = true;
    await Promise.all(all);
    // On a busy machine some are shed.
    const { 'HTTP/1.1 200': _, 'HTTP/1.1 503': __, ECONNREFUSED: ___, ...others } = ends;
    return others;
  };
  return { served, areServed, faults };
}

test('callers who connect anew with each call, since they are told to, are not reset when the port ends', async () => {
  const { port, socket } = await startPort();
  socket.destroy();
  const { areServed, faults } = comingAgain((port.server.address() as { port: number }).port, CALLERS);
  await areServed();
  await port.drain();
  expect(await faults()).toEqual({});
});

test('nor when it ends in two workers, one of which is told later', async () => {
  const first = await startPort(1_000, 2);
  const { port: at } = first.port.server.address() as { port: number };
  const second = await startPort(1_000, 2, at);
  for (const { socket } of [first, second]) socket.destroy();
  const { areServed, served, faults } = comingAgain(at, CALLERS);
  await areServed();
  const together = { memory: Listeners.newMemory(), workers: 2 };
  // How many calls were answered when each of them closed.
  const answered = new Map<unknown, number>();
  const close = NetServer.prototype.close;
  const closing = vi.spyOn(NetServer.prototype, 'close').mockImplementation(function (this: NetServer, then) {
    if (!answered.has(this)) answered.set(this, served());
    return close.call(this, then);
  });
  onTestFinished(() => closing.mockRestore());
  const early = first.port.drain(new Listeners(together));
  await pause(400);
  await Promise.all([early, second.port.drain(new Listeners(together))]);
  expect(await faults()).toEqual({});
  // Whoever is answered by one comes to the other: there were only answers that were under way.
  const [before, after] = [first, second].map(({ port }) => answered.get(port.server)!);
  expect(after! - before!).toBeLessThanOrEqual(CALLERS);
});

test('workers that end know how many came to all of them, who waits, and who is closed', () => {
  const together = { memory: Listeners.newMemory(), workers: 2 };
  const [one, other] = [new Listeners(together, 1), new Listeners(together, 1)];
  expect([one.came(5), other.came(7), one.came(6), other.came(7)]).toEqual([0, 0, 1, 1]);
  one.wait();
  expect(other.areAllWaiting).toBe(false);
  one.closed();
  expect([other.areAllWaiting, other.areAllClosed]).toEqual([false, false]);
  other.closed();
  expect([one.areAllWaiting, one.areAllClosed]).toEqual([true, true]);
  // At the other port, and alone.
  expect(new Listeners(together).areAllClosed).toBe(false);
  const alone = new Listeners(undefined, 1);
  alone.closed();
  expect([alone.areAllWaiting, alone.areAllClosed]).toEqual([true, true]);
});

/** Connections from other addresses, which stay. */
function opener(port: Port) {
  const { port: at } = port.server.address() as { port: number };
  return (localAddress: string, path?: string) => {
    const one = connect({ port: at, host: '127.0.0.1', localAddress });
    onTestFinished(() => void one.destroy());
    const state = { socket: one, received: '', isClosed: false };
    one.on('error', () => {});
    one.on('data', bytes => {
      state.received += bytes.toString('latin1');
    });
    one.on('close', () => {
      state.isClosed = true;
    });
    if (path) one.write(head(path));
    return state;
  };
}

test('where connections run short, addresses with many make room first, though others were idle for longer', async () => {
  const { port, socket, statuses } = await startPort(20);
  const open = opener(port);
  socket.write(call());
  await eventually('it is answered', () => statuses().length === 1);
  // The longest idle of all belongs to somebody who has just this one.
  await pause(1_100);
  for (let round = 0; round < 3; round++) {
    for (let i = 0; i < 40; i++) open(`127.0.0.${2 + (i % 4)}`, '/livez');
    await pause(1_200);
  }
  socket.write(call());
  await eventually('it is answered again', () => statuses().length === 2);
  const newcomer = open('127.0.0.9', '/livez');
  await eventually('somebody who has none gets a place', () => newcomer.received !== '');
  expect(newcomer.received.slice(0, 12)).toBe('HTTP/1.1 200');
});

test('where connections run short, nobody in the middle of its calls makes room for strangers from anywhere', async () => {
  const { port, socket } = await startPort(20);
  const open = opener(port);
  const pool = Array.from({ length: 5 }, () => open('127.0.0.200'));
  socket.destroy();
  for (let round = 0; round < 20; round++) {
    for (const { socket } of pool) socket.write(call());
    for (let i = 0; i < 10; i++) open(`127.0.${1 + round}.${1 + i}`, '/livez');
    await pause(150);
  }
  const answers = () => pool.map(({ received, isClosed }) => [parseAnswers(received).length, isClosed]);
  await eventually('nobody waits any more', () =>
    answers().every(([count, isClosed]) => count === 20 || isClosed === true),
  );
  expect(answers()).toEqual(Array(5).fill([20, false]));
});

test('a key that is refused again and again, and asks for no more than it reads, is not taken for one who reads nothing', async () => {
  const { port, socket, sockets, statuses } = await startPort();
  socket.write(call());
  await eventually('it is answered', () => statuses().length === 1);
  const connection = port.sockets.of(sockets[0]!)!;
  // More than anybody may leave unread.
  for (let i = 0; i < 1_000; i++) connection.refuse('', 'key');
  for (let i = 0; i < 1_000; i++) connection.refuse('', undefined);
  expect(connection.isSpent).toBe(false);
  // Its last call was not let in.
  connection.knownAs(undefined);
  for (let i = 0; i < 1_000; i++) connection.refuse('', undefined);
  expect(connection.isSpent).toBe(true);
});

test('where strangers hold all connections by asking again and again, whoever comes with a key is let in', async () => {
  const { port, socket } = await startPort(20);
  const open = opener(port);
  const strangers = Array.from({ length: 30 }, (_, at) => open(`127.0.1.${1 + at}`, '/livez'));
  socket.destroy();
  const asking = setInterval(() => {
    for (const { socket: one } of strangers) if (!one.destroyed) one.write(head('/livez'));
  }, 50);
  onTestFinished(() => clearInterval(asking));
  await eventually('all are there', () => strangers.every(one => one.received.length > 0 || one.isClosed));
  // For so long nobody is looked for who could go.
  await pause(200);
  for (let i = 0; i < 10; i++) {
    const newcomer = open('127.0.0.200', CALL);
    await eventually('it is answered', () => newcomer.received.length > 0 || newcomer.isClosed);
    expect(newcomer.received.slice(0, 12)).toBe('HTTP/1.1 200');
    newcomer.socket.destroy();
  }
});

test('the body of a request that looks like a call is never answered, overload or not', async () => {
  const { state, socket, statuses } = await startPort();
  socket.write(call());
  await eventually('its key is known', () => statuses().length === 1);
  const body = call();
  socket.write(`POST ${CALL} HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n`);
  await eventually('it is answered', () => statuses().length === 2);
  state.isFull = true;
  socket.write(body);
  await pause(LONG_MS);
  state.isFull = false;
  socket.write(call());
  await eventually('the next one is answered', () => statuses().length === 3);
  await pause(200);
  expect(statuses()).toEqual([200, 405, 200]);
});

test('the rest of a head that looks like a call is the rest of a head, overload or not', async () => {
  const { state, socket, statuses } = await startPort();
  socket.write(call());
  await eventually('its key is known', () => statuses().length === 1);
  socket.write('GET /livez HTTP/1.1\r\nHost: x\r\nX-Rest: ');
  await pause(200);
  state.isFull = true;
  socket.write(call());
  await pause(LONG_MS);
  state.isFull = false;
  await eventually('it is answered', () => statuses().length > 1);
  await pause(200);
  // A Host line for each of the two heads that somebody might see here.
  expect(statuses()).toEqual([200, 400]);
});

test('who waits is told apart by the Authorization line, whatever else a request holds', async () => {
  const { state, socket, statuses } = await startPort();
  state.isFull = true;
  const lines = ['X-Other: Bearer drk_other', 'aUTHORIZATION:  Bearer drk_own '];
  socket.write(head(`${CALL}?x=drk_url`, ...lines));
  await eventually('it is refused', () => statuses().length === 1);
  expect(state.asked).toEqual(['Bearer drk_own']);
});

test('a fault of ours in the lane ends its connection and nothing else', async () => {
  const { port, socket, statuses } = await startPort();
  // As if it had read a request, and knows nothing of its head.
  const read = vi
    .spyOn(Lane.prototype, 'targetIn')
    .mockReturnValueOnce({ path: DOMAIN_PATH, segment: 'gmail.com', query: '' });
  onTestFinished(() => read.mockRestore());
  const closed = new Promise(resolve => socket.on('close', resolve));
  socket.write(head('/v1/public/domain/gmail.com'));
  await closed;
  expect([statuses(), port.inFlight]).toEqual([[], 0]);
});

test('a head that comes in pieces waits in the row of its key', async () => {
  const { state, socket, statuses } = await startPort();
  state.isFull = true;
  socket.write(`GET ${CALL} HTTP/1.1\r\nHost: x\r\nAuthoriz`);
  // Long enough to arrive, and shorter than until it is tended, on whatever machine.
  for (let turns = 0; turns < 5; turns++) await turn();
  socket.write('ation: Bearer drk_late\r\n\r\n');
  await eventually('it is refused', () => statuses().length === 1);
  expect(statuses()).toEqual([503]);
  expect(state.asked).toEqual(['Bearer drk_late']);
});

test('a head of which the parser has a part waits in the row of its key, too', async () => {
  const { state, socket, statuses } = await startPort();
  socket.write(`GET ${CALL} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer drk_late\r\n`);
  await pause(200);
  state.isFull = true;
  socket.write('X-More: 1\r\n\r\n');
  await eventually('it is refused', () => statuses().length === 1);
  expect(statuses()).toEqual([503]);
  expect(new Set(state.asked)).toEqual(new Set(['Bearer drk_late']));
});

test.each([
  [
    'a stranger where the lane would have taken what the parser has to read now',
    true,
    ['stranger', 'stranger'],
  ],
  ['who watches where there is no lane', false, ['stranger', 'probe']],
])('whoever asks how the service is over a connection of the parser is %s', async (_, hasLane, expected) => {
  const kinds: string[] = [];
  const { arrive } = Fairness.prototype;
  const arriving = vi.spyOn(Fairness.prototype, 'arrive').mockImplementation(function (this: Fairness, job) {
    kinds.push(job.caller().kind);
    return arrive.call(this, job);
  });
  onTestFinished(() => arriving.mockRestore());
  const { socket, statuses } = await startPort(1_000, 1, 0, hasLane);
  socket.write(head('/livez', 'X-Any: b'));
  await eventually('it is answered', () => statuses().length === 1);
  socket.write(head('/livez'));
  await eventually('so is the next', () => statuses().length === 2);
  expect(kinds).toEqual(expected);
});

const LIST = `POST ${BODY} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer drk_own\r\nContent-Type: application/json\r\n`;

test.each([
  ['in chunks', '', 'Transfer-Encoding: chunked', '1\r\nx\r\n'.repeat(100_000)],
  ['of a known length', '', 'Content-Length: 600000', 'x'.repeat(600_000)],
  // Its own was looked for only when the head behind it had been read.
  [
    'behind one that is wanted',
    `${LIST}Content-Length: 2\r\n\r\n{}`,
    'Transfer-Encoding: chunked',
    '1\r\nx\r\n'.repeat(100_000),
  ],
])(
  'of a body %s that nobody wants little is read, and nothing kept, whether its answer takes long or not',
  async (_, before, field, body) => {
    const { port, state, socket, sockets, statuses, received } = await startPort();
    const answering = Promise.withResolvers<void>();
    state.answering = answering.promise;
    let parsed = 0;
    port.server.on('request', req => {
      if (req.method !== 'GET') return;
      const push = req.push.bind(req);
      req.push = (piece: Buffer | null) => {
        parsed += piece?.length ?? 0;
        return push(piece);
      };
    });
    const get = `GET ${CALL} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer drk_own\r\n${field}\r\n\r\n`;
    socket.write(before + get + body);
    const refused = before === '' ? [] : [422];
    await eventually('it is on its way', () => port.inFlight === 1 && statuses().length === refused.length);
    await pause(100);
    expect(parsed).toBe(0);
    expect(sockets[0]!.bytesRead).toBeLessThanOrEqual(32 * 1024);
    answering.resolve();
    await eventually('it is answered', () => statuses().length === refused.length + 1);
    expect(statuses()).toEqual([...refused, 200]);
    expect(received()).toMatch(/\r\nconnection: close\r\n/i);
    expect(parsed).toBe(0);
  },
);

test('who was refused many times is read as soon as anybody', async () => {
  const { state, socket, statuses, sockets } = await startPort();
  state.isFull = true;
  for (let i = 1; i <= 12; i++) {
    socket.write(call());
    await eventually('it is refused', () => statuses().length === i);
  }
  expect(sockets.map(one => one.isPaused())).toEqual([false]);
});

test('a body in chunks of one byte is read in many turns of the event loop, and whole', async () => {
  const { port, socket, statuses } = await startPort();
  const turns: number[] = [];
  port.server.on('request', req => {
    let chunks = 0;
    req.on('data', (bytes: Buffer) => {
      if (chunks === 0)
        setImmediate(() => {
          turns.push(chunks);
          chunks = 0;
        });
      chunks += bytes.length;
    });
  });
  const chunks = [...`{"a":"${'x'.repeat(30_000)}"}`].map(sign => `1\r\n${sign}\r\n`).join('');
  const lines = [`POST ${BODY} HTTP/1.1`, 'Host: x', 'Authorization: Bearer drk_own'];
  const fields = ['Content-Type: application/json', 'Transfer-Encoding: chunked', '', ''];
  socket.write([...lines, ...fields].join('\r\n'));
  socket.write(`${chunks}0\r\n\r\n`);
  await eventually('it is answered', () => statuses().length === 1);
  expect(statuses()).toEqual([200]);
  expect(turns.reduce((sum, ofTurn) => sum + ofTurn)).toBe(30_008);
  // In one piece of 64 KB there are 10,900 of them; 683 are parsed at a time, and the stream may join a few of these.
  expect(Math.max(...turns)).toBeLessThanOrEqual(6 * 683);
});

test.each([
  ['alone', ''],
  ['behind a call of the lane', head('/v1/public/domain/a.com')],
  ['behind another request', head('/livez')],
])(
  'some empty lines before a request are passed over, any number of them ends the connection: %s',
  async (_, first) => {
    const { socket, statuses, received } = await startPort();
    const before = first === '' ? [] : [200];
    const isClosed = new Promise(done => socket.once('close', done));
    socket.write(`${first}${'\r\n'.repeat(100)}${head('/livez')}`);
    await eventually('it is answered', () => statuses().length === before.length + 1);
    socket.write('\r\n'.repeat(8_192));
    await isClosed;
    expect(statuses()).toEqual([...before, 200, 431]);
    expect(received()).toContain('at most 128 lines');
  },
);

test.runIf(process.platform === 'linux')(
  'connections of a key that ask again and again and read nothing are closed, one that reads is not',
  async () => {
    // A sixteenth of what one port may leave unread: 2 MiB are 35 answers.
    const { port, socket, statuses } = await startPort(1_000, 16);
    const { port: at } = port.server.address() as { port: number };
    let closed = 0;
    const silent = Array.from({ length: 20 }, () => {
      const one = connect(at, '127.0.0.1').pause();
      onTestFinished(() => void one.destroy());
      return one.on('error', () => {}).on('close', () => closed++);
    });
    let asked = 0;
    // Forty are enough, and more where others have the processor: what the kernel keeps is looked at now and then.
    for (; closed < 5 && asked < 400; asked++) {
      socket.write(head(PAID));
      for (const one of silent) if (!one.destroyed) one.write(head(PAID));
      await eventually('all are answered', () => port.inFlight === 0 && statuses().length === asked + 1);
    }
    expect(closed).toBeGreaterThanOrEqual(5);
    expect(statuses()).toEqual(Array.from({ length: asked }, () => 200));
    expect(socket.destroyed).toBe(false);
  },
);

const OWN = [
  'Origin: https://app.example.com',
  'Accept: application/problem+json',
  'X-Request-Id: mine',
  'traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
];
const ownHead = ['GET /v1/usage HTTP/1.1', 'Host: x', ...OWN].join('\r\n');

test.each([
  [431, 'more lines than anybody needs', `\r\n${'X-Aaaaaaaaaaaaaaaa: b\r\n'.repeat(130)}\r\n`, ''],
  [431, 'too many bytes', `\r\nX: ${'a'.repeat(9_000)}\r\n\r\n`, ''],
  [400, 'a bad line', '\r\nBad Name: x\r\n\r\n', ''],
  [400, 'a bad line in a later piece', '\r\nX: ', 'b\r\nBad Name: x\r\n\r\n'],
  [408, 'the rest never comes', '\r\nOrigin: https://half.exam', ''],
])(
  'a head that is refused with %i has an answer that its page can read: %s',
  async (status, _, rest, later) => {
    const { port, socket, sockets, received, statuses } = await startPort();
    socket.write(ownHead + rest);
    await eventually('it has come', () => (sockets[0]?.bytesRead ?? 0) >= ownHead.length);
    await turn();
    socket.write(later);
    // As Node's own clock does after five seconds.
    const late = Object.assign(new Error(), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
    if (status === 408) port.server.emit('clientError', late, sockets[0]!);
    await eventually('it is refused', () => statuses().length === 1);
    expect(statuses()).toEqual([status]);
    expect(received()).toContain('\r\nAccess-Control-Allow-Origin: https://app.example.com\r\n');
    expect(received()).toContain('\r\nContent-Type: application/problem+json; charset=utf-8\r\n');
    expect(received()).toContain('\r\nX-Request-Id: mine\r\n');
    expect(received()).toContain(`\r\n${OWN[3]}\r\n`);
  },
);
