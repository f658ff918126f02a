import { expect, onTestFinished, test, vi } from 'vitest';
import { Doubts } from '../../src/http/doubts.ts';
import { nameOf } from '../../src/http/kernel.ts';
import { LargeAnswers, Unread } from '../../src/http/large.ts';
import { Shares } from '../../src/http/shares.ts';
import { turn } from '../support/scale.ts';

test('one address has so many large answers at a time; others, keys and proxies are not counted against it', () => {
  const large = new LargeAnswers();
  const taken = Array.from({ length: 130 }, () => large.take('192.0.2.1', true));
  expect(taken.filter(Boolean)).toHaveLength(64);
  expect(large.take('192.0.2.2', true)).toBe(true);
  expect(large.take('192.0.2.1', false)).toBe(true);
  large.give('192.0.2.1');
  expect(large.take('192.0.2.1', true)).toBe(false);
  large.give('192.0.2.1');
  expect(large.take('192.0.2.1', true)).toBe(true);
  for (let i = 0; i < 200; i++) large.give('192.0.2.1');
  expect(large.take('192.0.2.1', true)).toBe(true);
});

/** Of a system that does not tell what was read. */
const silent = () => new LargeAnswers(1, new Doubts(1, async () => undefined));
const PAGE = 25_000;
const unreadOf = (all = silent()) =>
  new Unread(all, { network: '192.0.2.1', socket: {}, isBusy: false, drop() {} });

/** What a connection gets until it is spent. */
function untilSpent(unread: Unread, body: number, payer?: string): number {
  let answers = 0;
  while (answers < 1_000 && !unread.isSpent) if (unread.sends(body, payer)) answers++;
  return answers;
}

test.each([
  ['pages that are just not large', PAGE, undefined, 11],
  ['large ones', 100_000, undefined, 3],
  ['large ones that a key has paid for', 100_000, 'key', 3],
  ['answers without a body', 0, undefined, 513],
  ['small ones that a key has paid for, and nobody asks behind them', PAGE, 'key', 42],
  ['tiny ones of these', 500, 'key', 1_000],
])('one connection gets so many %s, and no more', (_, body, payer, most) => {
  expect(untilSpent(unreadOf(), body, payer)).toBe(most);
});

test('where one address has its share of places, small answers end the connection and large ones are refused', () => {
  const all = silent();
  const others = Array.from({ length: 64 }, () => unreadOf(all));
  for (const other of others) other.sends(100_000, undefined);
  const [large, small] = [unreadOf(all), unreadOf(all)];
  expect([large.sends(100_000, undefined), large.isLarge, large.isSpent]).toEqual([false, false, false]);
  expect(small.sends(PAGE, undefined)).toBe(true);
  expect([small.isLarge, small.isSpent]).toEqual([false, false]);
  expect(small.sends(PAGE, undefined)).toBe(true);
  expect([small.isLarge, small.isSpent]).toEqual([true, true]);
  // Neither has a place that it could give back.
  large.closed();
  small.closed();
  expect(large.sends(100_000, undefined)).toBe(false);
  others[0]!.closed();
  expect(large.sends(100_000, undefined)).toBe(true);
});

/** Connections that got one answer each, and who of them was dropped. */
function crowd(all = silent(), party?: string) {
  const dropped: string[] = [];
  const got = (name: string, network: string, body: number, payer?: string, isBusy = false) => {
    const socket = { localPort: 1, remoteAddress: network, remotePort: 1 };
    const one = new Unread(all, { network, socket, isBusy, party, drop: () => dropped.push(name) });
    one.sends(body, payer);
    return one;
  };
  return { got, dropped };
}

