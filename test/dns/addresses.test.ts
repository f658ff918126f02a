import { expect, test } from 'vitest';
import { allAtOnce } from '../../src/core/steps.ts';
import type { HostAddresses, Unheard } from '../../src/core/whereabouts.ts';
import { Addresses } from '../../src/dns/addresses.ts';

/** In seconds. */
const DAY = 86_400;

const isDoubted = () => false;

/** Answers when the test says so; remembers who was asked for, in order. */
function slow() {
  const asked: string[] = [];
  const answers: (() => void)[] = [];
  const addressesOf = (host: string) =>
    new Promise<HostAddresses>(resolve => {
      asked.push(host);
      answers.push(() =>
        resolve({ addresses: [`93.184.215.${asked.length % 250}`], isWhole: true, ttl: DAY }),
      );
    });
  const book = new Addresses({ addressesOf, isDoubted }, undefined, 60_000);
  const answerOne = async () => {
    answers.shift()!();
    await new Promise(resolve => setImmediate(resolve));
  };
  return { asked, book, answerOne };
}

const AT_ONCE = 8;
const hostsOf = (by: string, count: number) => Array.from({ length: count }, (_, at) => `mx${at}.${by}.net`);

test('one key with any number of hosts does not keep those of others waiting', async () => {
  const { asked, book, answerOne } = slow();
  for (const host of hostsOf('greedy', 1_000)) book.want(host, 'greedy', () => {});
  for (const host of hostsOf('modest', 3)) book.want(host, 'modest', () => {});
  for (let answer = 0; answer < 6; answer++) await answerOne();
  expect(asked.slice(AT_ONCE)).toEqual([
    'mx8.greedy.net',
    'mx0.modest.net',
    'mx9.greedy.net',
    'mx1.modest.net',
    'mx10.greedy.net',
    'mx2.modest.net',
  ]);
});

test('where too many wait, the key that has most of them gives up its last ones', async () => {
  const { asked, book, answerOne } = slow();
  for (const host of hostsOf('greedy', 5_000)) book.want(host, 'greedy', () => {});
  const taken: string[] = [];
  for (const host of hostsOf('modest', 1_500)) book.want(host, 'modest', () => taken.push(host));
  // Eight of the first were under way already.
  while (asked.length < 2_000 + AT_ONCE) await answerOne();
  for (let rest = 0; rest < AT_ONCE; rest++) await answerOne();
  await book.settle();
  // What waits is in two rows of the same length.
  expect(asked.filter(host => host.includes('modest')).length).toBe(1_000);
  expect(taken.length).toBe(1_000);
});

test("who wants a host that stands in another key's long row does not wait in that row, nor lose it with that row's end", async () => {
  const { asked, book, answerOne } = slow();
  const hosts = hostsOf('greedy', 2_000 + AT_ONCE);
  for (const host of hosts) book.want(host, 'greedy', () => {});
  const got: string[] = [];
  // The last ones that fit: they are the first to go where others come.
  const wanted = hosts.slice(-3);
  for (const host of wanted) book.want(host, 'modest', () => got.push(host));
  for (const host of hostsOf('other', 500)) book.want(host, 'other', () => {});
  for (let answer = 0; answer < 9 + AT_ONCE; answer++) await answerOne();
  expect([got, asked.length]).toEqual([wanted, 9 + 2 * AT_ONCE]);
  while (asked.length < 2_000 + AT_ONCE) await answerOne();
  for (let rest = 0; rest < AT_ONCE; rest++) await answerOne();
  await book.settle();
  expect(new Set(asked).size).toBe(asked.length);
});

test('addresses that are known are handed over at once, and one question serves all who want them', async () => {
  const { asked, book, answerOne } = slow();
  const got: string[] = [];
  for (const by of ['one', 'two']) book.want('mx.example.net', by, found => got.push(`${by} ${found}`));
  await answerOne();
  book.want('mx.example.net', 'three', found => got.push(`three ${found}`));
  expect(asked).toEqual(['mx.example.net']);
  expect(got).toEqual(['one 93.184.215.1', 'two 93.184.215.1', 'three 93.184.215.1']);
});

