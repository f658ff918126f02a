import { userInfo } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { actor, operateOn } from '../../src/commands/world.ts';
import { digestOf } from '../../src/core/key.ts';
import type { MadeKey as OwnKey } from '../../src/operate.ts';
import { type MadeKey, openBeside, run, runJson } from '../support/process.ts';
import { temporaryFolder } from '../support/service.ts';

interface ShownAct {
  readonly at: string;
  readonly who: string;
  readonly via: string;
  readonly action: string;
  readonly subject: string;
  readonly detail: string | null;
}

test('every change by a command stands in the audit: who, what, and how it was before; never a secret', async () => {
  const folder = temporaryFolder();
  const began = new Date(Math.floor(Date.now() / 1000) * 1000).toISOString();
  const { id, key } = await runJson<MadeKey>(
    ['keys', 'create', '--name', 'web "shop"', '--quota', '100', '--network', '192.0.2.0/24'],
    { folder },
  );
  const store = await openBeside(folder);
  const operate = operateOn(store);
  await operate.updateKey(id, { quota: 200, origins: ['https://a.example'] }, actor());
  const rotated = (await operate.rotateKey(id, { overlap: 0 }, actor())) as { secret: string };
  await operate.revokeKey(id, actor());
  const set = [
    'overrides',
    'set',
    'a.example',
    'deny',
    '--below',
    '--note',
    'why',
    '--expires',
    '2099-01-31',
  ];
  await runJson([...set, '--author', 'the board'], { folder });
  await operate.removeOverride('a.example', actor());
  expect(await operate.removeOverride('a.example', actor())).toMatchObject({ problem: 'not_found' });
  const copy = join(temporaryFolder(), 'copy.db');
  await store.backup(copy, () => {});
  await runJson(['restore', copy, '--yes'], { folder });

  const acts = await runJson<ShownAct[]>(['audit'], { folder });
  expect(acts.map(({ action, subject, detail }) => [action, subject, detail])).toEqual([
    ['store.restore', 'copy.db', 'nothing to change'],
    [
      'override.remove',
      'a.example',
      'deny, with subdomains, until 2099-01-31T00:00:00Z, note "why", by the board',
    ],
    ['override.set', 'a.example', 'deny, with subdomains, until 2099-01-31T00:00:00Z, note "why"'],
    ['key.revoke', id, 'name "web \\"shop\\""'],
    ['key.rotate', id, 'the old secret ends at once'],
    ['key.update', id, 'quota 100 → 200, origins any → https://a.example'],
    ['key.create', id, 'name "web \\"shop\\"", quota 100, networks 192.0.2.0/24'],
  ]);
  for (const { at, who, via } of acts) {
    expect([who, via]).toEqual([userInfo().username, 'command line']);
    expect(at).toMatch(/^\d{4}-\d\d-\d\dT[\d:]{8}Z$/);
    expect(Date.parse(at)).toBeGreaterThanOrEqual(Date.parse(began));
  }
  const text = JSON.stringify(acts);
  for (const secret of [key, rotated.secret]) {
    expect(text).not.toContain(secret);
    expect(text).not.toContain(digestOf(secret));
  }
});

test('for people there is a table, and no text in it drives the terminal', async () => {
  const folder = temporaryFolder();
  const store = await openBeside(folder);
  await runJson(['overrides', 'set', 'a.example', 'allow'], { folder });
  await store.removeOverride('a.example', {
    at: Date.UTC(2099, 0, 1),
    who: '\x1b[31mred',
    via: '192.0.2.1',
    action: 'override.remove',
    subject: 'a.example',
    detail: null,
  });
  const { key } = (await operateOn(store).createKey({ name: 'web "shop"' }, actor())) as OwnKey;
  const { code, stdout } = await run(['audit'], { folder });
  expect(code).toBe(0);
  // A key has a name for people, and its id is what commands take.
  expect(stdout).toMatch(new RegExp(` key\\.create +web "shop" \\(${key.id}\\)`));
  expect((await run(['audit', '--limit', '1'], { folder })).stdout.trim().split('\n')).toHaveLength(2);
  expect(stdout).toMatch(
    /^AT +WHO +VIA +ACTION +SUBJECT +DETAIL\n2099-01-01T00:00:00Z +�\[31mred +192\.0\.2\.1 /,
  );
  expect(stdout).toMatch(/^\S+Z +\S+ +command line +override\.set +a\.example +allow$/m);
  expect((await run(['audit', '--limit', '0'], { folder })).code).toBe(2);
});
