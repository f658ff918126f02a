/** The programs of docs/callers.md, each run where its interpreter is installed. */

import { execFile, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { bareEnvironment } from './support/environment.ts';
import { startOddService } from './support/odd-service.ts';
import { ROOT } from './support/process.ts';
import { sharedService, temporaryFolder } from './support/service.ts';

const service = sharedService();
const text = readFileSync(join(ROOT, 'docs/callers.md'), 'utf8');

interface Language {
  readonly tool: string;
  readonly file: string;
  /** What succeeds where all of it is installed. */
  readonly needs?: readonly string[];
  /** What makes the file runnable, and what is run then. */
  readonly build?: readonly string[];
  readonly built?: string;
  readonly before?: readonly string[];
  /** Its start takes seconds of two cores: `npm run test:runtimes` runs it. */
  readonly isSlow?: true;
}

const LANGUAGES: Readonly<Record<string, Language>> = {
  python: { tool: 'python3', file: 'check.py' },
  perl: { tool: 'perl', file: 'check.pl' },
  java: { tool: 'java', file: 'Check.java', isSlow: true },
  php: { tool: 'php', file: 'check.php', needs: ['php', '-r', 'exit((int) !extension_loaded("curl"));'] },
  ruby: { tool: 'ruby', file: 'check.rb' },
  go: { tool: 'go', needs: ['go', 'version'], before: ['run'], file: 'check.go', isSlow: true },
  csharp: {
    ...{ tool: 'mono', needs: ['mcs', '--version'], file: 'Check.cs', isSlow: true },
    ...{ build: ['mcs', '-r:System.Net.Http.dll', 'Check.cs'], built: 'Check.exe' },
  },
  sh: { tool: 'sh', file: 'check.sh', needs: ['curl', '--version'] },
};

/** The deadlines of the programs, in seconds and in milliseconds. */
const waiting = (code: string, seconds: number) =>
  code.replaceAll(/\b2500\b/g, `${seconds * 1_000}`).replaceAll(/\b2\.5\b/g, `${seconds}`);
/**
 * A call that takes longer than a program waits is let through, as it must be; and a disk that still writes what was just
 * installed keeps a count for seconds (2026-11-16). So here they wait longer.
 */
const PATIENT_S = 90;
const HASTY_S = 1.5;
/** Whoever waits for that long at three addresses has ended long before. */
const HANGS_MS = 60_000;

interface Program extends Language {
  readonly language: string;
  readonly code: string;
}

const programs = [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(
  ([, language = '', code = '']): Program => ({ language, code, ...LANGUAGES[language]! }),
);

test('every program of the page is known here', () => {
  expect(programs.map(({ language }) => language)).toEqual(Object.keys(LANGUAGES));
});

/** No part of the project needs them, so a machine without one says so and is none the worse. */
function isInstalled({ language, tool, needs = [tool, '--version'] }: Program): boolean {
  const found = spawnSync(needs[0]!, needs.slice(1), { stdio: 'ignore' }).status === 0;
  if (!found) process.stderr.write(`not tested here: ${language}, which is not installed\n`);
  return found;
}

const runnable = programs.filter(one => (!one.isSlow || process.env.CALLERS === 'all') && isInstalled(one));

/** Writes a program into a folder of its own, and gives what runs it. */
async function prepare({ code, tool, file, before = [], build, built = file }: Program, seconds: number) {
  const folder = temporaryFolder();
  writeFileSync(join(folder, file), waiting(code, seconds));
  if (build) await promisify(execFile)(build[0]!, build.slice(1), { cwd: folder });
  return async (url: string, secret: string, emails: readonly string[]) => {
    const env = bareEnvironment({ DOMAIN_RISK_URL: url, DOMAIN_RISK_KEY: secret });
    const args = [...before, join(folder, built), ...emails];
    const options = { env, timeout: HANGS_MS, killSignal: 'SIGKILL' } as const;
    const { stdout, stderr } = await promisify(execFile)(tool, args, options).catch(error => {
      // Mono breaks off now and then while it ends, after all was said (an assertion in its pool of threads).
      if (tool !== 'mono' || error.signal !== 'SIGABRT') throw error;
      return error as { stdout: string; stderr: string };
    });
    return { said: stdout.trim().split(/\s+/), stderr };
  };
}

test.each(programs)('the program in $language has a deadline', ({ code }) => {
  expect(waiting(code, PATIENT_S)).not.toBe(code);
});

test.each(runnable)(
  'the program in $language refuses, accepts, and lets everybody through when the service is away',
  async program => {
    const { key, secret } = await service().key({ quota: 3 });
    const emails = [
      '"jane"..@x@mailinator.com',
      'jane.doe@gmail.com',
      'nobody@nowhere',
      'over-quota@mailinator.com',
    ];
    const run = await prepare(program, PATIENT_S);
    const { said, stderr } = await run(service().base, secret, emails);
    expect(said, stderr).toEqual(['refuse', 'accept', 'accept', 'accept']);
    expect(await service().used(key)).toBe(3);
    expect((await run('http://127.0.0.1:1', secret, emails)).said).toEqual(Array(4).fill('accept'));
  },
);

test('a server that stops, drips, redirects or answers something else holds up, breaks and robs no program', async () => {
  const ask = async (program: Program) => {
    const odd = await startOddService();
    const run = await prepare(program, HASTY_S);
    const { said, stderr } = await run(odd.base, 'drk_secret', odd.emails);
    expect(said, `${program.language}: ${stderr}`).toEqual(odd.emails.map(() => 'accept'));
    expect([program.language, stderr]).toEqual([program.language, expect.stringMatching(/\b403\b/)]);
    expect(stderr).not.toContain('jane');
    const asked = new Set([odd.domains[0], ...odd.asked]);
    expect([program.language, [...asked], odd.stolen]).toEqual([program.language, odd.domains, []]);
  };
  await Promise.all(runnable.map(ask));
});
