import type { Outcome } from './browser.mjs';

export function runInWorkerd(
  program: string,
  tools: object,
): Promise<{ readonly suite: Outcome; readonly visits: Outcome }>;
