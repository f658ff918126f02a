import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { newKey } from '../../src/operate.ts';
import { ACT } from '../support/act.ts';
import { conversation, pieces } from '../support/requests.ts';
import { eventually, type Random, randomFrom, SEED, sized, turn } from '../support/scale.ts';
import { sharedService, type TestService } from '../support/service.ts';

const REQUESTS = sized(600, 1_000_000);
const AT_ONCE = sized(4, 8);

/** All bytes that come back when these were sent and nothing more will be. */
function exchange(port: number, sent: readonly string[], isPiecewise: boolean): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
    let text = '';
    const timer = setTimeout(() => {
      socket.destroy();
      reject(new Error(`no end: ${text}`));
    }, 60_000);
    socket.setEncoding('latin1').on('data', (more: string) => {
      text += more;
    });
    socket.on('error', reject);
    socket.on('close', () => {
      clearTimeout(timer);
      resolve(text);
    });
    socket.on('end', () => socket.end());
    // What is written before there is a connection goes out in one piece.
    socket.on('connect', async () => {
      for (const piece of sent) {
        socket.write(piece, 'latin1');
        for (let turns = 0; isPiecewise && turns < 3; turns++) await turn();
      }
      socket.end();
    });
  });
}

/** Sends all, and is gone before or while it is answered. */
async function tear(port: number, sent: readonly string[], random: Random): Promise<void> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  socket.on('error', () => {});
  const closed = new Promise(resolve => socket.on('close', resolve));
  socket.write(sent.join(''), 'latin1');
  for (let turns = Math.floor(random() * 6); turns > 0; turns--) await turn();
  socket.resetAndDestroy();
  await closed;
}

/**
 * How much has come of a broken head when it is refused is a matter of packets: its Origin, what it wants to be answered
 * with, or neither. It is the last answer.
 */
const whyBroken = (answer: string) =>
  ['400', /^connection: close\r$/im.test(answer), /"detail":"[^"]*"/.exec(answer)?.[0]].join();

/** What differs from one server, request or second to the next. */
const masked = (text: string) =>
  text
    .replace(/HTTP\/1\.1 400 .*$/s, whyBroken)
    .replaceAll(/^Date: .*$/gm, 'Date')
    .replaceAll(/^X-Request-Id: [0-9a-f]{16}\r$/gm, 'X-Request-Id')
    .replaceAll(/"request_id":"[0-9a-f]{16}"/g, '"request_id"')
    .replaceAll(/;t=\d+/g, ';t')
    .replaceAll(/"(?:retry_after|reset_at)":[^,}]+/g, '')
    .replaceAll(/^Retry-After: \d+\r$/gm, 'Retry-After');

/** Requests that came through Node's parser. */
function countParsed({ port }: TestService): () => number {
  let count = 0;
  const note = (message: unknown) => {
    if ((message as { socket: { localPort?: number } }).socket.localPort === port) count++;
  };
  subscribe('http.server.request.start', note);
  onTestFinished(() => void unsubscribe('http.server.request.start', note));
  return () => count;
}

/** Two services that differ in nothing but the lane. */
const withLane = sharedService();
const withoutLane = sharedService({ env: { FAST_LANE: 'off' } });

/** Both, and keys that both have. */
function both() {
  const [fast, slow] = [withLane(), withoutLane()];
  const bothGet = async (limits: Parameters<typeof newKey>[0]) => {
    const made = newKey(limits, Date.now());
    for (const { store } of [fast, slow]) await store.createKey(made.key, ACT);
    return made;
  };
  return { fast, slow, bothGet };
}

test(`${REQUESTS} requests of every kind, cut, pipelined and torn: with the lane and without it the answers are the same, and the counts`, {
  timeout: sized(180_000, 7_200_000),
}, async () => {
  process.stdout.write(`SEED=${SEED}\n`);
  const { fast, slow, bothGet } = both();
  const parsed = [countParsed(fast), countParsed(slow)] as const;
  const torn = await bothGet({ name: 'torn' });
  let left = REQUESTS;

  /** With keys of its own, so that what it sees does not depend on the others. */
  async function talk(random: Random): Promise<void> {
    const keys = [
      await bothGet({ name: 'open', quota: 10_000_000 }),
      await bothGet({ name: 'unlimited' }),
      await bothGet({ name: 'bound', origins: ['https://app.example.com'] }),
      await bothGet({ name: 'small', quota: 5 }),
    ];
    const bearers = keys.map(({ secret }) => `Bearer ${secret}`);
    const odd = [
      bearers[0]!.replace('B', 'b'),
      bearers[0]!.replace(' ', '  '),
      `${bearers[0]}x`,
      'Basic eDp5',
      'Bearer',
    ];
    const authorizations = [...bearers, ...bearers, bearers[0]!, bearers[0]!, ...odd];
    while (left > 0) {
      const requests = conversation(random, authorizations);
      left -= requests.length;
      const isPiecewise = random() < 0.5;
      const sent = isPiecewise ? pieces(random, requests.join('')) : [requests.join('')];
      const answers: string[] = [];
      for (const { port } of [fast, slow]) answers.push(masked(await exchange(port, sent, isPiecewise)));
      expect(answers[0], JSON.stringify(sent)).toBe(answers[1]);
      if (random() < 0.1) {
        const lost = conversation(random, [`Bearer ${torn.secret}`]);
        for (const { port } of [fast, slow]) await tear(port, lost, random);
      }
    }
    for (const { key } of keys) expect(await fast.used(key)).toBe(await slow.used(key));
    expect(await fast.used(keys[3]!.key)).toBe(5);
  }

  await Promise.all(Array.from({ length: AT_ONCE }, (_, at) => talk(randomFrom(SEED + at))));
  // Otherwise nothing was compared.
  expect(parsed[0]()).toBeLessThan(parsed[1]() * 0.7);
  await eventually('nothing is left on its way', async () =>
    /^domain_risk_requests_in_flight 1$/m.test(await (await fast.get('/metrics')).text()),
  );
});

test('three calls sent at once and cut at any byte have the answers that they have without the lane', async () => {
  const { fast, slow, bothGet } = both();
  const { secret } = await bothGet({ name: 'cut', quota: 1_000_000 });
  const request = (name: string, ...more: string[]) =>
    [
      `GET /v1/public/domain/${name} HTTP/1.1`,
      'Host: a',
      `Authorization: Bearer ${secret}`,
      ...more,
      '',
      '',
    ].join('\r\n');
  const text = request('gmail.com') + request('mailinator.com') + request('a..b', 'Connection: close');
  for (let at = 1; at < text.length; at++) {
    // The short form, too, cuts around every end of a line.
    const isNearEnd = /[\r\n]/.test(text.slice(at - 1, at + 1));
    if (!isNearEnd && at % sized(7, 1) !== 0) continue;
    const sent = [text.slice(0, at), text.slice(at)];
    const answers: string[] = [];
    for (const { port } of [fast, slow]) answers.push(masked(await exchange(port, sent, true)));
    expect(answers[0], `cut at ${at}`).toBe(answers[1]);
    expect(answers[0]!.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 422']);
  }
});
