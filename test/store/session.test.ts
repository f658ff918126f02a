import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { StoreUnavailable } from '../../src/core/ports.ts';
import { deniedOnTables } from '../../src/store/postgres/rights.ts';
import { rethrow } from '../../src/store/postgres/session.ts';

function told(error: unknown): unknown {
  try {
    return rethrow(error);
  } catch (thrown) {
    return thrown;
  }
}

function said(code: string): pg.DatabaseError {
  const error = new pg.DatabaseError('what it says', 12, 'error');
  error.code = code;
  return error;
}

describe('what PostgreSQL says', () => {
  test.each([
    ['0A000', 'it has no such feature'],
    ['21000', 'a row comes twice where one may'],
    ['22003', 'a number is out of range'],
    ['23505', 'a row is there already'],
    ['25001', 'a transaction is open'],
    ['25P01', 'no transaction is open'],
    ['25P02', 'the transaction has failed'],
    ['42601', 'a syntax error'],
    ['42P01', 'no such table'],
  ])('%s (%s) is a fault of ours, with its stack', code => {
    const error = said(code);
    expect(told(error)).toBe(error);
  });

  test.each([
    ['08006', 'the connection broke'],
    ['08P01', 'what a pooler says where it has no place'],
    ['25006', 'it only reads'],
    ['25P03', 'it ended an idle transaction'],
    ['25P04', 'it ended a long transaction'],
    ['40001', 'two changes met'],
    ['42501', 'this role may not'],
    ['53300', 'too many connections'],
    ['55P03', 'a lock was not to be had'],
    ['57014', 'it took too long'],
    ['57P01', 'it is shutting down'],
    ['58030', 'its disk'],
    ['XX000', 'a fault of its own'],
  ])('%s (%s) means that the store is unavailable', code => {
    const error = said(code);
    expect(told(error)).toBeInstanceOf(StoreUnavailable);
    expect((told(error) as StoreUnavailable).cause).toBe(error);
  });
});

test('08P01 is a fault of ours where PostgreSQL itself says it: a pooler names no routine', () => {
  const error = said('08P01');
  error.routine = 'exec_bind_message';
  expect(told(error)).toBe(error);
});

test('what the driver cannot send is a fault of ours, and a way that is cut is not', () => {
  for (const error of [new TypeError('x'), new RangeError('x')]) expect(told(error)).toBe(error);
  expect(told(Object.assign(new Error('x'), { code: 'ECONNRESET' }))).toBeInstanceOf(StoreUnavailable);
  const unavailable = new StoreUnavailable('x');
  expect(told(unavailable)).toBe(unavailable);
});

describe('whose tables they are, where that cannot be asked', () => {
  const asking = (error: Error) => deniedOnTables({ query: () => Promise.reject(error) });

  test('since nobody is let in is nothing that can be told', async () => {
    expect(await asking(new StoreUnavailable('the connection broke'))).toBeUndefined();
  });

  test('since our own code stumbles is no such thing: it has its stack', async () => {
    await expect(asking(new TypeError('ours'))).rejects.toThrow(TypeError);
  });
});