test('where all have got too much, those go whose last answer is oldest and that wait for no other', () => {
  const { got, dropped } = crowd();
  const few = got('few bytes', '192.0.2.7', 0);
  const reader = got('reads on and on', '192.0.2.8', 100_000);
  const busy = got('busy', '192.0.2.1', 100_000, undefined, true);
  // 32 MiB are 333 of these.
  const many = Array.from({ length: 325 }, (_, at) => got(`${at}`, `192.0.3.${at}`, 100_000));
  expect(dropped).toEqual([]);
  reader.sends(0, undefined);
  const others = Array.from({ length: 320 }, (_, at) => got(`o${at}`, `192.0.4.${at}`, 100_000));
  expect(dropped).toEqual(Array.from(dropped, (_, at) => `${at}`));
  expect(dropped.length).toBeGreaterThan(310);
  for (const one of [few, reader, busy, ...many, ...others]) one.closed();
  const before = dropped.length;
  for (let at = 0; at < 300; at++) got(`n${at}`, `192.0.5.${at}`, 100_000);
  expect(dropped).toHaveLength(before);
});

test('of strangers the network that has left most unread gives way, however many come; below what one connection may have all are alike', () => {
  const { got, dropped } = crowd();
  got('visitor', '192.0.2.1', 170_000);
  // 20 addresses, three times what all may have.
  for (let at = 0; at < 1_000; at++) got(`${at}`, `192.0.3.${at % 20}`, 100_000);
  expect(dropped.length).toBeGreaterThan(600);
  expect(dropped).not.toContain('visitor');
  // From many networks, of which each has a little less than the visitor, the oldest go.
  for (let at = 0; at < 250; at++) got(`few ${at}`, `192.0.4.${at}`, 100_000);
  expect(dropped).not.toContain('visitor');
  for (let at = 0; at < 100; at++) got(`more ${at}`, `192.0.5.${at}`, 100_000);
  expect(dropped).toContain('visitor');
});

test('answers that are not large count too, from a few refusals on', () => {
  const { got, dropped } = crowd();
  got('a refusal', '192.0.2.1', 600);
  for (let at = 0; at < 5_000; at++) got(`${at}`, `192.0.3.${at}`, 30_000);
  // 32 MiB are 1,099 of these.
  expect(dropped).toEqual(Array.from({ length: 5_000 - 1_099 }, (_, at) => `${at}`));
});

test('whoever has paid is not pushed out by strangers, nor for what it has read', () => {
  const { got, dropped } = crowd();
  const paidDropped = () => dropped.filter(name => name.startsWith('paid'));
  const paid = Array.from({ length: 600 }, (_, at) => got(`paid ${at}`, '192.0.2.9', 100_000, 'key'));
  for (let at = 0; at < 700; at++) got(`s${at}`, `192.0.6.${at}`, 100_000);
  expect(paidDropped()).toEqual([]);
  expect(dropped).not.toEqual([]);
  // Those that asked for more have read what they had.
  for (const one of paid.slice(0, 300)) one.asked();
  for (let at = 0; at < 300; at++) got(`paid more ${at}`, '192.0.2.9', 100_000, 'key');
  expect(paidDropped()).toEqual([]);
  for (let at = 0; at < 100; at++) got(`paid most ${at}`, '192.0.2.9', 100_000, 'key');
  expect(paidDropped()[0]).toBe('paid 300');
});

test('of a key those go that have left most: one that reads has one answer at the most, however long ago it began', () => {
  const { got, dropped } = crowd();
  got('reads', '192.0.2.1', 100_000, 'key');
  for (let at = 0; at < 400; at++) {
    const one = got(`${at}`, '192.0.2.1', 100_000, 'key');
    one.sends(100_000, 'key');
  }
  expect(dropped.length).toBeGreaterThan(50);
  expect(dropped).not.toContain('reads');
});

test('behind one address whoever reads a large page is not reset for many who came before and left less', () => {
  const { got, dropped } = crowd();
  for (let at = 0; at < 300; at++) got(`${at}`, '192.0.2.1', 30_000);
  got('reads', '192.0.2.1', 200_000);
  for (let at = 300; at < 1_250; at++) got(`${at}`, '192.0.2.1', 30_000);
  expect(dropped.length).toBeGreaterThan(100);
  expect(dropped).not.toContain('reads');
});

