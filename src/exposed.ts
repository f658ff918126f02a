/** What other users of this machine can read or change, though it is only for us. One line for each, with its fix. */

import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Database } from './database.ts';
import { INSTALLATION } from './installation.ts';
import { IN_FILES } from './secret-files.ts';

/** Nothing of what is not there. */
function modeOf(path: string): number {
  try {
    return statSync(path).mode & 0o7777;
  } catch {
    return 0;
  }
}

const shown = (mode: number) => mode.toString(8).padStart(4, '0');

/** Whoever can write to such a file gives himself the secret that it holds. */
export function exposedSecrets(env: Readonly<Record<string, string | undefined>>): string[] {
  return [...Object.values(IN_FILES), 'FIRST_KEY_FILE'].flatMap(name => {
    const path = env[name] ? resolve(INSTALLATION, env[name]) : '';
    const mode = modeOf(path);
    if ((mode & 0o022) === 0) return [];
    return `${name}: others can change ${path} (mode ${shown(mode)}): chmod 600 ${path}`;
  });
}

/** Whoever can write beside the store can put a journal there, and whoever can write to it makes keys. */
export function exposedStore(database: Database): string[] {
  if (database.kind !== 'sqlite') return [];
  const { path } = database;
  const folder = dirname(path);
  const [ofFolder, ofFile] = [modeOf(folder), modeOf(path)];
  const isOpen = (ofFolder & 0o001) !== 0;
  return [
    ...(ofFolder & 0o002
      ? [
          `others can write to ${folder}, where the store is (mode ${shown(ofFolder)}): chmod 700 it, or set DATA_DIR to a directory of its own`,
        ]
      : []),
    ...(isOpen && ofFile & 0o006
      ? [
          `others can ${ofFile & 0o002 ? 'change' : 'read'} the store (mode ${shown(ofFile)}): chmod 600 ${path}`,
        ]
      : []),
  ];
}