test.each([1, 1 / 8])(
  'hosts that keep silent hold up nobody else, and those of one key or domain are given up when they are many (sockets for %d of them)',
  async share => {
    const running = new Set<string>();
    let most = 0;
    const addressesOf = (host: string, giveUp?: AbortSignal) =>
      new Promise<HostAddresses | Unheard>(resolve => {
        if (!host.includes('silent')) return resolve({ addresses: ['5.6.7.8'], isWhole: true, ttl: DAY });
        running.add(host);
        most = Math.max(most, running.size);
        giveUp?.addEventListener('abort', () => {
          running.delete(host);
          resolve('given_up');
        });
      });
    const book = new Addresses({ addressesOf, isDoubted, share }, undefined, 10);
    const known = (host: string, by: string) => new Promise(resolve => book.want(host, by, resolve));
    book.want('mx.first-silent.net', 'patient', () => {});
    // Who waits for a host that a key with many wants too has it, for as long as it takes.
    for (const by of ['greedy', 'fellow']) book.want('mx.joint-silent.net', by, () => {});
    for (let at = 0; at < 400; at++) book.want(`mx.silent${at}.net`, 'greedy', () => {});
    for (let at = 0; at < 60; at++) book.want(`mx${at}.silent.net`, `key${at}`, () => {});
    // In two turns, though hundreds wait that take ten milliseconds each.
    const startedAt = performance.now();
    for (let at = 0; at < 5; at++) expect(await known(`mx${at}.firm.net`, 'modest')).toEqual(['5.6.7.8']);
    expect(performance.now() - startedAt).toBeLessThan(1_000 / share);
    while (book.isDue('mx.silent300.net')) await new Promise(resolve => setTimeout(resolve, 10));
    expect(most).toBeLessThanOrEqual((AT_ONCE + 64) * share);
    expect([...running].filter(host => host.endsWith('.silent.net')).length).toBeLessThanOrEqual(16 * share);
    // Whoever has few is waited for.
    expect(['first', 'joint'].map(one => running.has(`mx.${one}-silent.net`))).toEqual([true, true]);
    // That one was given up says nothing of it, and it is not asked again at once.
    expect([book.isSilent('mx.silent0.net'), book.isDue('mx.silent0.net')]).toEqual([false, false]);
  },
);

const HOUR_MS = 3_600_000;

/** Answers at once with what the test says; undefined is a failure. */
function prompt() {
  const time = { now: 0 };
  const asked: string[] = [];
  const answer = { now: ['93.184.215.1'] as string[] | Unheard | undefined, isWhole: true, ttl: DAY };
  const addressesOf = async (host: string) => {
    asked.push(host);
    const { now, ...rest } = answer;
    return Array.isArray(now) ? { ...rest, addresses: now } : now;
  };
  const lies = { until: -1 };
  const book = new Addresses({ addressesOf, isDoubted: at => at <= lies.until }, () => time.now);
  const want = async (host: string, by = 'key') => {
    book.want(host, by, () => {});
    await book.settle();
  };
  return { time, asked, answer, lies, book, want };
}

test('addresses are asked again before a day is over, and what was known counts until then and meanwhile', async () => {
  const { time, asked, answer, book, want } = prompt();
  await want('mx.example.net');
  time.now = 19 * HOUR_MS;
  expect(book.isDue('mx.example.net')).toBe(false);
  time.now = 200 * HOUR_MS;
  expect(book.isDue('mx.example.net')).toBe(true);
  expect(book.known('mx.example.net')).toEqual(['93.184.215.1']);
  answer.now = ['93.184.215.2'];
  const got: string[] = [];
  book.want('mx.example.net', 'key', found => got.push(...found));
  expect([got, asked.length]).toEqual([['93.184.215.1'], 2]);
  await book.settle();
  expect(book.known('mx.example.net')).toEqual(['93.184.215.2']);
  expect(got).toEqual(['93.184.215.1']);
});

test.each([
  [0, 1],
  [2 * 3_600, 2],
  [7 * DAY, 20],
])('addresses with a time to live of %i s are asked again after %i hours', async (ttl, hours) => {
  const { time, answer, book, want } = prompt();
  answer.ttl = ttl;
  await want('mx.example.net');
  time.now = hours * HOUR_MS - 1;
  expect(book.isDue('mx.example.net')).toBe(false);
  time.now += 1;
  expect([book.isDue('mx.example.net'), book.known('mx.example.net')]).toEqual([true, ['93.184.215.1']]);
});