test('a port that has a quarter of the memory leaves a quarter as much unread', () => {
  const { got, dropped } = crowd(new LargeAnswers(0.25, new Doubts(1, async () => undefined)));
  for (let at = 0; at < 100; at++) got(`${at}`, `192.0.3.${at}`, 100_000);
  expect(dropped).toHaveLength(100 - Math.floor((8 * 1024 * 1024) / 100_512));
});

test('what a connection has left unread counts also where its next call comes with another key', () => {
  const all = silent();
  const { got, dropped } = crowd(all);
  for (let at = 0; at < 1_000; at++) {
    const one = got(`${at}`, '192.0.2.1', 100_000, 'one');
    one.asked();
    one.found(100_000, false);
    for (const payer of ['other', 'one', 'other']) {
      one.sends(0, payer);
      one.found(100_000, false);
    }
  }
  expect(all.kept.sum).toBeLessThanOrEqual(32 * 1024 * 1024);
  expect(dropped.length).toBeGreaterThan(600);
});

/** The kernel keeps so much for each address, and tells when it is asked. */
function kernel() {
  const kept = new Map<string, number>();
  const all = new LargeAnswers(1, new Doubts(1, async () => kept));
  const keeps = (remoteAddress: string, bytes: number) =>
    kept.set(nameOf({ localPort: 1, remoteAddress, remotePort: 1 }), bytes);
  return { all, keeps };
}

test('strangers who have read what they got, and stay, have nobody reset behind a shared address', async () => {
  const { all } = kernel();
  const { got, dropped } = crowd(all);
  for (let at = 0; at < 1_000; at++) {
    got(`${at}`, `192.0.3.${at}`, 170_000);
    got(`shared ${at}`, '192.0.2.1', 170_000).closed();
    got(`shared ${at}`, '192.0.2.1', 60_000);
    if (at % 20 === 0) await turn();
  }
  expect(dropped).toEqual([]);
});

test('who reads nothing makes room first, whatever others are about to read behind a shared address', async () => {
  const { all, keeps } = kernel();
  const { got, dropped } = crowd(all);
  const clock = vi.spyOn(performance, 'now').mockReturnValue(1_000);
  onTestFinished(() => clock.mockRestore());
  // The kernel is asked with every 16 MiB, and 32 are 333 of these.
  for (let at = 0; at < 180; at++) {
    keeps(`192.0.3.${at}`, 100_000);
    got(`silent ${at}`, `192.0.3.${at}`, 100_000);
  }
  await turn();
  // They have had the time to read some of it when the kernel is asked again.
  clock.mockReturnValue(3_000);
  for (let at = 0; at < 200; at++) got(`reads ${at}`, `192.0.4.${at}`, 100_000).closed();
  await turn();
  await turn();
  expect(dropped).toEqual([]);
  for (let at = 0; at < 192; at++) got(`shared ${at}`, `192.0.2.${at % 3}`, 100_000);
  expect(dropped.length).toBeGreaterThan(20);
  expect(dropped.filter(name => !name.startsWith('silent'))).toEqual([]);
});

test('who calls with a key is none of the strangers for small answers that are not counted', () => {
  const all = silent();
  const { got: key, dropped } = crowd(all, 'key');
  for (let at = 0; at < 30; at++) {
    const one = key(`caller ${at}`, '192.0.2.1', 500);
    for (let call = 0; call < 100; call++) {
      one.asked();
      one.sends(500, undefined);
    }
    expect(one.isSpent).toBe(false);
  }
  const { got: stranger } = crowd(all);
  for (let at = 0; at < 1_500; at++) stranger(`${at}`, `192.0.3.${at}`, 30_000);
  expect(dropped).toEqual([]);
});

test('who asks again over a connection has read what a key paid for, and it is not spent', () => {
  const unread = unreadOf();
  for (let call = 0; call < 50; call++) {
    expect(unread.sends(200_000, 'key')).toBe(true);
    expect(unread.isSpent).toBe(false);
    unread.asked();
  }
  // What nobody has paid for is not forgotten.
  for (let call = 0; call < 3; call++) unread.sends(100_000, undefined);
  unread.asked();
  expect(unread.isSpent).toBe(true);
});

