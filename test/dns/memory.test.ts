import { expect, test } from 'vitest';
import type { Mail, MailState } from '../../src/core/mail.ts';
import { Memory } from '../../src/dns/memory.ts';
import { DNS_CAPS } from '../../src/dns/resolver.ts';

const HOUR = 3_600_000;

function remembering() {
  const time = { now: 1_000 };
  const memory = new Memory(DNS_CAPS, () => time.now);
  const keep = (name: string, state: MailState, troubleAt = 0) => {
    const mail: Mail = { state, exchanges: [], stale: false };
    return memory.keep(name, { mail, ttl: 3_600 }, troubleAt);
  };
  const recall = (name: string) => memory.recall(name, () => true)?.state;
  return { time, memory, keep, recall };
}

test('what was denied since a moment is dropped; mail servers that were named, and what was denied before and after, stay', () => {
  const { time, memory, keep, recall } = remembering();
  keep('before.com', 'nxdomain');
  time.now = 2_000;
  const states = ['nxdomain', 'no_mail', 'null_mx', 'implicit_mx', 'mx'] as const;
  for (const state of states) keep(`${state}.com`, state);
  time.now = 3_000;
  memory.drop(1_500, 'denials');
  expect(states.map(state => recall(`${state}.com`))).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
    'mx',
  ]);
  expect(memory.last('nxdomain.com')).toBeUndefined();
  expect(memory.isSettled('nxdomain.com')).toBe(false);
  expect(recall('before.com')).toBe('nxdomain');
  expect([1_499, 1_500, 3_000, 3_001].map(at => memory.isDoubted(at))).toEqual([false, true, true, false]);
  time.now = 3_001;
  keep('nxdomain.com', 'nxdomain');
  expect(recall('nxdomain.com')).toBe('nxdomain');
});

test('where mail servers were invented all is dropped, and what a later failure adds takes nothing of that back', () => {
  const { time, memory, keep, recall } = remembering();
  keep('before.com', 'mx');
  time.now = 2_000;
  for (const state of ['mx', 'nxdomain'] as const) keep(`${state}.com`, state);
  memory.drop(1_500, 'everything');
  expect(['before.com', 'mx.com', 'nxdomain.com'].map(recall)).toEqual(['mx', undefined, undefined]);
  time.now = 3_000;
  memory.drop(1_200, 'denials');
  expect(['before.com', 'mx.com', 'nxdomain.com'].map(recall)).toEqual(['mx', undefined, undefined]);
  expect(memory.last('mx.com')).toBeUndefined();
});

test('a dropped denial is not served as an old answer either', () => {
  const { time, memory, keep } = remembering();
  keep('lie.com', 'nxdomain');
  memory.drop(0, 'denials');
  time.now += 2 * HOUR;
  expect(keep('lie.com', 'unknown').state).toBe('unknown');
});

test('however often a server fails, it is remembered in little room, and nothing that was dropped comes back', () => {
  const { time, memory, keep, recall } = remembering();
  for (let round = 0; round < 30; round++) {
    time.now += 1_000;
    keep(`lie${round}.com`, 'nxdomain');
    memory.drop(time.now - 500, 'denials');
  }
  const names = Array.from({ length: 30 }, (_, round) => `lie${round}.com`);
  expect(names.filter(name => recall(name) !== undefined)).toEqual([]);
});

test('failures in a row have a first and a last; an answer or trouble of the resolvers begins a new row', () => {
  const { time, memory, keep } = remembering();
  keep('silent.com', 'unknown');
  expect(memory.failures('silent.com')).toBeUndefined();
  time.now = 40_000;
  keep('silent.com', 'unknown');
  expect(memory.failures('silent.com')).toEqual({ first: 1_000, last: 40_000 });
  time.now = 80_000;
  keep('silent.com', 'unknown', 50_000);
  expect(memory.failures('silent.com')).toBeUndefined();
  keep('silent.com', 'mx');
  expect(memory.failures('silent.com')).toBeUndefined();
});

test('one failure is never two, at whatever fraction of a millisecond', () => {
  const { time, memory, keep } = remembering();
  const twice: number[] = [];
  for (let at = 0; at < 1_000; at++) {
    time.now = 1_000 + at * 7.123_456_789;
    keep(`n${at}.com`, 'unknown');
    if (memory.failures(`n${at}.com`)) twice.push(time.now);
  }
  expect(twice).toEqual([]);
});
