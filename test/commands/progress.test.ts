/** What a long command shows of its progress, and of what it found. */

import { afterEach, expect, test, vi } from 'vitest';
import { printTable, startProgress } from '../../src/commands/print.ts';

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

test('a terminal that reports no width gets one line at the end, not a letter a line', () => {
  const said: string[] = [];
  const stderr = { isTTY: true, columns: 0, write: (text: string) => said.push(text) };
  vi.stubGlobal('process', { ...process, stderr });
  const bar = startProgress('Reading the lists');
  bar.at('one', 1, 2);
  bar.end('172,026 domains');
  expect(said).toEqual(['172,026 domains\n']);
});

function printed(rows: readonly (readonly unknown[])[]): string {
  const said: string[] = [];
  vi.stubGlobal('process', { ...process, stdout: { write: (text: string) => said.push(text) } });
  printTable(['DOMAIN', 'NOTE', 'AUTHOR'], rows);
  return said.join('');
}

test('a table looks the same whatever letters are in it', () => {
  const rows = [
    ['a.com', 'two … words ', 'op'],
    ['longer.example.com', null, ''],
  ];
  const plain = printed(rows);
  expect(plain).toBe(
    'DOMAIN              NOTE          AUTHOR\na.com               two … words   op\nlonger.example.com\n',
  );
  expect(printed([...rows, ['ü.de', 'ü', 'ü']])).toBe(`${plain}ü.de                ü             ü\n`);
});

test('a table of 20,000 rows is there at once', () => {
  const rows = Array.from({ length: 20_000 }, (_, at) => [
    `name${at}.example.com`,
    'a note about it',
    'drk_0123…abcd',
  ]);
  const { user } = process.cpuUsage();
  expect(printed(rows).split('\n')).toHaveLength(20_002);
  // 70 ms; it was 2 s (2026-11-18).
  expect(process.cpuUsage().user - user).toBeLessThan(1_000_000);
});