test('where asking fails that is no address known to be none, and what was known counts for three days', async () => {
  const { time, answer, book, want } = prompt();
  await want('mx.example.net');
  answer.now = undefined;
  await want('mx.never.net');
  expect(book.known('mx.never.net')).toBeUndefined();
  expect(book.isDue('mx.never.net')).toBe(false);
  for (const [hours, known] of [
    [71, true],
    [73, false],
  ] as const) {
    time.now = hours * HOUR_MS;
    await want('mx.example.net');
    expect([hours, book.known('mx.example.net') !== undefined]).toEqual([hours, known]);
    expect(book.isDue('mx.example.net')).toBe(false);
  }
  time.now += HOUR_MS;
  answer.now = [];
  await want('mx.never.net');
  expect(book.known('mx.never.net')).toEqual([]);
  time.now += HOUR_MS;
  expect(book.isDue('mx.never.net')).toBe(true);
});

test('a host is silent while nobody has ever answered for it, and whoever wants it need not wait for the next try', async () => {
  const { time, asked, answer, book, want } = prompt();
  expect(book.isSilent('mx.example.net')).toBe(false);
  answer.now = undefined;
  await want('mx.example.net');
  expect(book.isSilent('mx.example.net')).toBe(true);
  const got: string[][] = [];
  book.want('mx.example.net', 'key', found => got.push([...found]));
  expect([got, asked.length]).toEqual([[[]], 1]);
  time.now = HOUR_MS;
  answer.now = ['93.184.215.1'];
  await want('mx.example.net');
  answer.now = undefined;
  time.now += 21 * HOUR_MS;
  await want('mx.example.net');
  expect(book.isSilent('mx.example.net')).toBe(false);
});

test('a host without an address is one to be asked again after ten minutes, and is taken for one without until then', async () => {
  const { time, asked, answer, book, want } = prompt();
  answer.now = [];
  await want('mx.example.net');
  expect([book.known('mx.example.net'), book.fresh('mx.example.net')]).toEqual([[], []]);
  time.now = 0.2 * HOUR_MS;
  expect([book.known('mx.example.net'), book.fresh('mx.example.net')]).toEqual([[], undefined]);
  answer.now = ['93.184.215.1'];
  const got: string[][] = [];
  book.want('mx.example.net', 'key', found => got.push([...found]));
  await book.settle();
  // Whoever wants them gets the new ones, and not that there were none.
  expect([got, asked.length]).toEqual([[['93.184.215.1']], 2]);
  expect(book.fresh('mx.example.net')).toEqual(['93.184.215.1']);
});

test('that a host has no address any more is believed the second time', async () => {
  const { time, answer, book, want } = prompt();
  const known: unknown[] = [];
  for (const now of [['93.184.215.1'], [], ['93.184.215.1'], [], undefined, [], []]) {
    answer.now = now;
    await want('mx.example.net');
    known.push(book.known('mx.example.net')?.length);
    time.now += 21 * HOUR_MS;
  }
  expect(known).toEqual([1, 1, 1, 1, 1, 0, 0]);
});

test('half of an answer counts only where nothing else is known, and is asked for again soon', async () => {
  const { time, answer, book, want } = prompt();
  const version6 = ['2606:2800:21f:cb07::1'];
  const know = async (host: string, now: readonly string[], isWhole: boolean) => {
    Object.assign(answer, { now, isWhole });
    await want(host);
    time.now += 21 * HOUR_MS;
    return book.known(host);
  };
  expect(await know('mx.example.net', ['93.184.215.1'], true)).toEqual(['93.184.215.1']);
  for (let day = 0; day < 3; day++)
    expect(await know('mx.example.net', version6, false)).toEqual(['93.184.215.1']);
  // Whoever has the others fail all the time is found by what there is.
  expect(await know('mx.example.net', version6, false)).toEqual(version6);
  Object.assign(answer, { now: version6, isWhole: false });
  await want('mx.never.net');
  expect([book.known('mx.never.net'), book.isDue('mx.never.net')]).toEqual([version6, false]);
  time.now += 0.2 * HOUR_MS;
  expect(book.isDue('mx.never.net')).toBe(true);
});

