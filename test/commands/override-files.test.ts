import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseOverrides } from '../../src/core/override-file.ts';
import { ACT } from '../support/act.ts';
import { run, runJson } from '../support/process.ts';
import { sharedService, temporaryFolder } from '../support/service.ts';

const shared = sharedService();
const beside = () => ({ folder: shared().folder });

function file(text: string): string {
  const path = join(temporaryFolder(), 'ours.csv');
  writeFileSync(path, text);
  return path;
}

test('thousands of overrides are imported at once, and a running server knows them with its next call', async () => {
  const { store, get, key } = shared();
  const { secret } = await key();
  const lines = Array.from({ length: 5_000 }, (_, at) => `own-${at}.com,deny,yes,"a, b"\n`);
  // Of an export that was kept for a while.
  const ended = 'gone.com,deny,yes,,2026-01-01\n';
  const path = file(`domain,action,below,note,expires_at\n${lines.join('')}${ended}`);
  const dry = await runJson(['overrides', 'import', path, '--dry-run'], beside());
  expect(dry).toEqual({ dry_run: true, added: 5_000, changed: 0, replaced: [], unchanged: 0, expired: 1 });
  expect([...(await store.listOverrides()).overrides]).toEqual([]);

  const done = await run(['overrides', 'import', path], beside());
  expect(done).toMatchObject({ code: 0, stderr: '' });
  expect(done.stdout).toBe('5000 added, 0 changed, 0 unchanged, 1 left out that have expired\n');
  const answer = await get('/v1/public/domain/x.own-4999.com', secret);
  expect(await answer.json()).toMatchObject({ reason: 'disposable', risk_score: 100 });
  expect(await store.audit(1)).toMatchObject([
    { action: 'override.import', subject: 'ours.csv', detail: '5000 added, 0 changed' },
  ]);

  const { stdout } = await run(['overrides', 'export'], beside());
  expect(stdout.split('\n')).toHaveLength(5_002);
  const again = file(stdout.replace('own-7.com,deny', 'own-7.com,allow'));
  expect(await runJson(['overrides', 'import', again], beside())).toMatchObject({
    changed: 1,
    unchanged: 4_999,
  });
});

test('what never ends is read as far as an import may be large, and refused', async () => {
  const { code, stderr } = await run(['overrides', 'import', '/dev/zero'], beside());
  expect([code, stderr]).toEqual([1, 'domain-risk: /dev/zero is larger than 16 MiB\n']);
});

test('what an import replaces is shown, and the audit keeps what it was; of too many only on your word', async () => {
  const { store } = shared();
  const word = { domain: 'kept.com', action: 'allow', below: true, note: 'ask Ann', author: 'ann' } as const;
  await store.setOverride({ ...word, createdAt: 1, expiresAt: null }, ACT);
  const [was, now] = ['allow, with subdomains, note "ask Ann", by ann', 'deny, by bob'];
  const path = file('domain,action,author\nkept.com,deny,bob\n');
  const dry = await runJson(['overrides', 'import', path, '--dry-run'], beside());
  expect(dry).toMatchObject({ replaced: [{ domain: 'kept.com', was, now }] });
  const { stdout } = await run(['overrides', 'import', path], beside());
  expect(stdout).toMatch(/kept\.com +allow, .*ann +deny, by bob/);
  const kept = { action: 'override.set', subject: 'kept.com', detail: `${was} → ${now}` };
  expect(await store.audit(2)).toContainEqual(expect.objectContaining(kept));

  const many = Array.from({ length: 1_001 }, (_, at) => `own-${at}.com,allow,yes\n`);
  const args = ['overrides', 'import', file(`domain,action,below\n${many.join('')}`)];
  const refused = await run(args, beside());
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  expect(refused.stderr).toContain(
    '"domain-risk overrides export > before.csv", then import with --replace-all',
  );
  expect(await store.audit(1)).toMatchObject([{ detail: '0 added, 1 changed' }]);
  const lines = (await run([...args, '--dry-run'], beside())).stdout.split('\n');
  expect([lines.length, lines[0]]).toEqual([1 + 1_000 + 1 + 2, expect.stringMatching(/^REPLACED/)]);
  expect(lines[1_001]).toBe('and 1 more, which --json shows');
  expect(await runJson([...args, '--replace-all'], beside())).toMatchObject({ changed: 1_001 });
});

test('more than 20,000 new ones are imported in parts; those that stand already do not count', async () => {
  const { store } = shared();
  const standing = [...(await store.listOverrides()).overrides];
  const lines = Array.from({ length: 20_001 }, (_, at) => `more-${at}.com,deny\n`);
  const ended = await run(['overrides', 'import', file(`domain,action\n${lines.join('')}`)], beside());
  expect([ended.code, ended.stderr]).toEqual([1, expect.stringMatching(/20001 to add and 0 to change/)]);
  expect([...(await store.listOverrides()).overrides]).toHaveLength(standing.length);
  const { overrides, problems } = parseOverrides(`domain,action\n${lines.join('')}`, null, 0);
  expect([overrides.length, problems]).toEqual([20_001, []]);
});

test('one bad line, and nothing is imported', async () => {
  const before = [...(await shared().store.listOverrides()).overrides].length;
  const ended = await run(
    ['overrides', 'import', file('domain,action\nnew.com,deny\nb_d.com,deny\n')],
    beside(),
  );
  expect(ended).toMatchObject({ code: 1, stdout: '' });
  expect(ended.stderr).toMatch(/^domain-risk: line 3: domain: .*underscore.*\n.*nothing was imported/);
  expect([...(await shared().store.listOverrides()).overrides]).toHaveLength(before);
});
