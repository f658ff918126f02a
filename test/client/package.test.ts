/** The package as a caller installs it: both module kinds, their types, its size, and the recipes that use it. */

import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { build } from 'vite';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildClient, CLIENT, readApi } from '../../scripts/build-client.ts';
import { bareEnvironment } from '../support/environment.ts';
import { temporaryFolder } from '../support/service.ts';
import { describeRecipes } from './recipes.ts';

beforeAll(buildClient, 60_000);

/** What a bundler makes of one line that uses the package. */
async function bundle(code: string): Promise<string> {
  const entry = 'virtual:entry';
  const client = join(CLIENT, 'dist/esm/index.js');
  const made = await build({
    configFile: false,
    // Otherwise it would read the operator's `.env`.
    envDir: false,
    logLevel: 'silent',
    plugins: [
      {
        name: 'entry',
        resolveId: id => ({ [entry]: entry, '@domain-risk/client': client })[id],
        load: id => (id === entry ? code : undefined),
      },
    ],
    build: {
      write: false,
      target: 'es2022',
      modulePreload: false,
      rolldownOptions: { input: entry, preserveEntrySignatures: 'strict' },
    },
  });
  const { output } = made as { output: { type: string; code?: string }[] };
  return output.map(chunk => chunk.code ?? '').join('');
}

describe('the package', () => {
  it('is packed as publint wants it', async () => {
    const { messages } = await publint({ pkgDir: CLIENT, strict: true });
    expect(messages).toEqual([]);
  });

  it('has types that every way of importing it finds', async () => {
    const folder = temporaryFolder();
    const args = ['pack', '--pack-destination', folder, '--loglevel=error'];
    // npm looks for a newer one of itself now and then, and says so where this says nothing.
    const env = bareEnvironment({
      HOME: folder,
      npm_config_offline: 'true',
      npm_config_update_notifier: 'false',
    });
    expect(spawnSync('npm', args, { cwd: CLIENT, env, encoding: 'utf8' }).stderr).toBe('');
    const [tarball = ''] = globSync('*.tgz', { cwd: folder });
    const check = await checkPackage(createPackageFromTarballData(readFileSync(join(folder, tarball))));
    expect(check).toMatchObject({ types: { kind: 'included' }, problems: [] });
  });

  it('can be imported and required', async () => {
    const imported = await import(join(CLIENT, 'dist/esm/index.js'));
    const required = createRequire(import.meta.url)(join(CLIENT, 'dist/cjs/index.js'));
    for (const names of [imported, required]) {
      expect(Object.keys(names).sort()).toEqual(['createClient', 'createFilter', 'domainOf']);
      expect(await names.createClient({ baseUrl: 'none', onProblem: () => {} }).isRisky('a@b.com')).toBe(
        false,
      );
    }
  });

  it.each([
    ['5 kB', '{ createClient }', 5 * 1024],
    ['6.5 kB with its filter, which not every page needs', '{ createClient, createFilter }', 6.5 * 1024],
  ])('has at most %s for a page, gzipped', async (_, names, most) => {
    const code = await bundle(`export ${names} from '@domain-risk/client';`);
    const bytes = gzipSync(code, { level: 9 }).length;
    process.stdout.write(`${names} has ${bytes} bytes, minified and gzipped (at most ${most})\n`);
    expect(bytes).toBeLessThanOrEqual(most);
    expect(code).toContain('authorization');
  });

  it('leaves nothing behind of what is not used', async () => {
    expect(await bundle(`import '@domain-risk/client';`)).not.toMatch(/\w{3}/);
    const code = await bundle(`export { domainOf } from '@domain-risk/client';`);
    expect(code).toContain('toLowerCase');
    expect(code).not.toContain('authorization');
  });

  it('uses nothing but what every web runtime has', () => {
    const { dependencies, peerDependencies, optionalDependencies } = JSON.parse(
      readFileSync(join(CLIENT, 'package.json'), 'utf8'),
    );
    expect([dependencies, peerDependencies, optionalDependencies]).toEqual([undefined, undefined, undefined]);
    // The compiler sees to the names of Node and of pages: its settings know a web worker only.
    const { lib, types } = JSON.parse(readFileSync(join(CLIENT, 'tsconfig.json'), 'utf8')).compilerOptions;
    expect([lib, types]).toEqual([['es2022', 'webworker'], []]);
    const files = globSync('dist/*/*.js', { cwd: CLIENT });
    expect(files.length).toBeGreaterThan(15);
    for (const file of files) {
      const code = readFileSync(join(CLIENT, file), 'utf8');
      for (const [, name] of code.matchAll(/(?:from |require\(|import\()\s*["']([^"']+)/g)) {
        expect(name, file).toMatch(/^\.\/\w+\.js$/);
      }
    }
  });

  it('has a reference that is as its types are', () => {
    const message = 'run `npm run build:client`';
    expect(readFileSync(join(CLIENT, 'API.md'), 'utf8'), message).toBe(readApi());
    const index = readFileSync(join(CLIENT, 'src/index.ts'), 'utf8');
    const names = [...index.matchAll(/\{([^}]*)\}/g)].flatMap(([, list = '']) => list.match(/\w+/g) ?? []);
    expect(
      readApi()
        .match(/^## (\w+)$/gm)
        ?.map(line => line.slice(3))
        .sort(),
    ).toEqual(names.sort());
  });
});

describeRecipes();