test('small answers that a key has paid for count as much as large ones, until somebody asks behind them', () => {
  const { got, dropped } = crowd();
  const reader = got('reads', '192.0.2.1', 500, 'reader');
  for (let call = 0; call < 2_000; call++) {
    reader.sends(500, 'reader');
    if (call % 30 === 0) reader.asked();
  }
  expect([reader.isSpent, reader.isLarge]).toEqual([false, false]);
  const greedy = Array.from({ length: 400 }, (_, at) => got(`greedy ${at}`, '192.0.2.2', PAGE, 'greedy'));
  for (const one of greedy) for (let call = 0; call < 11; call++) one.sends(PAGE, 'greedy');
  expect(dropped[0]).toBe('greedy 0');
  expect(dropped.length).toBeGreaterThan(100);
  expect(dropped).not.toContain('reads');
});

test('the key that has left most unread gives way, and no other; what waits for an answer behind all that does not', () => {
  const { got, dropped } = crowd();
  got('of another key', '192.0.2.1', 100_000, 'quiet');
  const moved = got('of a third', '192.0.2.1', 100_000, 'greedy');
  moved.sends(100_000, 'third');
  for (let at = 0; at < 650; at++) got(`${at}`, '192.0.2.2', 100_000, 'greedy', at < 3);
  expect(dropped).toEqual([]);
  for (let at = 0; at < 100; at++) got(`late ${at}`, '192.0.2.1', 100_000, 'quiet');
  expect(dropped.slice(0, 3)).toEqual(['3', '4', '5']);
  expect(dropped.length).toBeGreaterThan(80);
  expect(dropped.filter(name => !/^\d+$/.test(name))).toEqual([]);
});

test('a key whose connections all wait for answers gives way all the same, before other keys do', () => {
  const { got, dropped } = crowd();
  got('of another key', '192.0.2.1', 100_000, 'quiet');
  for (let at = 0; at < 700; at++) got(`${at}`, '192.0.2.2', 100_000, 'greedy', true);
  expect(dropped[0]).toBe('0');
  expect(dropped).not.toContain('of another key');
});

/** 200 connections of a key that ask again and again, as the kernel sees them; whoever has an odd port never reads. */
async function askingOnAndOn(isUnread: (port: number) => boolean, rounds: number) {
  const sent = new Map<string, number>();
  const all = new LargeAnswers(1, new Doubts(1, async () => sent));
  const dropped: number[] = [];
  const connections = Array.from({ length: 200 }, (_, port) => {
    const ends = { localPort: 1, remoteAddress: '127.0.0.1', remotePort: port };
    const drop = () => void dropped.push(port);
    return { port, unread: new Unread(all, { network: '127.0.0.1', socket: ends, isBusy: false, drop }) };
  });
  for (let round = 0; round < rounds; round++)
    for (const { port, unread } of connections.filter(one => !dropped.includes(one.port))) {
      unread.asked();
      unread.sends(65_000, 'key');
      const name = `0001 0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`;
      if (isUnread(port)) sent.set(name, (sent.get(name) ?? 0) + 65_512);
      await turn();
    }
  return dropped;
}

test('who asks again and again and reads nothing is found out and dropped, who reads is not', async () => {
  const dropped = await askingOnAndOn(port => port % 2 === 1, 20);
  // 32 MiB are five answers for each of those who read nothing.
  expect(dropped.length).toBeGreaterThan(20);
  expect(dropped.filter(port => port % 2 === 0)).toEqual([]);
  expect(await askingOnAndOn(() => false, 20)).toEqual([]);
});

test('among thousands that may not go, one that may is not looked for without end', () => {
  let looked = 0;
  const gone: number[] = [];
  const mayGo = () => {
    looked++;
    return false;
  };
  const shares = new Shares<number>(10_000, { mayGo, giveWay: one => gone.push(one) });
  for (let one = 0; one <= 10_000; one++) shares.set('a', one, 1);
  expect([looked, gone]).toEqual([512, [0]]);
});
