import type { Logger } from 'pino';
import { expect, test } from 'vitest';
import { StoreUnavailable } from '../src/core/ports.ts';
import { tellOfReadiness } from '../src/observe.ts';

test('why the service is not ready is told once for each reason, and once that it is ready again', () => {
  const lines: unknown[] = [];
  const on = (level: string) => (first: unknown, message?: string) =>
    void lines.push([level, message ?? first]);
  const tell = tellOfReadiness({
    info: on('info'),
    warn: on('warn'),
    error: on('error'),
  } as unknown as Logger);
  const away = new StoreUnavailable('disk I/O error');
  tell(undefined);
  expect(lines).toEqual([]);
  for (let probe = 0; probe < 3; probe++) tell('the store does not answer', away);
  tell('the store failed', new TypeError('ours'));
  for (let probe = 0; probe < 3; probe++) tell(undefined);
  tell('the store does not answer', away);
  expect(lines).toEqual([
    ['warn', 'not ready: the store does not answer'],
    ['error', 'not ready: the store failed'],
    ['info', 'ready again'],
    ['warn', 'not ready: the store does not answer'],
  ]);
});
