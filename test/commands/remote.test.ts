import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run, runJson } from '../support/process.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';

test('lookup --url asks a running service with the key from a file, and says what went wrong', async () => {
  const service = await startTestService();
  const { key, secret } = await service.key({ quota: 3 });
  const folder = temporaryFolder();
  const keyFile = join(folder, 'key');
  writeFileSync(keyFile, `${secret}\n`);
  const lookup = ['lookup', 'yopmail.com', '--url', service.base];
  const asked = [...lookup, '--key-file', keyFile];

  expect(await runJson(asked, { folder })).toEqual({
    domain: 'yopmail.com',
    risk_score: 100,
    reason: 'disposable',
    is_free_provider: false,
    is_corporate_email: false,
    mx_provider_label: 'YOPmail',
  });
  const shown = await run([...asked, '--explain'], { folder });
  expect(shown.code).toBe(0);
  expect(shown.stdout).toMatch(/risk_score +100\n/);
  expect(shown.stdout).toMatch(/1 of 3 left/);
  expect(shown.stdout).toMatch(/verified_list +100/);
  expect(await service.used(key)).toBe(2);

  expect(await run(lookup, { folder })).toMatchObject({ code: 2, stdout: '' });
  expect(await run([...lookup, '--key-file', join(folder, 'none')], { folder })).toMatchObject({
    code: 1,
    stdout: '',
  });
  const nobody = await run(['lookup', 'a.com', '--url', 'http://127.0.0.1:1', '--key-file', keyFile], {
    folder,
  });
  expect([nobody.code, nobody.stderr]).toEqual([
    1,
    expect.stringMatching(/could not be reached \(bad port\)/),
  ]);
  writeFileSync(keyFile, 'drk_wrong');
  const refused = await run(asked, { folder });
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  expect(refused.stderr).toMatch(/API key is missing or invalid/);
});
