import { expect, test } from 'vitest';
import { Addresses } from '../../src/dns/addresses.ts';

/** Answers when the test says so; remembers who was asked for, in order. */
function slow() {
  const asked: string[] = [];
  const answers: (() => void)[] = [];
  const book = new Addresses({
    addressesOf: host =>
      new Promise(resolve => {
        asked.push(host);
        answers.push(() => resolve([`93.184.215.${asked.length % 250}`]));
      }),
  });
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
  while (asked.length < 2_000) await answerOne();
  for (let rest = 0; rest < AT_ONCE; rest++) await answerOne();
  await book.settle();
  // What waits is in two rows of the same length; eight of the first were under way already.
  expect(asked.filter(host => host.includes('modest')).length).toBe(1_000 - AT_ONCE / 2);
  expect(taken.length).toBe(1_000 - AT_ONCE / 2);
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
