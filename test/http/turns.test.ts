import { expect, onTestFinished, test, vi } from 'vitest';
import type { Caller, Job } from '../../src/http/accounts.ts';
import { Fairness } from '../../src/http/fairness.ts';
import { PRICES } from '../../src/http/prices.ts';
import { inOneGo, takeTurns } from '../../src/http/turns.ts';
import { eventually } from '../support/scale.ts';

const keyed = (name: string): Caller => ({ name, kind: 'key' });

/** A service whose time goes on only by what it does. */
function world() {
  let now = 1_000;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
  const fairness = new Fairness({ isFull: () => false, isBehind: () => false });
  onTestFinished(() => {
    clock.mockRestore();
    fairness.close();
  });
  const done: string[] = [];
  /** Names of one call: 100 in each part, of 10 µs each, and charged as so many calls. */
  const many = (caller: string, names: number) => {
    const work = {
      isDone: false,
      step() {
        now += 1;
        for (let name = 0; name < 100; name++) done.push(caller);
        work.isDone = done.filter(one => one === caller).length >= names;
        return 100 * PRICES.call;
      },
    };
    return work;
  };
  const call = (caller: string): Job => ({
    caller: () => keyed(caller),
    work() {
      now += PRICES.call / 1_000;
      done.push(caller);
      return PRICES.call;
    },
    shed: () => void done.push(`${caller} refused`),
    isProxy: false,
  });
  const answer = (caller: string) => () => {
    now += 0.1;
    done.push(caller);
  };
  return { fairness, done, many, call, answer };
}

test('where nobody waits the work of a long call is done a part at a time, with turns of the event loop between', async () => {
  const { fairness, done, many } = world();
  const work = many('a', 1_000);
  takeTurns(fairness, keyed('a'), work);
  expect(done).toHaveLength(100);
  await eventually('all is done', () => work.isDone);
  expect(done).toHaveLength(1_000);
});

test.each([
  [20, 50],
  [200, 20],
])(
  'a call with a thousand names waits its turns as a thousand calls do, beside %i others with %i each',
  async (keys, calls) => {
    const { fairness, done, many, call } = world();
    // All of them wait while new connections come.
    fairness.accepted();
    const works = ['many1', 'many2'].map(name => ({ name, work: many(name, 1_000) }));
    for (const { name, work } of works) takeTurns(fairness, keyed(name), work);
    const others = Array.from({ length: keys }, (_, at) => `other ${at}`);
    for (const name of others) for (let one = 0; one < calls; one++) fairness.arrive(call(name));
    await eventually('all is done', () => works.every(({ work }) => work.isDone));
    // Others had 5 calls in each round, so 10 rounds at the most; 100 names are the share of 20.
    const end = done.findLastIndex(name => name.startsWith('other'));
    expect(done.filter(name => name.startsWith('other'))).toHaveLength(keys * calls);
    for (const { name } of works)
      expect(done.slice(0, end).filter(one => one === name).length).toBeLessThanOrEqual(100);
  },
);

test('a thousand calls that waited for the same thing are answered in many turns, and other callers in between', async () => {
  const { fairness, done, call, answer } = world();
  for (let one = 0; one < 1_000; one++) takeTurns(fairness, keyed('greedy'), inOneGo(100, answer('greedy')));
  fairness.arrive(call('other'));
  // 10 ms of 0.1 ms each.
  expect(done.length).toBeLessThanOrEqual(101);
  await eventually('all are answered', () => done.length === 1_001);
  expect(done.indexOf('other')).toBeLessThanOrEqual(300);
});

test('what was counted is not refused, however many of its kind wait', async () => {
  const { fairness, many, call } = world();
  fairness.accepted();
  const works = Array.from({ length: 300 }, (_, at) => many(`greedy ${at}`, 200));
  for (const work of works) takeTurns(fairness, keyed('greedy'), work);
  for (let one = 0; one < 50; one++) fairness.arrive(call('other'));
  await eventually('all is done', () => works.every(({ isDone }) => isDone), 20_000);
});

test("beside two keys with a thousand names under way, another key's calls are served no later than beside a thousand calls of each", async () => {
  const lastServedBeside = async (others: 'names' | 'calls') => {
    const { fairness, done, many, call } = world();
    fairness.accepted();
    for (const name of ['first', 'second']) {
      if (others === 'names') takeTurns(fairness, keyed(name), many(name, 1_000));
      else for (let one = 0; one < 1_000; one++) fairness.arrive(call(name));
    }
    const since = performance.now();
    let lastMs = 0;
    for (let one = 0; one < 200; one++) {
      const job = call('single');
      const work = (until: number) => {
        const price = job.work(until);
        lastMs = performance.now() - since;
        return price;
      };
      fairness.arrive({ ...job, work });
    }
    await eventually('all are served', () => done.filter(name => name === 'single').length === 200);
    return lastMs;
  };
  expect(await lastServedBeside('names')).toBeLessThanOrEqual(await lastServedBeside('calls'));
});
