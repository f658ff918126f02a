/** What generators make of the OpenAPI document: clients that compile, and that a real service understands. */

import { execFile } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isDeepStrictEqual, promisify } from 'node:util';
import { build } from 'vite';
import type { Outcome } from '../client/runtimes/browser.mjs';
import { CLIENT } from './build-client.ts';
import { installIn } from './install-in.ts';

const FOLDER = join(CLIENT, 'generators');
const MADE = join(FOLDER, 'made');
const DOCUMENT = join(MADE, 'openapi.json');
const LONGEST_MS = 180_000;

const runIn = (script: string, ...args: string[]) =>
  promisify(execFile)(process.execPath, [join(FOLDER, 'node_modules', script), ...args], {
    cwd: FOLDER,
    timeout: LONGEST_MS,
  });

/** Each with the file that uses what it made. */
const GENERATORS: Readonly<Record<string, { readonly make: () => Promise<unknown>; readonly file: string }>> =
  {
    'openapi-typescript': {
      make: () => runIn('openapi-typescript/bin/cli.js', DOCUMENT, '--output', join(MADE, 'types.d.ts')),
      file: 'openapi-fetch.ts',
    },
    '@hey-api/openapi-ts': {
      make: () =>
        runIn(
          '@hey-api/openapi-ts/bin/run.js',
          '--input',
          DOCUMENT,
          '--output',
          join(MADE, 'hey'),
          '--silent',
        ),
      file: 'hey-api.ts',
    },
  };

/** Score, first signal, rows, kind of what is left, reason, and the status and code of what is no domain. */
const EXPECTED = [100, 'verified_list', 3, 'number', 'safe', 422, 'validation_error'];

type Smoke = (baseUrl: string, key: string) => Promise<unknown[]>;

async function bundled(file: string): Promise<Smoke> {
  await build({
    root: FOLDER,
    configFile: false,
    envDir: false,
    logLevel: 'error',
    ssr: { noExternal: true },
    build: { ssr: join(FOLDER, file), outDir: join(MADE, 'run'), emptyOutDir: false, minify: false },
  });
  const made = pathToFileURL(join(MADE, 'run', file.replace('.ts', '.js')));
  return ((await import(made.href)) as { smoke: Smoke }).smoke;
}

/** One line for each generator, and one for the compiler. */
export async function* testGenerators(real: { url: string; key: string }): AsyncGenerator<[string, Outcome]> {
  installIn(FOLDER);
  rmSync(MADE, { recursive: true, force: true });
  mkdirSync(MADE);
  writeFileSync(DOCUMENT, await (await fetch(`${real.url}/openapi.json`)).text());
  for (const { make } of Object.values(GENERATORS)) await make();
  yield ['what they made compiles', await outcomeOf(() => runIn('typescript/bin/tsc', '-p', FOLDER))];
  for (const [name, { file }] of Object.entries(GENERATORS))
    yield [name, await outcomeOf(async () => expectSame(await (await bundled(file))(real.url, real.key)))];
}

function expectSame(seen: unknown[]): void {
  if (!isDeepStrictEqual(seen, EXPECTED))
    throw new Error(`${JSON.stringify(seen)} in place of ${JSON.stringify(EXPECTED)}`);
}

async function outcomeOf(work: () => Promise<unknown>): Promise<Outcome> {
  try {
    await work();
    return { passed: 1, failed: [], latest: 0 };
  } catch (error) {
    const { message, stdout = '' } = error as Error & { stdout?: string };
    return { passed: 0, failed: [`${message}\n${stdout}`], latest: 0 };
  }
}