test('lookups of one key push out its own addresses only, and none that are held', async () => {
  const { asked, book, want } = prompt();
  for (const host of hostsOf('modest', 100)) await want(host, 'modest');
  await want('mx.learned.net', 'greedy');
  allAtOnce(book.holding(['mx.learned.net', 'mx.other.net']));
  await book.settle();
  expect(asked.at(-1)).toBe('mx.other.net');
  for (const host of hostsOf('greedy', 25_000)) await want(host, 'greedy');
  expect(hostsOf('modest', 100).filter(host => !book.known(host))).toEqual([]);
  expect(['mx.learned.net', 'mx.other.net'].map(host => book.known(host) !== undefined)).toEqual([
    true,
    true,
  ]);
  const greedy = hostsOf('greedy', 25_000).filter(host => book.known(host));
  expect([greedy.length, greedy[0]]).toEqual([20_000 - 102, 'mx5102.greedy.net']);
  // What is held no longer is like any other.
  allAtOnce(book.holding([]));
  for (const host of hostsOf('more', 25_000)) await want(host, 'greedy');
  expect(book.known('mx.learned.net')).toBeDefined();
});

test('what is held is asked again in time without anybody who wants it', async () => {
  const { time, asked, book } = prompt();
  allAtOnce(book.holding(['mx.learned.net']));
  await book.settle();
  time.now = 21 * HOUR_MS;
  allAtOnce(book.holding(['mx.learned.net']));
  await book.settle();
  expect(asked).toEqual(['mx.learned.net', 'mx.learned.net']);
});

test('hosts of one domain are found beside each other, the last eight that have addresses', async () => {
  const book = new Addresses({
    addressesOf: async host =>
      host.startsWith('fails')
        ? undefined
        : { addresses: host.startsWith('none') ? [] : ['5.6.7.8'], isWhole: true, ttl: DAY },
    isDoubted,
  });
  const want = async (host: string) => {
    book.want(host, 'key', () => {});
    await book.settle();
  };
  expect(book.beside('mx.box.net')).toEqual([]);
  for (const host of ['mx.other.net', 'none.box.net', 'fails.box.net']) await want(host);
  expect(book.beside('mx.box.net')).toEqual([]);
  for (let at = 0; at < 12; at++) await want(`mx${at}.box.net`);
  expect(book.beside('mx.box.net')).toEqual([11, 10, 9, 8, 7, 6, 5, 4].map(at => `mx${at}.box.net`));
});

test('many hosts are held in steps, so that nobody waits for that', async () => {
  const many = new Addresses({
    addressesOf: async () => ({ addresses: ['5.6.7.8'], isWhole: true, ttl: DAY }),
    isDoubted,
  });
  const hosts = Array.from({ length: 1_200 }, (_, at) => `mx${at}.box.net`);
  const steps = many.holding(hosts);
  expect(steps.next().done).toBe(false);
  allAtOnce(steps);
  await many.settle();
  expect(hosts.every(host => many.known(host) !== undefined)).toBe(true);
});

test('that no server is believed says nothing of a host', async () => {
  const { time, asked, answer, book, want } = prompt();
  await want('mx.example.net');
  answer.now = 'distrusted';
  time.now = 21 * HOUR_MS;
  for (const host of ['mx.example.net', 'mx.new.net']) await want(host);
  book.want('mx.new.net', 'key', () => expect.fail('nobody knows that there are none'));
  await book.settle();
  expect([book.isSilent('mx.new.net'), book.isDue('mx.new.net'), asked.length]).toEqual([false, true, 4]);
  expect([book.known('mx.example.net'), book.isDue('mx.example.net')]).toEqual([['93.184.215.1'], false]);
});

