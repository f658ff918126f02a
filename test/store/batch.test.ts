import { describe, expect, onTestFinished, test } from 'vitest';
import type { Spent } from '../../src/core/ports.ts';
import { Batcher, type BatchParts } from '../../src/store/batch.ts';
import type { SpendGroup, SpendResult } from '../../src/store/spend-group.ts';
import { eventually, hold, pause, turn } from '../support/scale.ts';

const DAY = '2026-11-16';

/** A store that counts when the test says so. */
function batching(atOnce = 1, deadlineMs = 900, whenHeld?: BatchParts['whenHeld']) {
  const commits: {
    groups: readonly SpendGroup[];
    ms: number;
    done: PromiseWithResolvers<readonly SpendResult[]>;
  }[] = [];
  const batcher = new Batcher({
    atOnce,
    deadlineMs,
    ...(whenHeld && { whenHeld }),
    count(groups, ms) {
      const done = Promise.withResolvers<readonly SpendResult[]>();
      commits.push({ groups, ms, done });
      return done.promise;
    },
  });
  const told: string[] = [];
  /** Commits that had begun when each was told. */
  const begun: number[] = [];
  const call = (keyId = 'a', quota: number | null = null, revision = 1) =>
    batcher.spend({ keyId, day: DAY, quota }, revision, {
      resolve(spent) {
        begun.push(commits.length);
        told.push(`${keyId} ${spoken(spent)}`);
      },
      reject: error => told.push(`${keyId} ${error.message}`),
    });
  const grantAll = (at: number) =>
    commits[at]!.done.resolve(commits[at]!.groups.map(({ calls }) => ({ granted: calls, used: calls })));
  return { batcher, commits, told, begun, call, grantAll };
}

const spoken = (spent: Spent) => (spent.outcome === 'changed' ? 'changed' : `${spent.outcome} ${spent.used}`);

async function turns(count: number): Promise<void> {
  for (let one = 0; one < count; one++) await turn();
}

describe('answers that take long', () => {
  /** Calls of one key, whose answers take 4 ms each. */
  function slow(batcher: Batcher, count: number, told: string[], name: string): void {
    for (let one = 0; one < count; one++)
      batcher.spend({ keyId: name, day: DAY, quota: null }, 1, {
        resolve(spent) {
          hold(4);
          told.push(`${name} ${spoken(spent)}`);
        },
        reject: () => told.push('failed'),
      });
  }

  test('leave others their turn of the event loop, and are given in order for each key, keys in turn', async () => {
    const { batcher, told, commits, grantAll } = batching(2);
    slow(batcher, 40, told, 'a');
    await turns(2);
    slow(batcher, 4, told, 'b');
    await turns(2);
    grantAll(0);
    grantAll(1);
    expect(commits).toHaveLength(2);
    const most: number[] = [];
    for (let before = 0; told.length < 44; before = told.length) {
      await turn();
      most.push(told.length - before);
    }
    expect(Math.max(...most)).toBeLessThan(20);
    const of = (name: string) => told.filter(one => one.startsWith(name));
    const granted = (name: string, count: number) =>
      Array.from({ length: count }, (_, at) => `${name} granted ${at + 1}`);
    expect([of('a'), of('b')]).toEqual([granted('a', 40), granted('b', 4)]);
    // Not behind all of the other's, which was counted before.
    expect(told.indexOf('b granted 4')).toBeLessThan(20);
  });

  test('have their key told to be behind while they are many, and no other one', async () => {
    const { batcher, told, grantAll } = batching();
    for (let one = 0; one < 300; one++)
      batcher.spend({ keyId: 'many', day: DAY, quota: null }, 1, {
        resolve() {
          if (one < 8) hold(2);
          told.push('many');
        },
        reject: () => {},
      });
    for (let one = 0; one < 8; one++) slow(batcher, 1, told, 'few');
    await turns(2);
    expect(batcher.isBehind()).toBe(false);
    grantAll(0);
    // In front of the first turn of what is left.
    await turn();
    expect(told.length).toBeLessThan(8);
    expect([batcher.isBehind(), batcher.isBehind('many'), batcher.isBehind('few')]).toEqual([
      true,
      true,
      false,
    ]);
    await eventually('all are told', () => told.length === 308);
    expect([batcher.isBehind(), batcher.isBehind('many'), batcher.isBehind('few')]).toEqual([
      false,
      false,
      false,
    ]);
  });

  test('leave others their turn where each is of a key of its own, too', async () => {
    const { batcher, told, grantAll } = batching();
    for (let key = 0; key < 40; key++) slow(batcher, 1, told, `key ${key}`);
    await turns(2);
    grantAll(0);
    const most: number[] = [];
    for (let before = 0; told.length < 40; before = told.length) {
      await turn();
      most.push(told.length - before);
    }
    expect(Math.max(...most)).toBeLessThan(20);
  });

  test('one that fails in the middle keeps none of the rest from theirs', async () => {
    const { batcher, told, grantAll } = batching();
    const failures: unknown[] = [];
    const before = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException');
    process.once('uncaughtException', error => failures.push(error));
    onTestFinished(() => {
      for (const one of before) process.on('uncaughtException', one);
    });
    slow(batcher, 6, told, 'a');
    batcher.spend({ keyId: 'a', day: DAY, quota: null }, 1, {
      resolve() {
        throw new Error('ours');
      },
      reject: () => {},
    });
    slow(batcher, 6, told, 'a');
    await turns(2);
    grantAll(0);
    while (told.length < 12) await turn();
    await turns(2);
    expect(failures).toEqual([new Error('ours')]);
  });
});

