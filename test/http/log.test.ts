import type { Logger } from 'pino';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { StoreUnavailable } from '../../src/core/ports.ts';
import { createFailureLog } from '../../src/http/failures.ts';
import { createOften } from '../../src/http/often.ts';
import { newRequestId } from '../../src/http/request-id.ts';
import { createShedLog } from '../../src/http/shed.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function logged() {
  const lines: unknown[][] = [];
  const write = (...line: unknown[]) => void lines.push(line);
  return { lines, log: { warn: write, error: write } as unknown as Logger };
}

describe('lines that anybody can cause', () => {
  test('are fifty a second, and the next one tells how many were left out', () => {
    vi.advanceTimersByTime(5_000);
    const often = createOften();
    const told = Array.from({ length: 60 }, often);
    expect(told).toEqual([...Array(50).fill(0), ...Array(10).fill(undefined)]);
    vi.advanceTimersByTime(1_000);
    expect([often(), often()]).toEqual([10, 0]);
  });

  test('are none too many where few come each second', () => {
    const often = createOften();
    for (let i = 0; i < 200; i++) {
      expect(often()).toBe(0);
      vi.advanceTimersByTime(100);
    }
  });
});

test('a failure of ours is told with its request and its cause, a store that is away by its name', () => {
  const { lines, log } = logged();
  const tell = createFailureLog(log);
  const away = new StoreUnavailable('away');
  const bug = new TypeError('bug');
  tell(away, 'r1');
  tell(bug, 'r2');
  for (let i = 0; i < 100; i++) tell(bug, 'r3');
  expect(lines).toHaveLength(50);
  expect(lines.slice(0, 2)).toEqual([
    [{ err: away, request_id: 'r1', more: 0 }, 'the store is unavailable'],
    [{ err: bug, request_id: 'r2', more: 0 }, 'a request failed'],
  ]);
});

describe('calls that were refused because there were too many', () => {
  test('are told by their number, once in ten seconds', () => {
    const { lines, log } = logged();
    const shed = createShedLog(log);
    for (let i = 0; i < 7; i++) shed.note();
    vi.advanceTimersByTime(9_999);
    expect(lines).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(lines).toEqual([[{ shed: 7 }, expect.stringContaining('503')]]);
    shed.note();
    vi.advanceTimersByTime(10_000);
    vi.advanceTimersByTime(60_000);
    expect(lines.map(([count]) => count)).toEqual([{ shed: 7 }, { shed: 1 }]);
  });

  test('are told at the end, where some were not', () => {
    const { lines, log } = logged();
    const shed = createShedLog(log);
    shed.note();
    shed.close();
    shed.close();
    vi.advanceTimersByTime(60_000);
    expect(lines).toHaveLength(1);
  });
});

test('requests have names of 16 characters of which none comes twice', () => {
  const names = Array.from({ length: 2_000 }, newRequestId);
  for (const name of names) expect(name).toMatch(/^[0-9a-f]{16}$/);
  expect(new Set(names).size).toBe(2_000);
});
