import { expect, test } from 'vitest';
import { attentionOf, dnsWord } from '../console/src/attention.ts';
import type { Keys } from '../console/src/wire.ts';
import { NO_VERDICTS } from '../src/core/mix.ts';

type ListedKey = Keys['keys'][number];

const NOW = Date.UTC(2026, 10, 16);
const QUIET = { calls: 100, verdicts: 100, flagged: 10, degraded: 4, refused: 19, failed: 0 };
const total = (parts: Partial<typeof QUIET> = {}) => ({ ...QUIET, p50_ms: 1, p99_ms: 2, ...parts });
const key = (parts: Partial<ListedKey>): ListedKey => ({
  ...{ id: 'key_1', name: 'web', shown_as: 'drk_…', note: null, quota: 10, rate: null, used: 8, days: [] },
  ...{ origins: [], networks: [], created_at: '', expires_at: null, revoked_at: null },
  ...{ previous_until: null, last_used_at: null, verdicts: NO_VERDICTS },
  ...parts,
});
const titles = (seen: Partial<Parameters<typeof attentionOf>[0]>) =>
  attentionOf({ total: total(), keys: [], dns: [], failingFeeds: [], now: NOW, ...seen }).map(
    ({ tone, title }) => `${tone}: ${title}`,
  );

test.each([
  ['a quiet hour', {}, []],
  ['no call at all', { total: total({ calls: 0, verdicts: 0, degraded: 0, refused: 0 }) }, []],
  ['a failure', { total: total({ failed: 1 }) }, ['error: 1 call failed (5xx)']],
  ['DNS trouble', { total: total({ degraded: 5 }) }, ['warning: 5 % of the verdicts are degraded']],
  ['many refusals', { total: total({ refused: 20 }) }, ['info: 20 % of the calls were refused']],
  ['a list that fails', { failingFeeds: ['castle'] }, ['warning: castle could not be updated']],
  ['a key within its quota', { keys: [key({})] }, []],
  ['one near its end', { keys: [key({ used: 9 })] }, ['info: web has used 90 % of its quota']],
  ['one that used it up', { keys: [key({ used: 10 })] }, ['warning: web has used 100 % of its quota']],
  ['a revoked one', { keys: [key({ used: 10, revoked_at: '2026-11-01T00:00:00Z' })] }, []],
  ['one without calls', { keys: [key({ used: 0, quota: 0 })] }, []],
  ['one that has expired', { keys: [key({ expires_at: '2026-11-15T00:00:00Z' })] }, []],
  ['one that lasts', { keys: [key({ expires_at: '2026-11-23T00:00:00Z' })] }, []],
] as const)('%s', (_what, seen, expected) => {
  expect(titles(seen)).toEqual(expected);
});

test('of three hundred keys the first few are told, the worst of them first, and how many more there are', () => {
  const keys = Array.from({ length: 300 }, (_, at) =>
    key({ id: `${at}`, name: `trial ${at}`, used: at < 299 ? 9 : 10 }),
  );
  const all = titles({ keys });
  expect(all).toHaveLength(6);
  expect(all[0]).toBe('warning: trial 299 has used 100 % of its quota');
  expect(all.at(-1)).toBe('info: 295 more about keys');
});

const PROBLEM = { address: '192.0.2.1:53', problem: 'does not answer' };
test.each([
  ['OK', { isDegraded: false, problems: [] }, { verdicts: 100, degraded: 4 }],
  ['Unknown', undefined, { verdicts: 100, degraded: 4 }],
  ['Failing', undefined, { verdicts: 10, degraded: 10 }],
  ['Failing', { isDegraded: false, problems: [] }, { verdicts: 10, degraded: 10 }],
  ['Failing', { isDegraded: true, problems: [] }, { verdicts: 0, degraded: 0 }],
  ['Not trusted', { isDegraded: true, problems: [PROBLEM] }, { verdicts: 0, degraded: 0 }],
])('DNS is %s with %j and %j', (word, dns, seen) => {
  expect(dnsWord(dns, seen)).toBe(word);
});

test('the worst comes first, and what ends soon is told', () => {
  const soon = key({ used: 10, expires_at: '2026-11-20T00:00:00Z' });
  const all = titles({ total: total({ refused: 90, failed: 2 }), keys: [soon] });
  expect(all.map(line => line.split(':')[0])).toEqual(['error', 'warning', 'warning', 'info']);
  expect(all.some(line => line.startsWith('warning: web expires'))).toBe(true);
});