describe('a commit', () => {
  test('begins when a turn of the event loop brings no more calls, without waiting for a timer', async () => {
    const { commits, call } = batching();
    call();
    call();
    expect(commits).toEqual([]);
    await turns(2);
    expect(commits.map(({ groups }) => groups[0]!.calls)).toEqual([2]);
  });

  test('begins at once where 16 calls wait, though each turn brings more', async () => {
    const { commits, call } = batching();
    for (let one = 0; one < 16; one++) call();
    await turns(1);
    expect(commits.map(({ groups }) => groups[0]!.calls)).toEqual([16]);
  });

  test('begins after a millisecond, though each turn brings more', async () => {
    const { commits, call } = batching();
    const until = performance.now() + 1_000;
    let calls = 0;
    while (commits.length === 0 && performance.now() < until) {
      call();
      calls++;
      hold(0.2);
      await turn();
    }
    expect(commits.map(({ groups }) => groups[0]!.calls)).toEqual([calls]);
    expect(calls).toBeLessThan(16);
  });

  test('of calls that came meanwhile begins before the answers of the one before are given', async () => {
    const { commits, told, begun, call, grantAll } = batching();
    call();
    await turns(3);
    call('b');
    await turns(3);
    expect([commits.length, told]).toEqual([1, []]);
    grantAll(0);
    await turn();
    expect([begun, told]).toEqual([[2], ['a granted 1']]);
    grantAll(1);
    await turn();
    expect(told).toEqual(['a granted 1', 'b granted 1']);
  });

  test('behind one that took all the time that a call has still gets what a healthy store needs', async () => {
    const { commits, call, grantAll } = batching(1, 10);
    call();
    await turns(3);
    call('b');
    await pause(30);
    grantAll(0);
    await turn();
    expect(commits.map(({ ms }) => ms)[1]).toBe(50);
  });

  test('has one group for each key, revision and month', async () => {
    const { commits, call } = batching();
    for (const [key, revision] of [
      ['a', 1],
      ['b', 1],
      ['a', 2],
      ['a', 1],
      ['a', 1],
    ] as const)
      call(key, null, revision);
    await turns(3);
    expect(commits[0]!.groups.map(({ keyId, revision, calls }) => [keyId, revision, calls])).toEqual([
      ['a', 1, 3],
      ['b', 1, 1],
      ['a', 2, 1],
    ]);
  });

  test('may be under way beside another where two may be, and no third', async () => {
    const { commits, call } = batching(2);
    for (let one = 0; one < 3; one++) {
      call();
      await turns(3);
    }
    expect(commits).toHaveLength(2);
  });
});

describe('a call with several names', () => {
  const several = (
    names: number,
    { batcher, told }: ReturnType<typeof batching>,
    quota: number | null = 10,
  ) =>
    batcher.spend({ keyId: 'a', day: DAY, quota, names }, 1, {
      resolve: spent => told.push(`${names} ${spoken(spent)}`),
      reject: error => told.push(`${names} ${error.message}`),
    });
  const wholes = ({ commits }: ReturnType<typeof batching>) =>
    commits.map(({ groups }) => groups.map(({ whole = 0, calls }) => [whole, calls]));

  test('shares its commit with others, which are counted behind it', async () => {
    const world = batching();
    world.call('a', 10);
    several(3, world);
    several(2, world);
    await turns(3);
    expect(wholes(world)).toEqual([[[5, 1]]]);
    world.commits[0]!.done.resolve([{ granted: 6, used: 9 }]);
    await turn();
    expect(world.told).toEqual(['3 granted 6', '2 granted 8', 'a granted 9']);
  });

  test('that does not fit with others is tried again without those that do not fit alone', async () => {
    const world = batching();
    several(6, world);
    several(3, world);
    several(20, world);
    several(4, world);
    world.call('a', 10);
    await turns(3);
    expect(wholes(world)).toEqual([[[33, 1]]]);
    // One was used before: the plain call made it two.
    world.commits[0]!.done.resolve([{ granted: 1, used: 2 }]);
    await turns(3);
    expect(world.told).toEqual(['20 exhausted 2', 'a granted 2']);
    // Who comes meanwhile waits behind them.
    several(2, world);
    expect(wholes(world)[1]).toEqual([[6, 0]]);
    world.commits[1]!.done.resolve([{ granted: 6, used: 8 }]);
    await turns(3);
    expect(wholes(world)[2]).toEqual([[7, 0]]);
    world.commits[2]!.done.resolve([{ granted: 0, used: 8 }]);
    await turns(3);
    expect(world.told.slice(2)).toEqual(['6 granted 8', '3 exhausted 8', '4 exhausted 8']);
    expect(wholes(world)[3]).toEqual([[2, 0]]);
    world.commits[3]!.done.resolve([{ granted: 2, used: 10 }]);
    await turns(3);
    expect(world.told.at(-1)).toBe('2 granted 10');
    expect(world.commits).toHaveLength(4);
    // Each round has its time: with the least of it a busy disk fails who was left for the next.
    expect(Math.min(...world.commits.map(({ ms }) => ms))).toBeGreaterThan(500);
  });

  test('is told that the revision has moved on, or that nobody knows', async () => {
    const world = batching();
    several(3, world);
    several(4, world);
    await turns(3);
    world.commits[0]!.done.resolve(['changed']);
    await turn();
    several(5, world, null);
    await turns(3);
    world.commits[1]!.done.reject(new Error('gone'));
    await turn();
    expect(world.told).toEqual(['3 changed', '4 changed', '5 gone']);
  });
});