test('a host that was given up is as unknown as before, or as silent, and what was known counts for three days', async () => {
  const { time, asked, answer, book, want } = prompt();
  await want('mx.example.net');
  answer.now = undefined;
  await want('mx.silent.net');
  const got: string[] = [];
  const all = () =>
    Promise.all(
      ['mx.example.net', 'mx.silent.net', 'mx.new.net'].map(host => {
        book.want(host, 'key', found => got.push(`${host} ${found}`));
        return book.settle();
      }),
    );
  answer.now = 'given_up';
  time.now = 21 * HOUR_MS;
  await all();
  expect(asked.length).toBe(5);
  // Ten minutes later, and not at once.
  await all();
  expect(asked.length).toBe(5);
  const told = ['mx.example.net 93.184.215.1', 'mx.silent.net '];
  expect(got.sort()).toEqual([told[0], ...told, told[1]].sort());
  expect(['mx.silent.net', 'mx.new.net'].map(host => book.isSilent(host))).toEqual([true, false]);
  time.now = 73 * HOUR_MS;
  await all();
  expect([book.known('mx.example.net'), book.isSilent('mx.example.net'), asked.length]).toEqual([
    undefined,
    false,
    8,
  ]);
});

test('what came while a server lied is not known any more, nor that nobody answered', async () => {
  const { time, asked, answer, lies, book, want } = prompt();
  await want('mx.example.net');
  answer.now = undefined;
  await want('mx.silent.net');
  time.now = 1;
  answer.now = ['93.184.215.2'];
  await want('mx.later.net');
  expect([book.isSilent('mx.silent.net'), asked.length]).toEqual([true, 3]);
  lies.until = 0;
  const hosts = ['mx.example.net', 'mx.silent.net', 'mx.later.net'];
  expect(hosts.map(host => book.known(host))).toEqual([undefined, undefined, ['93.184.215.2']]);
  expect(hosts.map(host => book.isDue(host))).toEqual([true, true, false]);
  expect(book.isSilent('mx.silent.net')).toBe(false);
  // One lie before does not make half of an answer, or none, less believed.
  answer.now = [];
  await want('mx.example.net');
  expect(book.known('mx.example.net')).toEqual([]);
});

test('what others found out counts where nothing was ever known, is asked for at once, and as old as it is', async () => {
  const { time, asked, answer, lies, book, want } = prompt();
  time.now = 10 * HOUR_MS;
  await want('mx.known.net');
  for (const host of ['mx.known.net', 'mx.new.net', 'mx.silent.net', 'mx.old.net'])
    book.recall(host, ['5.61.1.1'], host === 'mx.old.net' ? 70 * HOUR_MS : HOUR_MS);
  book.recall('none.new.net', [], HOUR_MS);
  expect(book.known('mx.known.net')).toEqual(['93.184.215.1']);
  expect([book.known('mx.new.net'), book.isDue('mx.new.net')]).toEqual([['5.61.1.1'], true]);
  expect([book.known('none.new.net'), book.beside('x.new.net')]).toEqual([[], ['mx.new.net']]);
  expect(['mx.known.net', 'mx.new.net', 'mx.never.net'].map(host => book.age(host))).toEqual([
    0,
    HOUR_MS,
    undefined,
  ]);
  await want('mx.new.net');
  expect([book.known('mx.new.net'), book.age('mx.new.net')]).toEqual([['93.184.215.1'], 0]);
  expect(asked).toEqual(['mx.known.net', 'mx.new.net']);

  answer.now = undefined;
  time.now += 3 * HOUR_MS;
  for (const host of ['mx.silent.net', 'mx.old.net']) await want(host);
  expect([book.known('mx.silent.net'), book.known('mx.old.net')]).toEqual([['5.61.1.1'], undefined]);

  // Nor does it come back in place of what was said while a server lied.
  lies.until = 10 * HOUR_MS;
  book.recall('mx.known.net', ['5.61.1.1'], HOUR_MS);
  expect(book.known('mx.known.net')).toBeUndefined();
});

test('what is to be asked again is handed over at once, or not before it was, as whoever wants it says', async () => {
  const { book, time, answer, want } = prompt();
  await want('mx.example.net');
  time.now += 21 * HOUR_MS;
  answer.now = ['93.184.215.2'];
  const got: string[] = [];
  book.want('mx.example.net', 'one', found => got.push(`anew ${found}`), 'anew');
  book.want('mx.example.net', 'two', found => got.push(`known ${found}`));
  expect(got).toEqual(['known 93.184.215.1']);
  await book.settle();
  expect(got).toEqual(['known 93.184.215.1', 'anew 93.184.215.2']);
  book.want('mx.example.net', 'one', found => got.push(`known ${found}`), 'anew');
  expect(got.at(-1)).toBe('known 93.184.215.2');
});
