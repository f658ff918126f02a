/** What a long command shows of its progress. */

import { afterEach, expect, test, vi } from 'vitest';
import { startProgress } from '../../src/commands/print.ts';

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
