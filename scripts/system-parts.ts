/** Programs of the system that only some tests need: installed as root on Debian, else a line says what will not run. */

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

export interface SystemPart {
  readonly program: string;
  /** Debian's name for the package that has it. */
  readonly package: string;
  readonly tests: string;
  /** Whether something else does as well. */
  readonly hasOther?: () => boolean;
}

function has({ program, hasOther }: SystemPart): boolean {
  if (hasOther?.()) return true;
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/sbin'];
  return folders.some(folder => existsSync(join(folder, program)));
}

const apt = (...args: string[]) =>
  promisify(execFile)('apt-get', [...args, '-qq', '-o', 'Dpkg::Use-Pty=0'], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });

/** Takes its time beside whatever else is to be done. The tests themselves fail for what is missing when `CI` is set. */
export async function installSystemParts(parts: readonly SystemPart[]): Promise<void> {
  const missing = parts.filter(part => !has(part));
  if (missing.length > 0 && process.getuid?.() === 0 && existsSync('/etc/debian_version')) {
    const names = missing.map(part => part.package);
    process.stdout.write(`Installing ${names.join(', ')} for some of the tests …\n`);
    try {
      await apt('update');
      await apt('install', '-y', '--no-install-recommends', ...names);
    } catch (error) {
      process.stdout.write(`${(error as { stderr?: string }).stderr ?? error}\n`);
    }
  }
  for (const part of missing) {
    if (!has(part)) process.stdout.write(`NOT RUN: ${part.tests} (${part.program} is missing)\n`);
  }
}
