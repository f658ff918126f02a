import { join } from 'node:path';
import type { MessagePort } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { StoreUnavailable } from '../../src/core/ports.ts';
import type { SpendGroup } from '../../src/store/spend-group.ts';
import type { Answer } from '../../src/store/sqlite/asking.ts';
import { SharedCommits } from '../../src/store/sqlite/shared-commits.ts';
import { joinSqliteStore } from '../../src/store/sqlite/store.ts';
import { ACT } from '../support/act.ts';
import { turn } from '../support/scale.ts';
import { temporaryFolder } from '../support/service.ts';
import { spendOne } from '../support/spend.ts';
import { servedStore } from '../support/store.ts';
import { DAY, MONTH, someKey } from './contract.ts';

async function openAndJoin(others: number) {
  const path = join(temporaryFolder(), 'domain-risk.db');
  const first = await servedStore(path);
  const joined = [];
  for (let i = 0; i < others; i++) joined.push(joinSqliteStore(path, await first.share()));
  return { first, joined };
}

test('of three who count through one thread exactly the quota is granted, each with a count of its own', async () => {
  const { first, joined } = await openAndJoin(3);
  const key = someKey({ quota: 40 });
  await first.createKey(key, ACT);
  const revision = await first.revision();
  const spend = { keyId: key.id, day: DAY, quota: 40 };
  const spent = await Promise.all(
    Array.from({ length: 90 }, (_, at) => spendOne(joined[at % 3]!, spend, revision)),
  );
  const granted = spent.flatMap(one => (one.outcome === 'granted' ? [one.used] : []));
  expect(granted.sort((a, b) => a - b)).toEqual(Array.from({ length: 40 }, (_, at) => at + 1));
  expect(spent.filter(one => one.outcome === 'exhausted')).toHaveLength(50);
  expect(await joined[1]!.used(key.id, MONTH)).toBe(40);
});

test('what one of them changes, the next count of all others is told', async () => {
  const { first, joined } = await openAndJoin(2);
  const key = someKey();
  await joined[0]!.createKey(key, ACT);
  const revision = await joined[1]!.revision();
  await joined[0]!.updateKey({ ...key, revokedAt: 1 }, key, ACT);
  const spend = { keyId: key.id, day: DAY, quota: null };
  expect(await spendOne(joined[1]!, spend, revision)).toEqual({ outcome: 'changed' });
  expect(await spendOne(first, spend, revision)).toEqual({ outcome: 'changed' });
});

test('one that leaves takes nothing from the others; when the store is closed, calls fail', async () => {
  const { first, joined } = await openAndJoin(2);
  const [one, other] = joined;
  await one!.close();
  await expect(other!.ready()).resolves.toBeUndefined();
  await first.close();
  await expect(other!.revision()).rejects.toThrow(StoreUnavailable);
});

/** Ports that only have names. */
const portOf = (name: string) => name as unknown as MessagePort;
const groupOf = (keyId: string): SpendGroup => ({ keyId, day: DAY, quota: null, revision: 1, calls: 1 });

test('batches that several send at the same moment share one commit, and each has its own results', async () => {
  const commits: string[][] = [];
  const told: [string, Answer][] = [];
  const shared = new SharedCommits(
    groups => {
      commits.push(groups.map(({ keyId }) => keyId));
      return groups.map(({ keyId }) => ({ granted: 1, used: Number(keyId) }));
    },
    (answer, to) => told.push([String(to), answer]),
  );
  shared.add({ id: 7, op: 'spend', args: [[groupOf('1'), groupOf('2')]] }, portOf('a'));
  shared.add({ id: 7, op: 'spend', args: [[groupOf('3')]] }, portOf('b'));
  await turn();
  shared.add({ id: 8, op: 'spend', args: [[groupOf('4')]] }, portOf('a'));
  await turn();
  expect(commits).toEqual([['1', '2', '3'], ['4']]);
  const results = (...used: number[]) => used.map(one => ({ granted: 1, used: one }));
  expect(told).toEqual([
    ['a', { id: 7, value: results(1, 2) }],
    ['b', { id: 7, value: results(3) }],
    ['a', { id: 8, value: results(4) }],
  ]);
});

test('a commit that fails is told to everybody whose batch was in it', async () => {
  const told: [string, Answer][] = [];
  const shared = new SharedCommits(
    () => {
      throw new StoreUnavailable('the disk is full');
    },
    (answer, to) => told.push([String(to), answer]),
  );
  shared.add({ id: 1, op: 'spend', args: [[groupOf('1')]] }, portOf('a'));
  shared.add({ id: 2, op: 'spend', args: [[groupOf('1')]] }, portOf('b'));
  await turn();
  const unavailable = 'the disk is full';
  expect(told).toEqual([
    ['a', { id: 1, unavailable }],
    ['b', { id: 2, unavailable }],
  ]);
});
