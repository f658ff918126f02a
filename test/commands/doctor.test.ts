import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  backupsFinding,
  descriptorsFinding,
  diskFinding,
  feedsFinding,
} from '../../src/commands/findings.ts';
import type { FeedCheck } from '../../src/core/freshness.ts';
import { portsOf } from '../../src/http/descriptors.ts';
import { startDns } from '../support/dns.ts';
import { openBeside, run, runJson } from '../support/process.ts';
import { temporaryFolder } from '../support/service.ts';

interface Report {
  readonly findings: { readonly check: string; readonly state: string; readonly fix: string | null }[];
}

const statesIn = ({ findings }: Report) => findings.map(({ check, state }) => `${check} ${state}`);

test('the doctor finds an installation well, or says what to do', async () => {
  const folder = temporaryFolder();
  const store = await openBeside(folder);
  const dns = await startDns();
  const env = { DNS_SERVERS: dns.address, BACKUP_DIR: join(folder, 'backups') };
  const well = await runJson<Report>(['doctor'], { folder, env });
  expect(statesIn(well).filter(state => !/^(?:disk|descriptors) /.test(state))).toEqual([
    'settings ok',
    'store ok',
    'clock ok',
    'feeds warning',
    'version ok',
    'backups warning',
    'dns ok',
  ]);
  // Committed, since a full disk may still say that it is ready.
  expect(await store.lease('doctor')).toMatchObject({ dueAt: expect.any(Number) });

  // All that can be wrong at once.
  await store.showSign({ id: 'a', version: '0.0.9', host: 'a.example', startedAt: 1 });
  chmodSync(folder, 0o777);
  const ill = await run(['doctor', '--json'], { folder, env: { DNS_SERVER: '1.1.1.1' } });
  await dns.close();
  const { findings } = JSON.parse(ill.stdout) as Report;
  expect([ill.code, statesIn({ findings })]).toEqual([
    1,
    expect.arrayContaining([
      'settings warning',
      'access warning',
      'store ok',
      'version warning',
      'dns failed',
    ]),
  ]);
  expect(findings.every(({ state, fix }) => (state === 'ok') === (fix === null))).toBe(true);
  expect(ill.stderr).toMatch(/^domain-risk: dns: 127\.0\.0\.1:1 does not answer: set DNS_SERVERS/m);

  const none = await run(['doctor'], { folder: join(folder, 'none'), env: { DNS_SERVERS: '127.0.0.1:1' } });
  expect([none.code, none.stderr]).toEqual([
    1,
    expect.stringMatching(/^domain-risk: store: there is none at /m),
  ]);
});

test('space, descriptors and lists that run short are told before they are a problem', () => {
  const MIB = 2 ** 20;
  expect([10 * MIB, 500 * MIB, 5_000 * MIB].map(free => diskFinding('/srv', free).state)).toEqual([
    'failed',
    'warning',
    'ok',
  ]);
  expect([4_096, 8_192].map(most => descriptorsFinding(most).state)).toEqual(['warning', 'ok']);
  // Those of the warning are places for 5,000 strangers, one listener for operators beside them.
  expect(portsOf(1, true, 8_192).callers.mostConnections).toBeGreaterThan(5_000);
  const now = Date.UTC(2026, 10, 16);
  const daysAgo = (days: number) => now - days * 86_400_000;
  const checked = (days: number | null, problem: string | null = null) =>
    (['a', 'b'] as const).map(feed => {
      const checkedAt = feed === 'a' ? daysAgo(1) : days && daysAgo(days);
      return { feed, checkedAt, problem: feed === 'a' ? null : problem } as FeedCheck;
    });
  const feeds = (checks: FeedCheck[]) => feedsFinding(checks, ['a', 'b'], now);
  expect(feeds([])).toMatchObject({ state: 'warning', fix: expect.stringContaining('feeds update') });
  expect(feeds(checked(2)).state).toBe('ok');
  expect(feeds(checked(2, 'too small'))).toMatchObject({
    state: 'warning',
    detail: expect.stringMatching(/failing: b$/),
  });
  expect(feeds(checked(null)).detail).toMatch(/never fetched: b$/);
  expect(feeds(checked(2).slice(0, 1)).detail).toMatch(/never fetched: b$/);
  const later = feedsFinding(checked(2), ['a', 'b'], now + 4 * 86_400_000);
  expect(later.state).toBe('warning');
  const backups = (lastGood: number | string, problem: string | null = null, slot = 0) =>
    backupsFinding({ folder: '/b', everyMs: 86_400_000 }, lastGood, { slot, problem }, now);
  expect([daysAgo(1), daysAgo(3), 0, 'EACCES'].map(one => backups(one).state)).toEqual([
    ...['ok', 'failed', 'warning', 'failed'],
  ]);
  expect(backups(0, null, daysAgo(1))).toMatchObject({
    state: 'failed',
    fix: expect.stringContaining('mounted'),
  });
  for (const lastGood of [daysAgo(1), 0])
    expect(backups(lastGood, 'EROFS: read-only file system')).toMatchObject({
      state: 'failed',
      detail: expect.stringMatching(/the last try failed: EROFS: read-only file system$/),
    });
});

test('operators are added, listed and revoked by the command, each with a token that is shown once', async () => {
  const folder = temporaryFolder();
  const store = await openBeside(folder);
  const { token } = await runJson<{ token: string }>(['operators', 'add', 'Ada'], { folder });
  expect(token).toMatch(/^dro_[0-9a-f]{64}$/);
  const unnamed = await run(['operators', 'add', 'operator'], { folder });
  expect(unnamed).toMatchObject({ code: 2, stderr: expect.stringContaining('the name must be another one') });
  const twice = await run(['operators', 'add', 'Ada'], { folder });
  expect([twice.code, twice.stderr]).toEqual([1, 'domain-risk: there is an operator named "Ada" already\n']);
  await runJson(['operators', 'revoke', 'Ada'], { folder });
  const { stdout } = await run(['operators', 'list'], { folder });
  expect(stdout).toMatch(/^NAME +SINCE +STATE\nAda +\S+Z +revoked \S+Z\n$/);
  const acts = (await store.audit(9)).map(({ action, subject, who }) => [action, subject, who !== '']);
  expect(acts).toEqual([
    ['operator.revoke', 'Ada', true],
    ['operator.add', 'Ada', true],
  ]);
});

test('config shows every setting and where it came from, no secret, and fails for one that cannot be used', async () => {
  const ADMIN_TOKEN = 'canary'.repeat(8);
  const shown = await run(['config'], { folder: '/srv/none', env: { ADMIN_TOKEN } });
  expect([shown.code, shown.stderr]).toEqual([0, '']);
  expect(shown.stdout).toMatch(/^ADMIN_TOKEN +\(hidden\) +environment$/m);
  expect(shown.stdout).toMatch(/^DOCS +on +default$/m);
  expect(shown.stdout).toMatch(/^store: \/srv\/none\/domain-risk\.db$/m);
  expect(shown.stdout).not.toContain('canary');
  const bad = await run(['config', '--json'], { env: { DOCS: 'perhaps' } });
  expect([bad.code, bad.stderr]).toEqual([1, 'domain-risk: DOCS: must be one of on, off\n']);
});
