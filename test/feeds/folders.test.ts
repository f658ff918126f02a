/** What npm has left behind where the program was killed. */

import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename, join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { newFolder, removeLeft } from '../../src/feeds/folders.ts';
import { temporaryFolder } from '../support/service.ts';

test('folders of programs that are gone are removed, those in use and of others are not', async () => {
  const folder = temporaryFolder();
  vi.stubEnv('TMPDIR', folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  const make = (name: string, age = 0) => {
    mkdirSync(join(folder, name, 'cache'), { recursive: true });
    const at = Date.now() / 1_000 - age;
    utimesSync(join(folder, name), at, at);
    return name;
  };
  const inUse = await newFolder();
  const here = `domain-risk-feed-${hostname()}-`;
  // No process has a number beyond that.
  const killed = make(`${here}4194305-abc123`);
  const before = make(`${here}${process.pid}-abc123`);
  const old = make('domain-risk-feed-elsewhere-7-abc123', 90_000);
  const others = [
    make(`${here}${process.ppid}-abc123`),
    make('domain-risk-feed-elsewhere-8-abc123'),
    make('another-folder', 90_000),
  ];
  writeFileSync(join(folder, `${here}4194305-file`), '');
  await removeLeft(new Set([inUse]));
  const left = readdirSync(folder);
  for (const gone of [killed, before, old]) expect(left).not.toContain(gone);
  expect(left.toSorted()).toEqual([...others, basename(inUse), `${here}4194305-file`].toSorted());
});
