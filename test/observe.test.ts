import type { Logger } from 'pino';
import { expect, test } from 'vitest';
import { StoreUnavailable } from '../src/core/ports.ts';
import { createMetrics } from '../src/http/metrics.ts';
import { observeFeeds, tellOfReadiness } from '../src/observe.ts';

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

test('how long ago a list was read is told of every one that was tried, also where nobody can know it', async () => {
  const metrics = createMetrics();
  const now = Date.UTC(2026, 10, 17);
  const checks = Object.entries({ read: now - 5_000, never: null, ahead: now + 365 * 86_400_000 }).map(
    ([feed, checkedAt]) => ({ feed, checkedAt, problem: null }),
  );
  const catalog = () => ({ size: 0, status: [] }) as never;
  observeFeeds(metrics, catalog, { checks: () => checks as never }, () => now);
  const { body } = await metrics.text();
  expect(body.match(/^domain_risk_feed_checked_age_seconds.*$/gm)).toEqual([
    'domain_risk_feed_checked_age_seconds{feed="read"} 5',
    'domain_risk_feed_checked_age_seconds{feed="never"} +Inf',
    'domain_risk_feed_checked_age_seconds{feed="ahead"} +Inf',
  ]);
});