describe('a call', () => {
  test('is granted in its order, each with the count after it, and the rest are refused', async () => {
    const { commits, told, call } = batching();
    for (let one = 0; one < 4; one++) call('a', 10);
    await turns(3);
    commits[0]!.done.resolve([{ granted: 2, used: 10 }]);
    // In one turn, unless others have the processor in the middle of it.
    await eventually('all are told', () => told.length === 4);
    expect(told).toEqual(['a granted 9', 'a granted 10', 'a exhausted 10', 'a exhausted 10']);
  });

  test('is told that the revision has moved on, or that nobody knows whether it was counted', async () => {
    const { commits, told, call } = batching();
    call();
    await turns(3);
    commits[0]!.done.resolve(['changed']);
    await turn();
    call();
    await turns(3);
    commits[1]!.done.reject(new Error('gone'));
    await turn();
    expect(told).toEqual(['a changed', 'a gone']);
    call();
    await turns(3);
    expect(commits).toHaveLength(3);
  });

  test('that fails when it is told keeps no other from its answer, and ends the process behind them', async () => {
    const { batcher, told, call, grantAll } = batching();
    const thrown: unknown[] = [];
    const others = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException');
    process.on('uncaughtException', error => thrown.push(error.message));
    onTestFinished(() => {
      process.removeAllListeners('uncaughtException');
      for (const one of others) process.on('uncaughtException', one);
    });
    const resolve = () => {
      throw new Error('a fault of ours');
    };
    batcher.spend({ keyId: 'a', day: DAY, quota: null }, 1, { resolve, reject: () => {} });
    call();
    await turns(3);
    grantAll(0);
    await turns(2);
    expect(told).toEqual(['a granted 2']);
    expect(thrown).toEqual(['a fault of ours']);
  });
});

describe('a group whose row somebody holds', () => {
  test('is counted by another, all calls of it, within what is left of their time', async () => {
    const apart = batching();
    const usual = batching(1, 900, (group, ms) => apart.batcher.take(group, ms));
    apart.call('b');
    await turns(2);
    apart.call('c');
    usual.call('a');
    usual.call('a');
    const several: string[] = [];
    const waiter = { resolve: (spent: Spent) => void several.push(spoken(spent)), reject: () => {} };
    usual.batcher.spend({ keyId: 'a', day: DAY, quota: 9, names: 3 }, 1, waiter);
    usual.call('d');
    await turns(2);
    await pause(300);
    usual.commits[0]!.done.resolve(['held', { granted: 1, used: 1 }]);
    await turns(1);
    expect(usual.told).toEqual(['d granted 1']);
    apart.grantAll(0);
    await turns(2);
    expect(apart.commits[1]!.groups).toMatchObject([{ keyId: 'c' }, { keyId: 'a', calls: 2, whole: 3 }]);
    expect(apart.commits[1]!.ms).toBeLessThan(620);
    apart.commits[1]!.done.resolve([
      { granted: 1, used: 1 },
      { granted: 5, used: 5 },
    ]);
    await turns(2);
    expect([apart.told, usual.told, several]).toEqual([
      ['b granted 1', 'c granted 1'],
      ['d granted 1', 'a granted 4', 'a granted 5'],
      ['granted 3'],
    ]);
  });

  test('is refused where nobody else takes it, and no other with it', async () => {
    const { call, commits, told } = batching();
    call('a');
    call('b');
    await turns(2);
    commits[0]!.done.resolve(['held', { granted: 1, used: 1 }]);
    await turns(1);
    expect(told).toEqual(['a somebody else holds the row of this key', 'b granted 1']);
  });
});
