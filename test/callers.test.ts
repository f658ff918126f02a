/** The programs of docs/callers.md, each run where its interpreter is installed. */

import { execFile, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { bareEnvironment } from './support/environment.ts';
import { ROOT } from './support/process.ts';
import { sharedService, temporaryFolder } from './support/service.ts';

const service = sharedService();
const text = readFileSync(join(ROOT, 'docs/callers.md'), 'utf8');

interface Language {
  readonly tool: string;
  readonly file: string;
  /** What has to be installed, where that is not the tool. */
  readonly needs?: string;
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
  php: { tool: 'php', file: 'check.php' },
  ruby: { tool: 'ruby', file: 'check.rb' },
  go: { tool: 'go', before: ['run'], file: 'check.go', isSlow: true },
  csharp: {
    ...{ tool: 'mono', needs: 'mcs', file: 'Check.cs', isSlow: true },
    ...{ build: ['mcs', '-r:System.Net.Http.dll', 'Check.cs'], built: 'Check.exe' },
  },
  sh: { tool: 'sh', file: 'check.sh', needs: 'curl' },
};

/**
 * A call that takes longer than a program waits is let through, as it must be; and a disk that still writes what was just
 * installed keeps a count for seconds (2026-11-16). So here they wait longer.
 */
const TIMEOUTS: Readonly<Record<string, string>> = { '2.5': '90', '2500': '90000', '(2)': '(90)' };
const patient = (code: string) =>
  code.replaceAll(/\b2500\b|\b2\.5\b|(?<=ofSeconds)\(2\)/g, found => TIMEOUTS[found]!);

const programs = [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language = '', code = '']) => ({
  language,
  code,
  ...LANGUAGES[language]!,
}));

test('every program of the page is known here', () => {
  expect(programs.map(({ language }) => language)).toEqual(Object.keys(LANGUAGES));
});

/** No part of the project needs them, so a machine without one says so and is none the worse. */
function hasInterpreter(name: string): boolean {
  const found = spawnSync(name, ['--version'], { stdio: 'ignore' }).error === undefined;
  if (!found) process.stderr.write(`not tested here: ${name} is not installed\n`);
  return found;
}

test.each(programs)('the program in $language has a timeout', ({ code }) => {
  expect(patient(code)).not.toBe(code);
});

for (const program of programs) {
  const { language, code, tool, file, needs = tool, before = [], build, built = file, isSlow } = program;
  if (isSlow && process.env.CALLERS !== 'all') continue;
  test.skipIf(!hasInterpreter(needs))(
    `the program in ${language} refuses, accepts, and lets everybody through when the service is away`,
    async () => {
      const folder = temporaryFolder();
      writeFileSync(join(folder, file), patient(code));
      if (build) await promisify(execFile)(build[0]!, build.slice(1), { cwd: folder });
      const { key, secret } = await service().key({ quota: 3 });
      const emails = [
        'jane+x/y@mailinator.com',
        'jane.doe@gmail.com',
        'nobody@nowhere',
        'over-quota@mailinator.com',
      ];
      const run = async (url: string) => {
        const env = bareEnvironment({ DOMAIN_RISK_URL: url, DOMAIN_RISK_KEY: secret });
        const args = [...before, join(folder, built), ...emails];
        const { stdout, stderr } = await promisify(execFile)(tool, args, { env }).catch(error => {
          // Mono breaks off now and then while it ends, after all was said (an assertion in its pool of threads).
          if (tool !== 'mono' || error.signal !== 'SIGABRT') throw error;
          return error as { stdout: string; stderr: string };
        });
        return { said: stdout.trim().split(/\s+/), stderr };
      };
      const { said, stderr } = await run(service().base);
      expect(said, stderr).toEqual(['refuse', 'accept', 'accept', 'accept']);
      expect(await service().used(key)).toBe(3);
      expect((await run('http://127.0.0.1:1')).said).toEqual(Array(4).fill('accept'));
    },
  );
}
