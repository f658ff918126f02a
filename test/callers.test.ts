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
  /** Its start takes seconds: it is run once. */
  readonly isSlow?: true;
}

const LANGUAGES: Readonly<Record<string, Language>> = {
  python: { tool: 'python3', file: 'check.py' },
  perl: { tool: 'perl', file: 'check.pl' },
  java: { tool: 'java', file: 'Check.java', isSlow: true },
  sh: { tool: 'sh', file: 'check.sh', needs: 'curl' },
};

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

for (const { language, code, tool, file, needs = tool, isSlow } of programs) {
  test.skipIf(!hasInterpreter(needs))(
    `the program in ${language} refuses, accepts, and lets everybody through when the service is away`,
    async () => {
      const path = join(temporaryFolder(), file);
      writeFileSync(path, code);
      const { key, secret } = await service().key({ quota: 3 });
      const emails = [
        'jane+x/y@mailinator.com',
        'jane.doe@gmail.com',
        'nobody@nowhere',
        'over-quota@mailinator.com',
      ];
      const run = async (url: string) => {
        const env = bareEnvironment({ DOMAIN_RISK_URL: url, DOMAIN_RISK_KEY: secret });
        return (await promisify(execFile)(tool, [path, ...emails], { env })).stdout.trim().split(/\s+/);
      };
      expect(await run(service().base)).toEqual(['refuse', 'accept', 'accept', 'accept']);
      expect(await service().used(key)).toBe(3);
      if (isSlow) return;
      expect(await run('http://127.0.0.1:1')).toEqual(Array(4).fill('accept'));
    },
  );
}
