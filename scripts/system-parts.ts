/** Programs of the system that only some tests need: installed as root on Debian, else a line says what will not run. */

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

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
  spawnSync('apt-get', [...args, '-qq', '-o', 'Dpkg::Use-Pty=0'], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  }).status === 0;

/** The tests themselves fail for what is missing when `CI` is set. */
export function installSystemParts(parts: readonly SystemPart[]): void {
  const missing = parts.filter(part => !has(part));
  if (missing.length > 0 && process.getuid?.() === 0 && existsSync('/etc/debian_version')) {
    const names = missing.map(part => part.package);
    process.stdout.write(`Installing ${names.join(', ')} for some of the tests …\n`);
    if (apt('update')) apt('install', '-y', '--no-install-recommends', ...names);
  }
  for (const part of missing) {
    if (!has(part)) process.stdout.write(`NOT RUN: ${part.tests} (${part.program} is missing)\n`);
  }
}
